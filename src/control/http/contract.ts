/**
 * The contract between the dashboard's page and the control plane. It contains only types, and the page imports them
 * too. All paths are below `/dashboard/api`. It is not an API for customers and may change with any version.
 *
 *   POST login, local-session (only `sched dev`), logout, logout-everywhere, password, invitation, invitation/lookup     GET whoami, sessions
 *   GET  projects · POST projects
 *   GET  users · POST users/:id, users/:id/remove · GET, POST invitations · POST invitations/:id/remove
 *   GET  audit, about
 *   GET  live?watch=…&watch=…                                    (see `LiveEvent`)
 *
 * The routes of one project in one mode are below `p/:project/:mode/`. `:project` is the name of the project.
 *
 *   The operations of /v1 have the same paths, bodies and answers (schedules…, deliveries…, endpoints…), except that
 *   deliveries are `DeliveryWithTarget`.
 *   GET  overview?range=                                         Overview
 *   GET  upcoming?from=&until=                                   Upcoming
 *   GET  search/schedules?q=&state=&kind=&cursor=                ScheduleSearchPage
 *   POST preview                                                 Preview (changes nothing)
 *   GET  schedules/:id/calendar?from=&until=                     Calendar
 *   GET  deliveries/:id/details                                  DeliveryDetails
 *   GET  destinations                                            Destinations
 *   POST destinations/close-breaker {endpoint}                   Done
 *   GET  replays, replays/:id, replays/count?<DeliveryQuery>     ReplayJobs, ReplayJob, DeliveryCount
 *   POST replays {…DeliveryQuery, expected}, replays/:id/stop    ReplayJob
 *   POST schedules/:id/reveal, endpoints/:id/reveal              Revealed (admin, audited)
 *   GET  keys · POST keys, keys/:id/revoke                       Keys, NewKey, Done
 *   GET  secrets · POST secrets/rotate {overlap}, secrets/:id/reveal   Secrets, Secrets with texts, SecretText
 *   GET  endpoints/:id/secrets                                   EndpointSecrets
 *   POST endpoints/:id/secrets, endpoints/:id/secrets/rotate, endpoints/:id/secrets/remove {overlap}
 *                                                                EndpointSecrets, the new one with its text
 *   POST endpoints/:id/secrets/:secret/reveal                    EndpointSecretInfo with its text
 *
 * A change is a POST or PATCH with JSON, the session's cookie, and the session's CSRF token in the header
 * `X-Sched-Csrf`. Errors have the envelope of /v1. The control plane's own codes are in `ControlErrorCode`. The answers
 * of a project's routes are in `data-contract.ts`. Instants are text as in /v1 (`2026-11-15T08:00:00.000Z`).
 */
export type RoleName = 'viewer' | 'operator' | 'admin';
export type ModeName = 'test' | 'live';

export type ControlErrorCode =
  /** 401: there is no session, or it has ended. */
  | 'not_signed_in'
  /** 401: the name or the password is wrong. */
  | 'wrong_login'
  /** 429, with Retry-After: too many failed logins. */
  | 'login_throttled'
  /** 403: the role does not allow it. */
  | 'not_allowed'
  /** 403: only an admin may send stored headers or a body elsewhere. */
  | 'destination_guarded'
  /** 403: the request does not come from the dashboard's own page. */
  | 'bad_origin'
  /** 403: the CSRF token belongs to another session. */
  | 'bad_csrf_token'
  /** 403: `sched dev` is reached from another machine, or through a proxy. */
  | 'not_local'
  /** 421: the host of the request is not one of `SCHED_PUBLIC_URL`. */
  | 'wrong_host'
  /** 422: the current password is wrong. The user stays signed in. */
  | 'wrong_password'
  | 'weak_password'
  | 'invalid_name'
  | 'invalid_role'
  | 'invalid_overlap'
  | 'invalid_project_name'
  | 'unknown_project'
  | 'too_many_projects'
  /** 404 */
  | 'unknown_user'
  | 'unknown_key'
  | 'unknown_endpoint'
  /** 409 */
  | 'name_taken'
  | 'last_admin'
  | 'changed_meanwhile'
  | 'project_exists'
  | 'key_elsewhere'
  | 'endpoint_secret_exists'
  | 'no_endpoint_secret'
  | 'too_many_secrets'
  | 'replay_under_way'
  | 'too_many_jobs'
  | 'job_ended'
  /** 410: the invitation was used or withdrawn, or it has expired. */
  | 'invitation_gone';

