/**
 * Writes sdk/vectors.json: requests from the signer of the service, with the expected result for each. A test keeps the
 * file current, and verifiers of every language are tested with it.
 *
 * A case describes the signed request and the received request separately. In most refused cases they differ in one
 * value.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Method } from '#src/domain/destination.ts';
import { parseId } from '#src/domain/id.ts';
import { signatureHeader } from '#src/domain/signature.ts';

const SIGNED_AT = 1_794_729_600;
const TOLERANCE_SECONDS = 300;
const NEW_SECRET = secret('the secret in force, 32 bytes in');
const OLD_SECRET = secret('the one before, still signing to');
const OTHER_SECRET = secret('the secret of some other project');
const DELIVERY_ID = 'dlv_01jd5x3v8k2m4n6p8r0t2w4y6a';
const OTHER_DELIVERY_ID = 'dlv_01jd5x3v8k2m4n6p8r0t2w4y6b';
const BODY = '{"reminder":"water the plants","n":1}';
const PATH = '/hooks/reminder';

interface Sent {
  readonly method?: Method;
  readonly url?: string;
  readonly attempt?: number;
  readonly body?: string | Uint8Array;
  /** The secrets that sign. */
  readonly secrets?: readonly string[];
}

/** The differences between the received and the signed request. A header that is null is missing. */
interface Arrives {
  readonly method?: Method;
  readonly target?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly signature?: (header: string) => string;
  /** The time between signature and arrival. */
  readonly afterSeconds?: number;
  /** The secrets of the receiver. */
  readonly secrets?: readonly string[];
}

/** `expected` is `verified`, or the reason of the refusal. */
type Case = readonly [name: string, expected: string, sent?: Sent, arrives?: Arrives];

const ROTATING = [NEW_SECRET, OLD_SECRET];
const BINARY = Uint8Array.from({ length: 256 }, (_, i) => i);
/** The part of the body that an attacker presents as the whole body. */
const SUFFIX = '{"reminder":"burn the plants"}';
const SPACED = '{ "reminder" : "water the plants" }';

