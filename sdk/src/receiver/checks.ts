/** What the developer gives, looked at before anything is let through by it. */

const TOLERANCE_SECONDS = 300;
export const SECRETS_MAX = 8;

export const NO_SECRET = 'No signing secret was given: the setting it comes from is empty or unset.';

/** Those that can be a key: an empty one would be a key that everybody has. */
export function usableSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = (typeof secret === 'string' ? [secret] : [...(secret ?? [])]).filter(
    (each) => typeof each === 'string' && each.trim() !== '',
  );
  if (secrets.length > SECRETS_MAX) throw new RangeError(`At most ${SECRETS_MAX} secrets may be given.`);
  return secrets;
}

/** Something that is no number would let every timestamp pass. */
export function checkTolerance(seconds: number = TOLERANCE_SECONDS): number {
  if (typeof seconds === 'number' && seconds >= 0) return seconds;
  throw new RangeError('toleranceSeconds must be a number, 0 or more.');
}
