/**
 * The answer of `sched verify`. The check is the SDK's `verify`, the same function that a receiver calls. A captured
 * request is usually older than a receiver accepts. It is then checked a second time without regard to its age, to say
 * whether the signature itself is right.
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
import { durationFaultText } from '#src/texts/duration-fault-text.ts';
import { instantFaultText } from '#src/texts/instant-fault-text.ts';
import { type CapturedRequest, headersOf, parseCaptured } from './verify-request.ts';

const METHOD_DEFAULT = 'POST';
const MS_PER_SECOND = 1_000;

export interface Verdict {
  readonly answer: Answer;
  readonly isVerified: boolean;
}

/** A possible body. An editor easily adds a final line break, and pasting easily loses it. */
interface BodyCandidate {
  readonly bytes: Uint8Array;
  readonly form: 'as_given' | 'with_a_line_break' | 'without_its_last_line_break';
}

const FORM_TEXTS: Readonly<Record<Exclude<BodyCandidate['form'], 'as_given'>, string>> = {
  with_a_line_break: 'signed with a final line break, which the capture lacks',
  without_its_last_line_break: 'signed without the final line break of the capture',
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
  if (url === null)
    throw wrongUsage('The path is not known. Give it with --path, or include the request line.');
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
  const isOnlyTime = result.reason === 'timestamp_too_old' || result.reason === 'timestamp_in_future';
  const ignoringAge = isOnlyTime
    ? await verifyBodies({ ...question, toleranceSeconds: Number.MAX_SAFE_INTEGER })
    : null;
  return { answer: refusedAnswer({ result, form }, ignoringAge, dependencies), isVerified: false };
}

interface Result<R = Verified | NotVerified> {
  readonly result: R;
  readonly form: BodyCandidate['form'];
}

/**
 * Returns the result of the first body that verifies. If none does, it returns the first result that names a mistake:
 * a body with a line break too many must not hide that the path differs.
 */
async function verifyBodies({
  bodies,
  secrets,
  toleranceSeconds,
  nowMs,
  ...request
}: VerifyInput): Promise<Result> {
  const refusals: Result<NotVerified>[] = [];
  for (const { bytes: body, form } of bodies) {
    const result = await verify({ ...request, body }, secrets, { toleranceSeconds, now: nowMs });
    if (result.ok) return { result, form };
    refusals.push({ result, form });
  }
  const [first] = refusals;
  if (first === undefined) throw new Error('There is no body to check.');
  return refusals.find(({ result }) => result.reason !== 'no_signature_matches') ?? first;
}

async function readRequest(file: string | undefined, options: Options) {
  const lines = textsOf(options, 'header');
  const body = textOf(options, 'body');
  if (lines.length > 0) {
    if (file !== undefined) throw wrongUsage('Give either a captured request or --header, not both.');
    const bytes = await readBytes(body ?? '', '--body');
    const captured: CapturedRequest = { method: null, target: null, headers: headersOf(lines), body: bytes };
    return { captured, bodies: bodyCandidates(captured) };
  }
  if (body !== undefined)
    throw wrongUsage('--body needs --header. A captured request contains its own body.');
  if (file === undefined && canAsk()) return readPasted();
  const captured = parseCaptured(
    file === undefined ? await readStdin('The request') : await readFile(file, file),
  );
  return { captured, bodies: bodyCandidates(captured) };
}

/** The body that has the declared length comes first. */
function bodyCandidates({ body, headers }: CapturedRequest): readonly BodyCandidate[] {
  const text = Buffer.from(body).toString('latin1');
  const { length } = text.replace(/\r?\n$/, '');
  const given: BodyCandidate = { bytes: body, form: 'as_given' };
  if (length === text.length) return [given];
  const shorter: BodyCandidate = { bytes: body.subarray(0, length), form: 'without_its_last_line_break' };
  return headers['content-length']?.[0] === String(length) ? [shorter, given] : [given, shorter];
}

async function readPasted() {
  const text = await askLines(
    'Paste the request: the request line, the headers, an empty line and the body. Then press Ctrl-D on an empty line.\n',
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
      throw wrongUsage(`--secret-file must hold 1 to ${SECRETS_MAX} secrets, one on each line.`);
    return secrets;
  }
  if (given !== '') return [given];
  if (!canAsk()) throw wrongUsage('Give the signing secret with SCHED_SIGNING_SECRET or --secret-file.');
  const secret = await askSecret('Signing secret (not shown): ');
  if (secret === '') throw wrongUsage('The signing secret is empty.');
  return [secret];
}

function toleranceOf(options: Options): number {
  const text = textOf(options, 'tolerance') ?? '';
  const ms = durationMs(text);
  if (ms === null || ms < 0)
    throw wrongUsage(durationFaultText(text, '--tolerance', { minMs: 0, example: '300s' }));
  return ms / MS_PER_SECOND;
}

function nowOf(options: Options, { clock }: CliDependencies): number {
  const text = textOf(options, 'at');
  if (text === undefined) return clock.now();
  const at = parseInstant(text);
  if (at === null) throw wrongUsage(instantFaultText(text, '--at', instant(clock.now())));
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
        ['Verified', styled('yes, Sched signed this request', 'green')],
        ['Delivery', `${deliveryId}, attempt ${attempt}`],
        ['Signed', `${signedAt} (${relative(signedAtMs, nowMs)})`],
        ['Idempotency-Key', idempotencyKey],
        ...(form === 'as_given' ? [] : [['Body', FORM_TEXTS[form]] as const]),
      ],
      screen,
    ),
  };
}

/** `ignoringAge` is the result without regard to the timestamp, or null if the timestamp was accepted. */
function refusedAnswer(
  { result, form }: Result<NotVerified>,
  ignoringAge: Result | null,
  { screen }: CliDependencies,
): Answer {
  const { ok: _, ...facts } = result;
  const signature = ignoringAge?.result ?? null;
  const lines = [
    `${paint('Not verified', 'red', screen)} (${result.reason}): ${printable(result.message)}`,
    ...(signature === null ? [] : [signatureText(signature)]),
    ...bodyNote(ignoringAge ?? { result, form }),
  ];
  return {
    json: {
      verified: false,
      ...facts,
      body: (ignoringAge ?? { form }).form,
      signature_matches: signature === null ? null : signature.ok,
      ...(signature?.ok === false && {
        signature_reason: signature.reason,
        signature_message: signature.message,
      }),
    },
    text: lines.join('\n'),
  };
}

/** The form of the body is known only if the signature matches, be it after a mistake is undone. */
function bodyNote({ result, form }: Result): readonly string[] {
  const isKnown = result.ok || 'matched' in result;
  return form === 'as_given' || !isKnown ? [] : [`The body was ${FORM_TEXTS[form]}.`];
}

function signatureText(result: Verified | NotVerified): string {
  if (result.ok)
    return 'The signature itself is right. Only its time is refused. Use --at or --tolerance to accept it.';
  return `The signature itself does not match either (${result.reason}): ${printable(result.message)}`;
}