const CASES: readonly Case[] = [
  ['a body of JSON', 'verified'],
  [
    'JSON as it was written, with spaces and line breaks',
    'verified',
    { body: '{ "a" : 1.0,\r\n\t"b": [] }\n' },
  ],
  ['no body', 'verified', { body: '' }],
  ['a body of any bytes', 'verified', { body: BINARY }],
  ['a body beyond ASCII', 'verified', { body: 'Grüße, Ελλάδα, 日本語, 📨' }],
  ['a body with periods, which also join the signed parts', 'verified', { body: '.1.2.POST./.' }],
  ['a path beyond ASCII, which is sent with escapes', 'verified', { url: '/hooks/größe/日本' }],
  ['a path with escapes, which stay unchanged', 'verified', { url: '/hooks/a%20b%2fc%C3%BC' }],
  ['a path with periods and two slashes', 'verified', { url: '/v1.2//hook.json' }],
  ['a path that is the root', 'verified', { url: '/' }],
  ['a query, which is not signed', 'verified', { url: `${PATH}?tenant=7&again=?` }],
  [
    'a query that changed, which is not signed',
    'verified',
    { url: `${PATH}?a=1` },
    { target: `${PATH}?b=2` },
  ],
  ['GET without a body', 'verified', { method: 'GET', body: '' }],
  ['GET with a body', 'verified', { method: 'GET' }],
  ['PUT', 'verified', { method: 'PUT' }],
  ['PATCH', 'verified', { method: 'PATCH' }],
  ['DELETE', 'verified', { method: 'DELETE' }],
  ['a later attempt', 'verified', { attempt: 17 }],
  ['a rotation: the receiver has the new secret', 'verified', { secrets: ROTATING }],
  [
    'a rotation: the receiver has the old secret',
    'verified',
    { secrets: ROTATING },
    { secrets: [OLD_SECRET] },
  ],
  [
    'the receiver has two secrets, one of which signs',
    'verified',
    {},
    { secrets: [OTHER_SECRET, NEW_SECRET] },
  ],
  [
    'signature parts with other names',
    'verified',
    {},
    { signature: (header) => header.replace(',', ',v2=abcdef,,x,') },
  ],
  ['a wrong v1 before the right one', 'verified', {}, { signature: withWrongFirst }],
  ['a timestamp at the maximum age', 'verified', {}, { afterSeconds: TOLERANCE_SECONDS }],
  ['a timestamp at the maximum distance in the future', 'verified', {}, { afterSeconds: -TOLERANCE_SECONDS }],

  ['a timestamp that is a second too old', 'timestamp_too_old', {}, { afterSeconds: TOLERANCE_SECONDS + 1 }],
  [
    'a timestamp that is a second too far in the future',
    'timestamp_in_future',
    {},
    { afterSeconds: -TOLERANCE_SECONDS - 1 },
  ],
  ['the secret of another project', 'no_signature_matches', {}, { secrets: [OTHER_SECRET] }],
  [
    'two secrets, neither of which signs',
    'no_signature_matches',
    {},
    { secrets: [OTHER_SECRET, OLD_SECRET] },
  ],
  ['an altered body', 'no_signature_matches', {}, { body: BODY.replace('1', '2') }],
  ['a removed body', 'no_signature_matches', {}, { body: '' }],
  ['an added body', 'no_signature_matches', { body: '' }, { body: BODY }],
  [
    'an altered delivery id',
    'no_signature_matches',
    {},
    { headers: { 'Sched-Delivery-Id': OTHER_DELIVERY_ID } },
  ],
  [
    'a changed first digit of the signature',
    'no_signature_matches',
    {},
    { signature: (header) => header.replace(/v1=./, otherDigit) },
  ],
  [
    'a changed last digit of the signature',
    'no_signature_matches',
    {},
    { signature: (header) => header.replace(/.$/, otherDigit) },
  ],
  ['an altered attempt', 'no_signature_matches', {}, { headers: { 'Sched-Attempt': '2' } }],
  ['an altered path', 'no_signature_matches', {}, { target: '/hooks/other' }],
  ['an altered method', 'method_differs', {}, { method: 'PUT' }],
  ['a newer timestamp on an old signature', 'no_signature_matches', {}, younger()],
  [
    'a Sched-Timestamp that differs from t',
    'timestamps_differ',
    {},
    { headers: { 'Sched-Timestamp': `${SIGNED_AT + 1}` } },
  ],
  [
    'a t that differs from Sched-Timestamp',
    'timestamps_differ',
    {},
    { signature: (header) => header.replace(`t=${SIGNED_AT}`, `t=${SIGNED_AT + 1}`) },
  ],

  ...['Sched-Signature', 'Sched-Timestamp', 'Sched-Delivery-Id', 'Sched-Attempt'].map(
    (name): Case => [`no ${name}`, 'missing_header', {}, { headers: { [name]: null } }],
  ),
  ['an empty signature', 'malformed_header', {}, { signature: () => '' }],
  ['a signature without t', 'malformed_header', {}, { signature: (header) => header.replace(/^t=\d+,/, '') }],
  ['a signature without v1', 'malformed_header', {}, { signature: () => `t=${SIGNED_AT}` }],
  ['a signature with an empty v1', 'malformed_header', {}, { signature: () => `t=${SIGNED_AT},v1=` }],
  [
    'the right signature with another name',
    'malformed_header',
    {},
    { signature: (header) => header.replace('v1', 'v2') },
  ],
  ['a signature that is cut off', 'malformed_header', {}, { signature: (header) => header.slice(0, -2) }],
  ['a signature with extra digits', 'malformed_header', {}, { signature: (header) => `${header}00` }],
  [
    'a signature in upper case',
    'malformed_header',
    {},
    { signature: (header) => header.replace(/[a-f0-9]{64}/, upper) },
  ],
  ['spaces between the parts', 'malformed_header', {}, { signature: (header) => header.replace(',', ', ') }],
  ['a signature that is a comma', 'malformed_header', {}, { signature: () => ',' }],
  ['timestamps that are not numbers', 'malformed_header', {}, stamped('soon')],
  ['timestamps below zero', 'malformed_header', {}, stamped(`-${SIGNED_AT}`)],

  // The signature is right in each of these cases. The signed text is the same, but split at other periods.
  [
    'the end of the body as the body: the delivery id holds the text before it',
    'malformed_header',
    { body: `7.POST.${PATH}.${SUFFIX}` },
    { body: SUFFIX, headers: { 'Sched-Delivery-Id': `${DELIVERY_ID}.1.POST.${PATH}`, 'Sched-Attempt': '7' } },
  ],
  [
    'the end of the body as the body: the attempt holds the text before it',
    'malformed_header',
    { body: `first.POST.${PATH}.${SUFFIX}` },
    { body: SUFFIX, headers: { 'Sched-Attempt': `1.POST.${PATH}.first` } },
  ],
  [
    'the end of the body as the body: the timestamp holds the text before it',
    'malformed_header',
    { body: `first.${OTHER_DELIVERY_ID}.7.POST.${PATH}.${SUFFIX}` },
    {
      ...stamped(`${SIGNED_AT}.${DELIVERY_ID}.1.POST.${PATH}.first`, {
        'Sched-Delivery-Id': OTHER_DELIVERY_ID,
        'Sched-Attempt': '7',
      }),
      body: SUFFIX,
    },
  ],
  [
    'a delivery id with a period, with a matching signature',
    'malformed_header',
    {},
    signedAs(`${DELIVERY_ID}.1`, '1'),
  ],
  [
    'a delivery id with a line break, with a matching signature',
    'malformed_header',
    {},
    signedAs(`${DELIVERY_ID}\n`, '1'),
  ],
  [
    'a delivery id that is too long, with a matching signature',
    'malformed_header',
    {},
    signedAs('d'.repeat(65), '1'),
  ],
  ['an attempt of 0, with a matching signature', 'malformed_header', {}, signedAs(DELIVERY_ID, '0')],
  [
    'an attempt that is not a number, with a matching signature',
    'malformed_header',
    {},
    signedAs(DELIVERY_ID, 'first'),
  ],
  [
    'an attempt with a line break, with a matching signature',
    'malformed_header',
    {},
    signedAs(DELIVERY_ID, '1\n'),
  ],
  [
    'an attempt that is too long, with a matching signature',
    'malformed_header',
    {},
    signedAs(DELIVERY_ID, '1234567890'),
  ],

  [
    'JSON that was parsed and written again',
    'body_reserialised',
    { body: `${JSON.stringify(JSON.parse(SPACED), null, 2)}\n` },
    { body: JSON.stringify(JSON.parse(SPACED)) },
  ],
  ['a body that lost its last line break', 'body_reserialised', { body: `${BODY}\n` }, { body: BODY }],
  ['a path that was decoded', 'path_differs', { url: '/hooks/a%20b' }, { target: '/hooks/a b' }],
  ['a path that got a prefix', 'path_differs', {}, { target: `/internal${PATH}` }],
  ['a path that lost its last slash', 'path_differs', { url: `${PATH}/` }, { target: PATH }],
  ['a secret with a line break at its end', 'secret_padded', {}, { secrets: [`${NEW_SECRET}\n`] }],
  ['a secret without whsec_', 'secret_without_prefix', {}, { secrets: [NEW_SECRET.replace('whsec_', '')] }],
  // Anybody can sign with a secret that was never set.
  ['an empty secret that signed', 'secret_missing', { secrets: [''] }],
];

