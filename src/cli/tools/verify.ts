/**
 * What `sched verify` answers. The judgement is the SDK's, the very function a receiver calls. A capture is
 * usually older than a receiver would accept: then it is judged once more, as of the instant it was signed, to
 * say whether the signature itself is right.
 */
import { type NotVerified, SECRETS_MAX, type Verified, verify } from '#sdk/receiver/verify.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { wrongUsage } from '#src/cli/failure.ts';
import { type Options, textOf, textsOf } from '#src/cli/options.ts';
import { readBytes, readFile, readSecrets, readStdin } from '#src/cli/terminal/input.ts';
import { type Answer, fields, styled } from '#src/cli/terminal/output.ts';
import { printable } from '#src/cli/terminal/printable.ts';
import { askLines, askSecret, canAsk } from '#src/cli/terminal/prompt.ts';
import { paint } from '#src/cli/terminal/screen.ts';
import { relative } from '#src/cli/terminal/time-text.ts';
import { durationMs } from '#src/domain/duration.ts';
import { formatInstant, instant, parseInstant } from '#src/domain/instant.ts';
import { type CapturedRequest, headersOf, parseCaptured } from './verify-request.ts';

const METHOD_DEFAULT = 'POST';
const MS_PER_SECOND = 1_000;

export interface Verdict {
  readonly answer: Answer;
  readonly isVerified: boolean;
}

/** What the body may have been: a line break at its end is easily added, by an editor, and lost, in a paste. */
interface BodyCandidate {
  readonly bytes: Uint8Array;
  readonly form: 'as_given' | 'with_a_line_break' | 'without_its_last_line_break';
}

const FORM_TEXTS: Readonly<Record<Exclude<BodyCandidate['form'], 'as_given'>, string>> = {
  with_a_line_break: 'with a line break at its end, which was not captured',
  without_its_last_line_break: 'without its last line break, which was not sent',
};

interface VerifyInput {
  readonly method: string;
  readonly url: string;
  readonly headers: CapturedRequest['headers'];
  readonly bodies: readonly BodyCandidate[];
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
  readonly nowMs: number;
}

export async function verifyCaptured(
  file: string | undefined,
  options: Options,
  dependencies: CliDependencies,
): Promise<Verdict> {
  const toleranceSeconds = toleranceOf(options);
  const nowMs = nowOf(options, dependencies);
  const secretFile = textOf(options, 'secretFile');
  const { captured, bodies } = await readRequest(file, options);
  const url = textOf(options, 'path') ?? captured.target;
  if (url === null) throw wrongUsage('Which path was it sent to? Give the request line, or --path.');
  const question = {
    method: (textOf(options, 'method') ?? captured.method ?? METHOD_DEFAULT).toUpperCase(),
    url,
    headers: captured.headers,
    bodies,
    secrets: await resolveSecrets(secretFile, dependencies.env),
    toleranceSeconds,
    nowMs,
  };
  const { result, form } = await verifyBodies(question);
  if (result.ok) return { answer: verifiedAnswer(result, form, nowMs, dependencies), isVerified: true };
  const isTimeAlone = result.reason === 'timestamp_too_old' || result.reason === 'timestamp_in_future';
  const itself = isTimeAlone
    ? (await verifyBodies({ ...question, toleranceSeconds: Number.MAX_SAFE_INTEGER })).result
    : null;
  return { answer: refusedAnswer(result, itself, dependencies), isVerified: false };
}

interface Result {
  readonly result: Verified | NotVerified;
  readonly form: BodyCandidate['form'];
}

/** The first body that is right; where none is, what there is to say of the first. */
async function verifyBodies({
  bodies,
  secrets,
  toleranceSeconds,
  nowMs,
  ...request
}: VerifyInput): Promise<Result> {
  let first: Result | null = null;
  for (const { bytes: body, form } of bodies) {
    const result = await verify({ ...request, body }, secrets, { toleranceSeconds, now: nowMs });
    if (result.ok) return { result, form };
    first ??= { result, form };
  }
  if (first === null) throw new Error('There was no body to judge.');
  return first;
}

async function readRequest(file: string | undefined, options: Options) {
  const lines = textsOf(options, 'header');
  const body = textOf(options, 'body');
  if (lines.length > 0) {
    if (file !== undefined) throw wrongUsage('Give a captured request or --header, not both.');
    const bytes = await readBytes(body ?? '', '--body');
    const captured: CapturedRequest = { method: null, target: null, headers: headersOf(lines), body: bytes };
    return { captured, bodies: bodyCandidates(bytes) };
  }
  if (body !== undefined) throw wrongUsage('--body goes with --header; a captured request has its own.');
  if (file === undefined && canAsk()) return readPasted();
  const captured = parseCaptured(
    file === undefined ? await readStdin('The request') : await readFile(file, file),
  );
  return { captured, bodies: bodyCandidates(captured.body) };
}

