/**
 * Refusals of the control plane. Code recognises them by `code`. The message is for the person who made the request.
 */
const PROXY_HINT =
  'If a proxy is in front of the service, it must pass on the Host header, and X-Forwarded-Proto if it terminates TLS.';

const MESSAGES = {
  invalid_project_name: (name: string) =>
    `${JSON.stringify(name)} is not a valid project name: use 1 to 64 lower-case letters, digits, dashes and underscores, beginning with a letter or a digit.`,
  project_exists: (name: string) => `A project named ${name} already exists. Choose another name.`,
  unknown_project: (name: string) => `There is no project ${JSON.stringify(name)}. Check the name.`,
  unknown_key: (id: string) =>
    `There is no active key with the id ${JSON.stringify(id)}. It may have been revoked already.`,
  invalid_overlap: (overlap: string) =>
    `${JSON.stringify(overlap)} is not a valid overlap: use a duration of at least 0, such as 24h, 90m or 0.`,
  unknown_endpoint: (id: string) =>
    `There is no endpoint profile ${JSON.stringify(id)} in this project and mode. Check the id, the project and the mode.`,
  endpoint_secret_exists: (id: string) =>
    `The endpoint profile ${id} already has its own signing secret. Rotate it instead.`,
  no_endpoint_secret: (id: string) =>
    `The endpoint profile ${id} has no signing secret of its own. Create one first.`,
  too_many_secrets: (id: string) =>
    `Too many signing secrets of the endpoint profile ${id} still sign. Wait until one of them expires, or use an overlap of 0.`,
  secret_not_standard: (id: string) =>
    `The endpoint profile ${id} uses Standard Webhooks, so a signing secret must be whsec_ and base64. Use such a secret, or set standard_webhooks of the profile to false.`,
  project_secret_not_standard: (id: string) =>
    `The endpoint profile ${id} uses Standard Webhooks, and a signing secret of the project is not whsec_ and base64. Rotate the secret of the project with an overlap of 0, or set standard_webhooks of the profile to false.`,
  replay_under_way: (id: string) =>
    `The bulk replay ${id} is still running and may include some of these deliveries. Wait until it ends, or stop it.`,
  too_many_jobs: (count: string) =>
    `${count} bulk replays are already running. Wait until one of them ends, or stop one.`,
  job_ended: (id: string) => `The bulk replay ${id} has already ended.`,
  unknown_alert_channel: (name: string) =>
    `There is no alert channel ${JSON.stringify(name)} in this project and mode. Check the name or the id.`,
  unknown_alert_condition: (id: string) =>
    `There is no alert condition ${JSON.stringify(id)} in this project and mode. Check the id.`,
  unknown_incident: (id: string) =>
    `There is no incident ${JSON.stringify(id)} in this project and mode. Check the id.`,
  invalid_channel_name: () =>
    'The name of a channel has 1 to 100 characters. It neither begins nor ends with a space, and has no control characters.',
  // The URL is a credential, so no message repeats it.
  invalid_channel_url: (max: string) =>
    `The URL of a channel must be an https:// URL of at most ${max} characters, without user and password.`,
  channel_name_taken: (name: string) =>
    `An alert channel named ${JSON.stringify(name)} already exists. Choose another name.`,
  too_many_alert_channels: (max: string) =>
    `This project and mode already has ${max} alert channels. Remove one first.`,
  too_many_alert_conditions: (max: string) =>
    `This project and mode already has ${max} alert conditions. Remove one first.`,
  channel_in_use: (name: string) =>
    `An alert condition uses the channel ${JSON.stringify(name)}. Take it out of the condition first.`,
  channel_test_waits: (name: string) =>
    `A test message to the channel ${JSON.stringify(name)} is still being sent. Wait until it is delivered or has failed.`,
  invalid_threshold: (range: string) =>
    `A condition of the kind deliveries_failed needs a threshold, a whole number ${range}. Other kinds have none.`,
  invalid_window: (range: string) =>
    `A condition of the kind deliveries_failed needs a window in minutes, a whole number ${range}. Other kinds have none.`,
  invalid_channels: (max: string) =>
    `A condition needs 1 to ${max} alert channels of this project and mode, each named once.`,
  key_elsewhere: (mode: string) =>
    `The ${mode} key for this project belongs to another project. Provide another key.`,
  wrong_login: () => 'The name or the password is wrong.',
  wrong_password: () => 'The current password is wrong.',
  login_throttled: () => 'There were too many failed logins. Wait a moment, then try again.',
  weak_password: (why: string) => `This password is not accepted: ${why}. Choose another one.`,
  invalid_name: () => 'The name is not valid: use 1 to 64 letters a-z, digits and the characters . _ - @ +.',
  invalid_role: (role: string) => `${JSON.stringify(role)} is not a role: use admin, operator or viewer.`,
  too_many_projects: (max: string) =>
    `A user can be limited to at most ${max} projects. List fewer projects, or allow every project.`,
  name_taken: (name: string) => `A user named ${name} already exists. Choose another name.`,
  unknown_user: (name: string) => `There is no user ${JSON.stringify(name)}. Check the name.`,
  last_admin: (name: string) =>
    `${name} is the last admin of every project, and nobody else could invite users. Make another user an admin of every project first.`,
  changed_meanwhile: (name: string) =>
    `${name} was changed by somebody else at the same time. Reload, then try again.`,
  not_allowed: (why: string) => why,
  destination_guarded: () =>
    'This has stored headers or a body, so only an admin may send them to another origin or path. Ask an admin.',
  invitation_gone: () => 'This invitation was used or withdrawn, or it has expired. Ask for a new one.',
  not_signed_in: () => 'You are not signed in, or your session has ended. Sign in again.',
  bad_origin: () => `This request does not come from the dashboard itself. ${PROXY_HINT}`,
  bad_csrf_token: () => 'This page belongs to another session. Reload it.',
  wrong_host: (origins: string) => `The dashboard is not at this address. Use ${origins}. ${PROXY_HINT}`,
  not_local: () =>
    'This request does not come straight from a browser on the machine of `sched dev`. Open the dashboard there, or sign in with a password at /dashboard/login.',
} as const satisfies Readonly<Record<string, (subject: string) => string>>;

export type ControlCode = keyof typeof MESSAGES;

export class ControlRefusal extends Error {
  readonly code: ControlCode;
  /** The name, id or mode that the refusal is about, or the reason. */
  readonly subject: string;
  /** How long to wait before trying again. 0 if waiting does not help. */
  readonly waitMs: number;

  constructor(code: ControlCode, subject = '', waitMs = 0) {
    super(MESSAGES[code](subject));
    this.name = 'ControlRefusal';
    this.code = code;
    this.subject = subject;
    this.waitMs = waitMs;
  }
}