export function vectorsText(): string {
  const about =
    'Requests with their expected results. now is the clock of the receiver in Unix seconds. Bodies are in base64. ' +
    'Accept a request if and only if expected is verified.';
  const vectors = CASES.map((each) => vector(...each));
  const text = JSON.stringify({ about, tolerance_seconds: TOLERANCE_SECONDS, vectors }, null, 2);
  // The formatter of this repository puts a list with one item on one line.
  return `${text.replace(/\[\n +(".*")\n +\]/g, '[$1]')}\n`;
}

function vector(name: string, expected: string, sent: Sent = {}, arrives: Arrives = {}): object {
  const { method = 'POST', attempt = 1, body = BODY, secrets = [NEW_SECRET] } = sent;
  const url = new URL(sent.url ?? PATH, 'https://receiver.example');
  const deliveryId = parseId('dlv', DELIVERY_ID);
  if (deliveryId === null) throw new Error('The delivery id is not valid.');
  const signed = { timestamp: SIGNED_AT, deliveryId, attemptNo: attempt, method, path: url.pathname };
  const keys = secrets.map((each) => createSecretKey(Buffer.from(each, 'utf8')));
  const signature = signatureHeader({ ...signed, body: Buffer.from(body) }, keys);
  const headers: Record<string, string | null> = {
    'Idempotency-Key': 'water-the-plants',
    'Sched-Delivery-Id': deliveryId,
    'Sched-Attempt': `${attempt}`,
    'Sched-Timestamp': `${SIGNED_AT}`,
    'Sched-Signature': arrives.signature?.(signature) ?? signature,
    ...arrives.headers,
  };
  return {
    name,
    expected,
    now: SIGNED_AT + (arrives.afterSeconds ?? 0),
    secrets: arrives.secrets ?? [secrets[0]],
    request: {
      method: arrives.method ?? method,
      url: arrives.target ?? url.pathname + url.search,
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== null)),
      body: Buffer.from(arrives.body ?? body).toString('base64'),
    },
  };
}

function secret(text: string): string {
  return `whsec_${Buffer.from(text).toString('base64')}`;
}

function withWrongFirst(header: string): string {
  return header.replace(',', `,v1=${'0'.repeat(64)},`);
}

function otherDigit(text: string): string {
  return text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');
}

function upper(digits: string): string {
  return digits.toUpperCase();
}

/** A newer timestamp on an old signature, which an attacker would need to send the request again. */
function younger(): Arrives {
  return { ...stamped(`${SIGNED_AT + 600}`), afterSeconds: 600 };
}

function stamped(timestamp: string, headers: Arrives['headers'] = {}): Arrives {
  return {
    headers: { 'Sched-Timestamp': timestamp, ...headers },
    signature: (header) => header.replace(/^t=\d+/, `t=${timestamp}`),
  };
}

/** Malformed headers that Sched never sends, with a signature that matches them. */
function signedAs(deliveryId: string, attempt: string): Arrives {
  const signed = `${SIGNED_AT}.${deliveryId}.${attempt}.POST.${PATH}.${BODY}`;
  const v1 = createHmac('sha256', NEW_SECRET).update(signed).digest('hex');
  return {
    headers: { 'Sched-Delivery-Id': deliveryId, 'Sched-Attempt': attempt },
    signature: () => `t=${SIGNED_AT},v1=${v1}`,
  };
}

if (import.meta.main) writeFileSync(new URL('../sdk/vectors.json', import.meta.url), vectorsText());
