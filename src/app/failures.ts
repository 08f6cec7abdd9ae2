/**
 * The two ways in which Sched does not come up. Both are told in one line, without a stack: the reader is
 * the operator, and the line says what to change.
 */

/** A setting that cannot be: exit code 2. */
export class SettingsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SettingsError';
  }
}

/** The settings are fine, but the machine or the data do not go along: exit code 1. */
export class StartFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartFailure';
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code the operating system gave an error, such as `EADDRINUSE`. */
export function systemCodeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