function bodyCandidates(bytes: Uint8Array): readonly BodyCandidate[] {
  const text = Buffer.from(bytes).toString('latin1');
  const shorter = text.replace(/\r?\n$/, '');
  const given: BodyCandidate = { bytes, form: 'as_given' };
  if (shorter === text) return [given];
  return [given, { bytes: bytes.subarray(0, shorter.length), form: 'without_its_last_line_break' }];
}

async function readPasted() {
  const text = await askLines(
    'Paste the request: the request line, the headers, an empty line and the body. End it with Ctrl-D on a line of its own.\n',
  );
  const captured = parseCaptured(Buffer.from(text));
  const bodies: readonly BodyCandidate[] = [
    { bytes: captured.body, form: 'as_given' },
    { bytes: Buffer.concat([captured.body, Buffer.from('\n')]), form: 'with_a_line_break' },
  ];
  return { captured, bodies };
}

async function resolveSecrets(
  file: string | undefined,
  env: CliDependencies['env'],
): Promise<readonly string[]> {
  const given = env.SCHED_SIGNING_SECRET ?? '';
  if (file !== undefined) {
    const secrets = await readSecrets(file, '--secret-file');
    if (secrets.length === 0 || secrets.length > SECRETS_MAX)
      throw wrongUsage(`--secret-file must hold 1 to ${SECRETS_MAX} secrets, each on a line.`);
    return secrets;
  }
  if (given !== '') return [given];
  if (!canAsk()) throw wrongUsage('Give the signing secret by SCHED_SIGNING_SECRET or --secret-file.');
  const secret = await askSecret('Signing secret (it is not shown): ');
  if (secret === '') throw wrongUsage('No secret was given.');
  return [secret];
}

function toleranceOf(options: Options): number {
  const text = textOf(options, 'tolerance') ?? '';
  const ms = durationMs(text);
  if (ms === null || ms < 0)
    throw wrongUsage(`--tolerance ${JSON.stringify(text)} is not a duration such as 300s.`);
  return ms / MS_PER_SECOND;
}

function nowOf(options: Options, { clock }: CliDependencies): number {
  const text = textOf(options, 'at');
  if (text === undefined) return clock.now();
  const at = parseInstant(text);
  if (at === null)
    throw wrongUsage(`--at ${JSON.stringify(text)} is not an RFC 3339 instant such as 2027-03-28T01:00:05Z.`);
  return at;
}

function verifiedAnswer(
  result: Verified,
  form: BodyCandidate['form'],
  nowMs: number,
  { screen }: CliDependencies,
): Answer {
  const { deliveryId, attempt, idempotencyKey, timestamp } = result;
  const signedAtMs = timestamp * MS_PER_SECOND;
  const signedAt = formatInstant(instant(signedAtMs));
  return {
    json: {
      verified: true,
      delivery_id: deliveryId,
      attempt,
      idempotency_key: idempotencyKey,
      signed_at: signedAt,
      body: form,
    },
    text: fields(
      [
        ['Verified', styled('yes, it was signed by Sched', 'green')],
        ['Delivery', `${deliveryId}, attempt ${attempt}`],
        ['Signed', `${signedAt} (${relative(signedAtMs, nowMs)})`],
        ['Idempotency-Key', idempotencyKey],
        ...(form === 'as_given' ? [] : [['Body', FORM_TEXTS[form]] as const]),
      ],
      screen,
    ),
  };
}

/** `itself` is what there is to say about the signature where only its age is refused. */
function refusedAnswer(
  result: NotVerified,
  itself: Verified | NotVerified | null,
  { screen }: CliDependencies,
): Answer {
  const { ok: _, ...facts } = result;
  const lines = [
    `${paint('Not verified', 'red', screen)} (${result.reason}): ${printable(result.message)}`,
    ...(itself === null ? [] : [itselfText(itself)]),
  ];
  return {
    json: {
      verified: false,
      ...facts,
      signature_matches: itself === null ? null : itself.ok,
      ...(itself?.ok === false && { signature_reason: itself.reason, signature_message: itself.message }),
    },
    text: lines.join('\n'),
  };
}

function itselfText(itself: Verified | NotVerified): string {
  if (itself.ok)
    return 'The signature itself is right: only its time is wrong. --at or --tolerance judge it at another.';
  return `The signature itself does not match either (${itself.reason}): ${printable(itself.message)}`;
}
