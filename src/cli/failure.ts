/** The ways in which a command can fail, and their exit codes. `docs/cli.md` and the help list the same codes. */

export const EXIT = {
  done: 0,
  /** The service refused the request, or the command failed. */
  failed: 1,
  wrongUsage: 2,
  notFound: 3,
  notAuthenticated: 4,
  /** There was no answer, or a status of 500 or above. A later attempt may succeed. */
  unavailable: 5,
  /** Ctrl-C at a prompt. Shells use the same code. */
  interrupted: 130,
} as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command with one line on standard error. */
export class CommandFailure extends Error {
  readonly exit: Exit;

  constructor(message: string, exit: Exit = EXIT.failed, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailure';
    this.exit = exit;
  }
}

/** The user typed something invalid. */
export function wrongUsage(message: string): CommandFailure {
  return new CommandFailure(message, EXIT.wrongUsage);
}

/** The command has printed its answer, and the answer is no. Only the exit code is left to set. */
export class NegativeAnswer extends Error {
  constructor() {
    super('The answer is no.');
    this.name = 'NegativeAnswer';
  }
}
