/**
 * Schemas of the answers that the control plane gives to the dashboard's page. The service does not check its answers,
 * so only tests load this file and `data-contract.ts`. The service and the page import their types. `answers.ts` has
 * the answer of each route. This is not an API for customers and may change with any version.
 *
 * A change is a POST or PATCH with JSON, the session's cookie, and the session's CSRF token in the header
 * `X-Sched-Csrf`. An unknown field of its body is refused. Errors have the envelope of /v1, and codes of their own
 * (`errors.ts`). Instants are text as in /v1 (`2026-11-15T08:00:00.000Z`).
 */
import { z } from 'zod';
import { INSTANT_ANSWER_FORM } from '#src/api/contract/forms.ts';
import { MODES } from '#src/domain/project.ts';
import { ROLES } from '#src/domain/role.ts';

/** The type of an answer. The page changes none of it. */
export type Shown<S extends z.ZodType> = DeepReadonly<z.output<S>>;

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

export const at = z.string().regex(new RegExp(INSTANT_ANSWER_FORM.pattern));

export function listed<T extends z.ZodType>(item: T) {
  return z.strictObject({ data: z.array(item), next_cursor: z.string().nullable() });
}

export type Listed<T> = Shown<ReturnType<typeof listed<z.ZodType<T>>>>;

const role = z.enum(ROLES);
export type RoleName = z.output<typeof role>;

const mode = z.enum(MODES);
export type ModeName = z.output<typeof mode>;

export const Done = z.strictObject({ done: z.literal(true) });
export type Done = Shown<typeof Done>;

export const ProjectInfo = z.strictObject({ id: z.string(), name: z.string(), created_at: at });
export type ProjectInfo = Shown<typeof ProjectInfo>;

export const SessionInfo = z.strictObject({
  user: z.strictObject({ id: z.string(), name: z.string(), role }),
  csrf: z.string(),
  /** The projects that the user may see. */
  projects: z.array(ProjectInfo),
  expires_at: at,
  /** Whether the service is `sched dev`, which has an inbox. */
  is_dev: z.boolean(),
});
export type SessionInfo = Shown<typeof SessionInfo>;

/** Nobody is signed in to `sched dev`. The page may begin a session by itself (`POST local-session`). */
const LocalSessionOffer = z.strictObject({ local_session: z.literal(true) });

/** Null means that nobody is signed in. This is not an error. */
export const WhoAmI = z.union([SessionInfo, LocalSessionOffer]).nullable();
export type WhoAmI = Shown<typeof WhoAmI>;

/** Facts about the installation that are not secret. */
export const About = z.strictObject({
  version: z.string(),
  store: z.enum(['sqlite', 'postgres']),
  /** A Go duration. Null means that data is kept forever. */
  retention: z.string().nullable(),
  node: z.string(),
});
export type About = Shown<typeof About>;

export const InvitationSummary = z.strictObject({ role, expires_at: at });
export type InvitationSummary = Shown<typeof InvitationSummary>;

export const OpenSession = z.strictObject({
  id: z.string(),
  is_this: z.boolean(),
  created_at: at,
  seen_at: at,
  address: z.string(),
  agent: z.string(),
});
export type OpenSession = Shown<typeof OpenSession>;

/** Names of projects. Null stands for every project. */
const projectScope = z.array(z.string()).nullable();

export const UserInfo = z.strictObject({
  id: z.string(),
  name: z.string(),
  role,
  projects: projectScope,
  created_at: at,
  /** The last use of the user's newest session. Null if none is open. */
  seen_at: at.nullable(),
});
export type UserInfo = Shown<typeof UserInfo>;

export const InvitationInfo = z.strictObject({
  id: z.string(),
  role,
  projects: projectScope,
  created_by: z.string(),
  created_at: at,
  expires_at: at,
});
export type InvitationInfo = Shown<typeof InvitationInfo>;

export const NewInvitation = InvitationInfo.extend({
  /** The path of the page that accepts the invitation, with the token in its fragment. It is shown once. */
  path: z.string(),
});
export type NewInvitation = Shown<typeof NewInvitation>;

export const AuditLine = z.strictObject({
  id: z.string(),
  at,
  actor: z.string(),
  user_id: z.string().nullable(),
  action: z.string(),
  subject: z.string(),
  project: z.string().nullable(),
  mode: mode.nullable(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  /** Null, like the peer, for an action of the command line. */
  address: z.string().nullable(),
  /** The other end of the connection, a proxy if it differs from the address. Null also in old entries without it. */
  peer: z.string().nullable(),
  outcome: z.enum(['begun', 'done', 'refused', 'failed']),
  code: z.string().nullable(),
});
export type AuditLine = Shown<typeof AuditLine>;

export const KeyInfo = z.strictObject({
  id: z.string(),
  hint: z.string(),
  created_at: at,
  last_used_at: at.nullable(),
  revoked_at: at.nullable(),
});
export type KeyInfo = Shown<typeof KeyInfo>;

export const NewKey = KeyInfo.extend({
  /** The key itself. It is shown once. */
  key: z.string(),
});
export type NewKey = Shown<typeof NewKey>;

export const SecretInfo = z.strictObject({
  id: z.string(),
  created_at: at,
  /** When it stops signing. Null for the secret in force. */
  expires_at: at.nullable(),
  /** The secret itself, only for an admin who revealed or created it. */
  text: z.string().exactOptional(),
});
export type SecretInfo = Shown<typeof SecretInfo>;

/** A signing secret of one endpoint profile. */
export const EndpointSecretInfo = SecretInfo.extend({
  /** When the project's secrets stop signing beside it. Null means that they sign until this one ends. */
  alone_from: at.nullable(),
});
export type EndpointSecretInfo = Shown<typeof EndpointSecretInfo>;

/**
 * The server-sent events of `GET live`. A `watch` is a path of this API with its query, such as
 * `p/default/test/overview?range=1h`. A stream has at most 6. The event `data` has the answer, at the start and
 * whenever it has changed. The event `refused` means that no further answer follows. A watch refused with 401 ends the
 * stream. A stream beyond the limit gets the event `full` instead, and ends.
 */
export const LiveEvent = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('data'), watch: z.string(), body: z.unknown() }),
  z.strictObject({ event: z.literal('refused'), watch: z.string(), status: z.int(), code: z.string() }),
]);
export type LiveEvent = Shown<typeof LiveEvent>;
