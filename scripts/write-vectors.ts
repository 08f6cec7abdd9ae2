/**
 * Writes sdk/vectors.json: requests, signed by the signer that deliveries are signed with, and what a receiver
 * must make of each. A test keeps the file current; verifiers of every language are held against it.
 *
 * What is signed and what arrives are given apart: most cases that must be refused differ in one thing.
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
  /** Those that sign at the time. */
  readonly secrets?: readonly string[];
}

/** In what the request that arrives differs from the one that was signed; a header that is null is missing. */
interface Arrives {
  readonly method?: Method;
  readonly target?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly signature?: (header: string) => string;
  /** How long after it was signed. */
  readonly afterSeconds?: number;
  /** Those that the receiver has. */
  readonly secrets?: readonly string[];
}

/** Expected is `verified`, or the reason why not. */
type Case = readonly [name: string, expected: string, sent?: Sent, arrives?: Arrives];

const ROTATING = [NEW_SECRET, OLD_SECRET];
const BINARY = Uint8Array.from({ length: 256 }, (_, i) => i);
/** An attacker passes this off as the whole body. */
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
  ['a body of periods, with which what is signed is joined', 'verified', { body: '.1.2.POST./.' }],
  ['a path beyond ASCII, which is sent escaped', 'verified', { url: '/hooks/größe/日本' }],
  ['a path with escapes, which stay as they are written', 'verified', { url: '/hooks/a%20b%2fc%C3%BC' }],
  ['a path with periods and two slashes', 'verified', { url: '/v1.2//hook.json' }],
  ['a path that is the root', 'verified', { url: '/' }],
  ['a query, which is not signed', 'verified', { url: `${PATH}?tenant=7&again=?` }],
  ['another query than was signed', 'verified', { url: `${PATH}?a=1` }, { target: `${PATH}?b=2` }],
  ['GET without a body', 'verified', { method: 'GET', body: '' }],
  ['GET with a body', 'verified', { method: 'GET' }],
  ['PUT', 'verified', { method: 'PUT' }],
  ['PATCH', 'verified', { method: 'PATCH' }],
  ['DELETE', 'verified', { method: 'DELETE' }],
  ['a later attempt', 'verified', { attempt: 17 }],
  ['in rotation: the receiver has the new secret', 'verified', { secrets: ROTATING }],
  [
    'in rotation: the receiver has the old secret',
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
  ['parts of other names', 'verified', {}, { signature: (header) => header.replace(',', ',v2=abcdef,,x,') }],
  ['a wrong v1 before the right one', 'verified', {}, { signature: withWrongFirst }],
  ['as old as allowed', 'verified', {}, { afterSeconds: TOLERANCE_SECONDS }],
  ['as far ahead as allowed', 'verified', {}, { afterSeconds: -TOLERANCE_SECONDS }],

  ['a second too old', 'timestamp_too_old', {}, { afterSeconds: TOLERANCE_SECONDS + 1 }],
  ['a second too far ahead', 'timestamp_in_future', {}, { afterSeconds: -TOLERANCE_SECONDS - 1 }],
  ['the secret of another project', 'no_signature_matches', {}, { secrets: [OTHER_SECRET] }],
  [
    'two secrets, neither of which signs',
    'no_signature_matches',
    {},
    { secrets: [OTHER_SECRET, OLD_SECRET] },
  ],
  ['an altered body', 'no_signature_matches', {}, { body: BODY.replace('1', '2') }],
  ['a body taken away', 'no_signature_matches', {}, { body: '' }],
  ['a body put in', 'no_signature_matches', { body: '' }, { body: BODY }],
  [
    'an altered delivery id',
    'no_signature_matches',
    {},
    { headers: { 'Sched-Delivery-Id': OTHER_DELIVERY_ID } },
  ],
  [
    'another first digit of the signature',
    'no_signature_matches',
    {},
    { signature: (header) => header.replace(/v1=./, otherDigit) },
  ],
  [
    'another last digit of the signature',
    'no_signature_matches',
    {},
    { signature: (header) => header.replace(/.$/, otherDigit) },
  ],
  ['an altered attempt', 'no_signature_matches', {}, { headers: { 'Sched-Attempt': '2' } }],
  ['an altered path', 'no_signature_matches', {}, { target: '/hooks/other' }],
  ['an altered method', 'method_differs', {}, { method: 'PUT' }],
  ['a timestamp made younger', 'no_signature_matches', {}, younger()],
  [
    'another Sched-Timestamp than t',
    'timestamps_differ',
    {},
    { headers: { 'Sched-Timestamp': `${SIGNED_AT + 1}` } },
  ],
  [
    'another t than Sched-Timestamp',
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
    'the right signature by another name',
    'malformed_header',
    {},
    { signature: (header) => header.replace('v1', 'v2') },
  ],
  ['a signature cut short', 'malformed_header', {}, { signature: (header) => header.slice(0, -2) }],
  ['a signature with more behind it', 'malformed_header', {}, { signature: (header) => `${header}00` }],
  [
    'a signature in capitals',
    'malformed_header',
    {},
    { signature: (header) => header.replace(/[a-f0-9]{64}/, upper) },
  ],
  ['spaces between the parts', 'malformed_header', {}, { signature: (header) => header.replace(',', ', ') }],
  ['a signature that is a comma', 'malformed_header', {}, { signature: () => ',' }],
  ['timestamps that are no numbers', 'malformed_header', {}, stamped('soon')],
  ['timestamps below zero', 'malformed_header', {}, stamped(`-${SIGNED_AT}`)],

  // The signature is right in each of these: what is signed is the same text, cut at other periods.
  [
    "the body's suffix as the body: the delivery id holds what was before it",
    'malformed_header',
    { body: `7.POST.${PATH}.${SUFFIX}` },
    { body: SUFFIX, headers: { 'Sched-Delivery-Id': `${DELIVERY_ID}.1.POST.${PATH}`, 'Sched-Attempt': '7' } },
  ],
  [
    "the body's suffix as the body: the attempt holds what was before it",
    'malformed_header',
    { body: `first.POST.${PATH}.${SUFFIX}` },
    { body: SUFFIX, headers: { 'Sched-Attempt': `1.POST.${PATH}.first` } },
  ],
  [
    "the body's suffix as the body: the timestamp holds what was before it",
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
  ['a delivery id with a period, signed so', 'malformed_header', {}, signedAs(`${DELIVERY_ID}.1`, '1')],
  ['a delivery id with a line break, signed so', 'malformed_header', {}, signedAs(`${DELIVERY_ID}\n`, '1')],
  ['a delivery id that is too long, signed so', 'malformed_header', {}, signedAs('d'.repeat(65), '1')],
  ['an attempt of 0, signed so', 'malformed_header', {}, signedAs(DELIVERY_ID, '0')],
  ['an attempt that is no number, signed so', 'malformed_header', {}, signedAs(DELIVERY_ID, 'first')],
  ['an attempt with a line break, signed so', 'malformed_header', {}, signedAs(DELIVERY_ID, '1\n')],
  ['an attempt that is too long, signed so', 'malformed_header', {}, signedAs(DELIVERY_ID, '1234567890')],

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
  ['a secret with a line break behind it', 'secret_padded', {}, { secrets: [`${NEW_SECRET}\n`] }],
  ['a secret without whsec_', 'secret_without_prefix', {}, { secrets: [NEW_SECRET.replace('whsec_', '')] }],
  // Anybody can sign with a secret that was never set.
  ['an empty secret, which signed', 'secret_missing', { secrets: [''] }],
];

export function vectorsText(): string {
  const about =
    'Requests and what a receiver must make of them. now is the clock of the receiver in Unix seconds; ' +
    'bodies are in base64; accept a request exactly if expected is verified.';
  const vectors = CASES.map((each) => vector(...each));
  const text = JSON.stringify({ about, tolerance_seconds: TOLERANCE_SECONDS, vectors }, null, 2);
  // A list of one stands on one line, as the formatter of this repository has it.
  return `${text.replace(/\[\n +(".*")\n +\]/g, '[$1]')}\n`;
}

function vector(name: string, expected: string, sent: Sent = {}, arrives: Arrives = {}): object {
  const { method = 'POST', attempt = 1, body = BODY, secrets = [NEW_SECRET] } = sent;
  const url = new URL(sent.url ?? PATH, 'https://receiver.example');
  const deliveryId = parseId('dlv', DELIVERY_ID);
  if (deliveryId === null) throw new Error('That is no delivery id.');
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

/** A signature made now, of a request that was signed before: what a repeater would need. */
function younger(): Arrives {
  return { ...stamped(`${SIGNED_AT + 600}`), afterSeconds: 600 };
}

function stamped(timestamp: string, headers: Arrives['headers'] = {}): Arrives {
  return {
    headers: { 'Sched-Timestamp': timestamp, ...headers },
    signature: (header) => header.replace(/^t=\d+/, `t=${timestamp}`),
  };
}

/** Headers that Sched never sends, with the right signature for them: only their form is wrong. */
function signedAs(deliveryId: string, attempt: string): Arrives {
  const signed = `${SIGNED_AT}.${deliveryId}.${attempt}.POST.${PATH}.${BODY}`;
  const v1 = createHmac('sha256', NEW_SECRET).update(signed).digest('hex');
  return {
    headers: { 'Sched-Delivery-Id': deliveryId, 'Sched-Attempt': attempt },
    signature: () => `t=${SIGNED_AT},v1=${v1}`,
  };
}

if (import.meta.main) writeFileSync(new URL('../sdk/vectors.json', import.meta.url), vectorsText());
