/**
 * Why no signature matches: the usual mistakes are undone one at a time, and the signature is worked out for
 * each. What then matches names the mistake. Only a request that Sched did sign can match, so that this tells
 * a forger nothing; and it is only told, never accepted.
 *
 * It is bounded, since anybody can send what does not match: a few dozen guesses, made one at a time, only for
 * bodies that are soon hashed, and only until so many bytes have been hashed in all.
 */

import { bodyGuesses } from './body-guesses.ts';
import { SECRETS_MAX } from './checks.ts';
import type { NormalizedRequest } from './normalized-request.ts';
import { BODY_BYTES_MAX } from './read-body.ts';
import { methodGuesses, pathGuesses } from './request-guesses.ts';
import { type NearlyVerified, type NotMatching, refused } from './result.ts';
import { secretGuesses } from './secret-guesses.ts';
import { hasValidSignature, importKey, type Key, type Signed, signedBytes } from './signature.ts';

const GUESSED_BODY_BYTES_MAX = 65_536;
/** Over all guesses and secrets of one request: as many as it can take to verify one that is right. */
export const HASHED_BYTES_MAX = SECRETS_MAX * BODY_BYTES_MAX;

export interface Unmatched {
  readonly arrival: NormalizedRequest;
  readonly signed: Signed;
  readonly signatures: readonly string[];
  readonly secrets: readonly string[];
  readonly keys: readonly Key[];
}

/** One thing put as it may have been when it was signed. */
interface Guess {
  readonly reason: NearlyVerified['reason'];
  /** The end of “The signature matches …”. */
  readonly matched: string;
  readonly signed?: Signed;
  readonly body?: Uint8Array;
  readonly secret?: string | Uint8Array;
}

const ADVICE: Readonly<Record<NearlyVerified['reason'], string>> = {
  body_reserialised:
    'Something has read the body and written it anew. Pass the raw bytes, from before any parser.',
  path_differs:
    'Pass the URL as it was requested (in Express `req.originalUrl`), or give the path that Sched was told ' +
    'with the option `path`.',
  method_differs: 'Pass the method as it was requested, from before any override.',
  secret_padded: 'Look at the setting that the secret comes from.',
  secret_without_prefix: 'The key is the whole text of the secret, with whsec_.',
  secret_decoded:
    'Whoever signed this decoded the secret first. Sched does not: the key is the whole text, with whsec_.',
};

export async function diagnose(unmatched: Unmatched): Promise<NearlyVerified | NotMatching> {
  const found = await findMatch(unmatched);
  if (typeof found === 'object') return describeMatch(found);
  return checkBodyRead(unmatched.arrival) ?? describeMismatch(unmatched, found);
}

/** The first guess that matches. */
async function findMatch(unmatched: Unmatched): Promise<Guess | 'none' | 'given_up'> {
  const { arrival, signed, signatures, keys } = unmatched;
  if (arrival.body.length > GUESSED_BODY_BYTES_MAX) return 'given_up';
  let hashedBytes = 0;
  for (const guess of guesses(unmatched)) {
    const bytes = signedBytes(guess.signed ?? signed, guess.body ?? arrival.body);
    const guessedKeys = guess.secret === undefined ? keys : [await importKey(guess.secret)];
    hashedBytes += bytes.length * guessedKeys.length;
    if (hashedBytes > HASHED_BYTES_MAX) return 'given_up';
    if (await hasValidSignature(signatures, guessedKeys, bytes)) return guess;
  }
  return 'none';
}

function* guesses({ arrival, signed, secrets }: Unmatched): Generator<Guess> {
  yield* secrets.flatMap(secretGuesses);
  for (const { path, ...rest } of pathGuesses(arrival)) yield { ...rest, signed: { ...signed, path } };
  for (const { method, ...rest } of methodGuesses(arrival)) yield { ...rest, signed: { ...signed, method } };
  yield* bodyGuesses(arrival.body);
}

function describeMatch({ reason, matched }: Guess): NearlyVerified {
  return { ok: false, reason, matched, message: `The signature matches ${matched}. ${ADVICE[reason]}` };
}

/** Sched says how long the body is. Null where it is as long as that, or nothing is said. */
function differingLength({ header, body }: NormalizedRequest): number | null {
  const text = header('Content-Length') ?? '';
  return /^[0-9]{1,15}$/.test(text) && Number(text) !== body.length ? Number(text) : null;
}

function checkBodyRead(arrival: NormalizedRequest): NotMatching | null {
  const said = differingLength(arrival);
  if (said === null || arrival.body.length > 0) return null;
  const advice = 'Read the raw body first, and pass its bytes.';
  return refused('body_not_read', `The body is empty, but ${said} bytes were sent. ${advice}`);
}

function describeMismatch(
  { secrets, signatures, arrival }: Unmatched,
  found: 'none' | 'given_up',
): NotMatching {
  const made =
    signatures.length === 1 ? 'The signature was' : `None of the ${signatures.length} signatures was`;
  const given = secrets.length === 1 ? 'the secret' : `any of the ${secrets.length} secrets`;
  const looked =
    found === 'given_up'
      ? 'The body is too long to try out every usual mistake'
      : 'The usual mistakes were tried out and are not the reason';
  const not = signatures.length === 1 ? 'not ' : '';
  const said = differingLength(arrival);
  // Whoever sent this may have said so without reason: it proves nothing.
  const length = `The body has ${arrival.body.length} bytes, Content-Length said ${said}: something on the way changed it.`;
  return refused(
    'no_signature_matches',
    `${made} ${not}made with ${given} for this method, path and body. ${looked}: look whether the secret is the ` +
      'one of this project and mode, and whether the body holds the exact bytes that arrived.' +
      (said === null ? '' : ` ${length}`),
  );
}
