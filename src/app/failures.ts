/**
 * The two errors with which Sched does not start. Each is printed in one line without a stack, because the
 * reader is the operator and needs to know what to change.
 */

/** A setting is not valid: exit code 2. */
export class SettingsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SettingsError';
  }
}

/** The settings are valid, but the machine or the data prevent the start: exit code 1. */
export class StartFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartFailure';
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of the operating system, such as `EADDRINUSE`. */
export function systemCodeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
