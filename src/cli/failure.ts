/** How a command ends, for scripts. `docs/cli.md` and the help say the same. */

export const EXIT = {
  done: 0,
  /** Refused by the service, or it could not be done. */
  failed: 1,
  wrongUsage: 2,
  notFound: 3,
  notAuthenticated: 4,
  /** No answer, or an answer of 500 and above: another time it may go well. */
  unavailable: 5,
  /** Ctrl-C at a prompt, as a shell has it. */
  interrupted: 130,
} as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** A command that ends with one line on standard error. */
export class CommandFailure extends Error {
  readonly exit: Exit;

  constructor(message: string, exit: Exit = EXIT.failed, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailure';
    this.exit = exit;
  }
}

/** What was typed cannot be. */
export function wrongUsage(message: string): CommandFailure {
  return new CommandFailure(message, EXIT.wrongUsage);
}

/** What was asked has been answered, and the answer is no: the exit code is all that is left to say. */
export class NegativeAnswer extends Error {
  constructor() {
    super('answered: no');
    this.name = 'AnsweredNo';
  }
}
