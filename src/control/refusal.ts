/** Why the control plane says no. Recognised by `code`; the message is for the person who asked. */
const MESSAGES = {
  invalid_project_name: (name: string) =>
    `${JSON.stringify(name)} is no project name: 1 to 64 of a-z, 0-9, - and _, the first a letter or a digit.`,
  project_exists: (name: string) => `A project ${name} exists already.`,
  unknown_project: (name: string) => `There is no project ${JSON.stringify(name)}.`,
  unknown_key: (id: string) => `No key that is in force has the id ${JSON.stringify(id)}.`,
  invalid_overlap: (overlap: string) =>
    `${JSON.stringify(overlap)} is no overlap: it must be a duration of at least 0, such as 24h, 90m or 0.`,
  unknown_endpoint: (id: string) =>
    `There is no endpoint profile ${JSON.stringify(id)} in this project and mode.`,
  endpoint_secret_exists: (id: string) => `${id} has a signing secret of its own already: rotate that one.`,
  no_endpoint_secret: (id: string) => `${id} has no signing secret of its own: create one first.`,
  too_many_secrets: (id: string) =>
    `Too many signing secrets of ${id} sign at once. Wait until one of them ends, or give an overlap of 0.`,
  replay_under_way: (id: string) =>
    `The bulk replay ${id} is under way, and may replay some of these. Wait for its end, or stop it.`,
  too_many_jobs: (count: string) =>
    `There are ${count} bulk replays under way already. Wait for the end of one, or stop one.`,
  job_ended: (id: string) => `The bulk replay ${id} has ended already.`,
  key_elsewhere: (mode: string) => `The ${mode} key given for this project belongs to another one.`,
  wrong_login: () => 'The name or the password is wrong.',
  wrong_password: () => 'The present password is another one.',
  login_throttled: () => 'There were too many failed logins. Wait a little, then try again.',
  weak_password: (why: string) => `This password cannot be taken: ${why}.`,
  invalid_name: () => 'A name has 1 to 64 of a-z, 0-9, ., _, -, @ and +.',
  invalid_role: (role: string) => `${JSON.stringify(role)} is no role: it must be admin, operator or viewer.`,
  too_many_projects: (max: string) => `A person is confined to at most ${max} projects, or to none at all.`,
  name_taken: (name: string) => `Somebody called ${name} is there already.`,
  unknown_user: (name: string) => `There is nobody called ${JSON.stringify(name)}.`,
  last_admin: (name: string) =>
    `${name} is the last admin of everything: nobody else could let people in. Make another one first.`,
  changed_meanwhile: (name: string) => `${name} was changed by somebody else just now. Look again.`,
  not_allowed: () => 'Only an admin of every project may do this.',
  destination_guarded: () =>
    'This has stored headers or a body: only an admin may send them to another origin or path.',
  invitation_gone: () => 'This invitation was used or taken back, or it is over. Ask for another one.',
} as const satisfies Readonly<Record<string, (subject: string) => string>>;

export type ControlCode = keyof typeof MESSAGES;

export class ControlRefusal extends Error {
  readonly code: ControlCode;
  /** The name, id or mode that the refusal is about. */
  readonly subject: string;
  /** How long it is of no use to try again; 0 where that is not a matter of time. */
  readonly waitMs: number;

  constructor(code: ControlCode, subject: string, waitMs = 0) {
    super(MESSAGES[code](subject));
    this.name = 'ControlRefusal';
    this.code = code;
    this.subject = subject;
    this.waitMs = waitMs;
  }
}