export interface Done {
  readonly done: true;
}

export interface SessionInfo {
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly role: RoleName;
  };
  readonly csrf: string;
  /** The projects that the user may see. */
  readonly projects: readonly ProjectInfo[];
  readonly expires_at: string;
  /** Whether the service is `sched dev`, which has an inbox. */
  readonly is_dev: boolean;
}

/** Nobody is signed in to `sched dev`. The page may begin a session by itself (`POST local-session`). */
export interface LocalSessionOffer {
  readonly local_session: true;
}

/** Null means that nobody is signed in. This is not an error. */
export type WhoAmI = SessionInfo | LocalSessionOffer | null;

export interface ProjectInfo {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
}

/** Facts about the installation that are not secret. */
export interface About {
  readonly version: string;
  readonly store: 'sqlite' | 'postgres';
  /** A Go duration. Null means that data is kept forever. */
  readonly retention: string | null;
  readonly node: string;
}

export interface InvitationSummary {
  readonly role: RoleName;
  readonly expires_at: string;
}

export interface OpenSession {
  readonly id: string;
  readonly is_this: boolean;
  readonly created_at: string;
  readonly seen_at: string;
  readonly address: string;
  readonly agent: string;
}

export interface UserInfo {
  readonly id: string;
  readonly name: string;
  readonly role: RoleName;
  /** Names of projects. Null stands for every project. */
  readonly projects: readonly string[] | null;
  readonly created_at: string;
  /** The last use of the user's newest session. Null if none is open. */
  readonly seen_at: string | null;
}

export interface InvitationInfo {
  readonly id: string;
  readonly role: RoleName;
  readonly projects: readonly string[] | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface NewInvitation extends InvitationInfo {
  /** The path of the page that accepts the invitation, with the token in its fragment. It is shown once. */
  readonly path: string;
}

export interface AuditLine {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly user_id: string | null;
  readonly action: string;
  readonly subject: string;
  readonly project: string | null;
  readonly mode: ModeName | null;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  /** Null, like the peer, for an action of the command line. */
  readonly address: string | null;
  /** The other end of the connection, a proxy if it differs from the address. Null also in old entries without it. */
  readonly peer: string | null;
  readonly outcome: 'begun' | 'done' | 'refused' | 'failed';
  readonly code: string | null;
}

export interface Listed<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

export interface KeyInfo {
  readonly id: string;
  readonly hint: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

export interface NewKey extends KeyInfo {
  /** The key itself. It is shown once. */
  readonly key: string;
}

export interface SecretInfo {
  readonly id: string;
  readonly created_at: string;
  /** When it stops signing. Null for the secret in force. */
  readonly expires_at: string | null;
  /** The secret itself, only for an admin who revealed or created it. */
  readonly text?: string;
}

/** A signing secret of one endpoint profile. */
export interface EndpointSecretInfo extends SecretInfo {
  /** When the project's secrets stop signing beside it. Null means that they sign until this one ends. */
  readonly alone_from: string | null;
}

/**
 * The server-sent events of `GET live`. A `watch` is a path of this API with its query, such as
 * `p/default/test/overview?range=1h`. A stream has at most 6. The event `data` has the answer, at the start and
 * whenever it has changed. The event `refused` means that no further answer follows. A watch refused with 401 ends the
 * stream.
 */
export type LiveEvent =
  | { readonly event: 'data'; readonly watch: string; readonly body: unknown }
  | { readonly event: 'refused'; readonly watch: string; readonly status: number; readonly code: string };
