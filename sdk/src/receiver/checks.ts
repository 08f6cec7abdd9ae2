/** Checks the options of the developer before any request is accepted with them. */

const TOLERANCE_SECONDS = 300;
export const SECRETS_MAX = 8;

export const NO_SECRET = 'There is no signing secret. The setting that it comes from is empty or unset.';

/** Leaves out empty secrets, because anybody could sign with an empty key. */
export function usableSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = (typeof secret === 'string' ? [secret] : [...(secret ?? [])]).filter(
    (each) => typeof each === 'string' && each.trim() !== '',
  );
  if (secrets.length > SECRETS_MAX) throw new RangeError(`There can be at most ${SECRETS_MAX} secrets.`);
  return secrets;
}

/** A tolerance that is not a number would accept every timestamp. */
export function checkTolerance(seconds: number = TOLERANCE_SECONDS): number {
  if (typeof seconds === 'number' && seconds >= 0) return seconds;
  throw new RangeError('toleranceSeconds must be a number of at least 0.');
}
