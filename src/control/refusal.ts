/** Why the control plane says no. Recognised by `code`; the message is for the person at the command line. */
const MESSAGES = {
  invalid_project_name: (name: string) =>
    `${JSON.stringify(name)} is no project name: 1 to 64 of a-z, 0-9, - and _, the first a letter or a digit.`,
  project_exists: (name: string) => `A project ${name} exists already.`,
  unknown_project: (name: string) => `There is no project ${JSON.stringify(name)}.`,
  unknown_key: (id: string) => `No key that is in force has the id ${JSON.stringify(id)}.`,
  invalid_overlap: (overlap: string) =>
    `${JSON.stringify(overlap)} is no overlap: it must be a duration of at least 0, such as 24h, 90m or 0.`,
  key_elsewhere: (mode: string) => `The ${mode} key given for this project belongs to another one.`,
} as const satisfies Readonly<Record<string, (subject: string) => string>>;

export type ControlCode = keyof typeof MESSAGES;

export class ControlRefusal extends Error {
  readonly code: ControlCode;
  /** The name, id or mode that the refusal is about. */
  readonly subject: string;

  constructor(code: ControlCode, subject: string) {
    super(MESSAGES[code](subject));
    this.name = 'ControlRefusal';
    this.code = code;
    this.subject = subject;
  }
}
