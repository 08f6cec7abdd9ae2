/**
 * Finds out why no signature matches. It undoes common mistakes one at a time and computes the signature for each. A
 * match names the mistake. Only a request that Sched signed can match, so a forger learns nothing. A match changes the
 * reason, and the request is still refused.
 *
 * The work is bounded, because anybody can send requests that do not match. There are a few dozen guesses, made one at
 * a time, only for short bodies, and only until a total number of bytes has been hashed.
 */

import { bodyGuesses } from './body-guesses.ts';
import { SECRETS_MAX } from './checks.ts';
import type { NormalizedRequest } from './normalized-request.ts';
import { BODY_BYTES_MAX } from './read-body.ts';
import { methodGuesses, pathGuesses } from './request-guesses.ts';
import { type NearlyVerified, type NotMatching, refused } from './result.ts';
import { modeOfApiKey, secretGuesses } from './secret-guesses.ts';
import { hasValidSignature, importKey, type Key, type Signed, signedBytes } from './signature.ts';

const GUESSED_BODY_BYTES_MAX = 65_536;
/** The limit over all guesses and secrets of one request. Verifying a valid request can take as much. */
export const HASHED_BYTES_MAX = SECRETS_MAX * BODY_BYTES_MAX;

export interface Unmatched {
  readonly request: NormalizedRequest;
  readonly signed: Signed;
  readonly signatures: readonly string[];
  readonly secrets: readonly string[];
  readonly keys: readonly Key[];
}

/** A guess changes one value back to what may have been signed. */
interface Guess {
  readonly reason: NearlyVerified['reason'];
  /** Completes the sentence “The signature matches …”. */
  readonly matched: string;
  readonly signed?: Signed;
  readonly body?: Uint8Array;
  readonly secret?: string | Uint8Array;
}

const ADVICE: Readonly<Record<NearlyVerified['reason'], string>> = {
  body_reserialised:
    'Something parsed the body and wrote it again. Pass the raw bytes from before any parser.',
  path_differs:
    'Pass the URL as it was requested (in Express `req.originalUrl`), or give the path that Sched signed in the ' +
    'option `path`.',
  method_differs: 'Pass the method as it was requested, before any override.',
  secret_padded: 'Check the setting that the secret comes from.',
  secret_without_prefix: 'The key is the whole text of the secret, including whsec_.',
  secret_decoded:
    'The signer decoded the secret first. Sched does not do that: the key is the whole text, including whsec_.',
};

export async function diagnose(unmatched: Unmatched): Promise<NearlyVerified | NotMatching> {
  const found = await findMatch(unmatched);
  if (typeof found === 'object') return describeMatch(found);
  return checkBodyRead(unmatched.request) ?? describeMismatch(unmatched, found);
}

/** Returns the first guess that matches. */
async function findMatch(unmatched: Unmatched): Promise<Guess | 'none' | 'limit_reached'> {
  const { request, signed, signatures, keys } = unmatched;
  if (request.body.length > GUESSED_BODY_BYTES_MAX) return 'limit_reached';
  let hashedBytes = 0;
  for (const guess of guesses(unmatched)) {
    const bytes = signedBytes(guess.signed ?? signed, guess.body ?? request.body);
    const guessedKeys = guess.secret === undefined ? keys : [await importKey(guess.secret)];
    hashedBytes += bytes.length * guessedKeys.length;
    if (hashedBytes > HASHED_BYTES_MAX) return 'limit_reached';
    if (await hasValidSignature(signatures, guessedKeys, bytes)) return guess;
  }
  return 'none';
}

function* guesses({ request, signed, secrets }: Unmatched): Generator<Guess> {
  yield* secrets.flatMap(secretGuesses);
  for (const { path, ...rest } of pathGuesses(request)) yield { ...rest, signed: { ...signed, path } };
  for (const { method, ...rest } of methodGuesses(request)) yield { ...rest, signed: { ...signed, method } };
  yield* bodyGuesses(request.body);
}

function describeMatch({ reason, matched }: Guess): NearlyVerified {
  return { ok: false, reason, matched, message: `The signature matches ${matched}. ${ADVICE[reason]}` };
}

/** The value of `Content-Length` if it differs from the length of the body, otherwise null. */
function differingLength({ header, body }: NormalizedRequest): number | null {
  const text = header('Content-Length') ?? '';
  return /^[0-9]{1,15}$/.test(text) && Number(text) !== body.length ? Number(text) : null;
}

function checkBodyRead(request: NormalizedRequest): NotMatching | null {
  const declared = differingLength(request);
  if (declared === null || request.body.length > 0) return null;
  const advice = 'Read the raw body first, and pass its bytes.';
  return refused('body_not_read', `The body is empty, but ${declared} bytes were sent. ${advice}`);
}

function describeMismatch(
  { secrets, signatures, request }: Unmatched,
  found: 'none' | 'limit_reached',
): NotMatching {
  const given = secrets.length === 1 ? 'the secret' : `any of the ${secrets.length} secrets`;
  const result =
    signatures.length === 1
      ? `The signature was not made with ${given}`
      : `None of the ${signatures.length} signatures was made with ${given}`;
  const mode = modeOfApiKey(secrets);
  if (mode !== null) return refused('no_signature_matches', `${result}. ${apiKeyText(mode, secrets.length)}`);
  const searched =
    found === 'limit_reached'
      ? 'The body is too long to try out every common mistake.'
      : 'Common mistakes were tried out and are not the reason.';
  return refused(
    'no_signature_matches',
    `${result} for this method, path and body. ${searched} Check that the secret belongs to this project and mode, ` +
      `and that the body has the exact bytes that arrived.${describeLength(request)}`,
  );
}

function apiKeyText(mode: string, count: number): string {
  return (
    `${count === 1 ? 'The secret is' : 'One of the secrets is'} an API key (sk_${mode}_…), which signs nothing. ` +
    `Use the signing secret instead: it starts with whsec_, and "sched secret show --mode ${mode}" prints it.`
  );
}

/** A hint only: the sender may have lied about the length, so it proves nothing. */
function describeLength(request: NormalizedRequest): string {
  const declared = differingLength(request);
  if (declared === null) return '';
  return ` The body has ${request.body.length} bytes, but Content-Length says ${declared}. Something changed the body on the way.`;
}
