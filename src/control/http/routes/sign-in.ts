/**
 * Signs a person in, by name and password or by an invitation, and tells the page who is signed in. A new session
 * always gets a new token, and the session of the presented token ends. So an attacker cannot make a user adopt a
 * session that the attacker knows.
 */
import { z } from 'zod';
import { runAudited } from '#src/control/audit.ts';
import type { PeopleDependencies } from '#src/control/dependencies.ts';
import type { SessionInfo, WhoAmI } from '#src/control/http/contract.ts';
import { text } from '#src/control/http/fields.ts';
import { presentInvitationSummary, presentProject } from '#src/control/http/present.ts';
import {
  type Answer,
  json,
  type PublicRequest,
  type PublicRoute,
  publicRoute,
} from '#src/control/http/route.ts';
import { acceptInvitation, requireInvitation } from '#src/control/invitations.ts';
import { login } from '#src/control/logins.ts';
import { createSession, csrfToken, findSession } from '#src/control/sessions.ts';
import { requireName } from '#src/control/user-rules.ts';
import { formatInstant } from '#src/domain/instant.ts';
import type { Session, User } from '#src/ports/people-store.ts';
import { projectsOf } from './projects.ts';

/** The actor of an acceptance, since the user does not exist yet. No user can have this name. */
const INVITED = 'an invitation';

/** Begins a session of the user. */
export type BeginSession = (request: PublicRequest, user: User) => Promise<Answer<SessionInfo>>;

/** Makes the route by which the page of `sched dev` gets a session without a password. */
export type LocalSignIn = (dependencies: PeopleDependencies, begin: BeginSession) => PublicRoute;

/** The name of that route. */
export const LOCAL_SESSION = 'POST local-session';

/** `onSignIn` is called when a user is about to open pages. */
export function signInRoutes(
  people: PeopleDependencies,
  localSignIn: LocalSignIn | null,
  onSignIn: () => void,
): readonly PublicRoute[] {
  const dependencies = { ...people, isDev: localSignIn !== null };
  const signedOut: WhoAmI = localSignIn === null ? null : { local_session: true };
  const begin: BeginSession = (request, user) => {
    onSignIn();
    return openSession(dependencies, request, user);
  };
  return [
    ...(localSignIn === null ? [] : [localSignIn(dependencies, begin)]),
    publicRoute('GET whoami', {
      handle: async ({ token, isAutomatic }) => {
        const found = token === null ? null : await findSession(dependencies, token, !isAutomatic);
        if (token === null || found === null) return json(signedOut);
        onSignIn();
        return json(await sessionInfo(dependencies, found.user, found.session, token));
      },
    }),
    publicRoute('POST login', {
      body: z.strictObject({ name: text, password: text }),
      handle: async (request) => {
        const { address, peer, body } = request;
        const user = await login(dependencies, { ...body, address, peer });
        const { id: userId, name: actor } = user;
        const action = { userId, actor, address, peer, action: 'session.begin', subject: actor };
        return runAudited(dependencies, action, () => begin(request, user));
      },
    }),
    publicRoute('POST invitation/lookup', {
      body: z.strictObject({ token: text }),
      handle: async ({ body }) =>
        json(presentInvitationSummary(await requireInvitation(dependencies, body.token))),
    }),
    publicRoute('POST invitation', {
      body: z.strictObject({ token: text, name: text, password: text }),
      handle: async (request) => {
        const { address, peer, body } = request;
        const name = requireName(body.name);
        // The audit log has only requests with a valid invitation, so that nobody else can fill it.
        const { id, role } = await requireInvitation(dependencies, body.token);
        const action = {
          userId: null,
          actor: INVITED,
          address,
          peer,
          action: 'invitation.accept',
          subject: '',
          detail: { invitation: id, role },
        };
        const user = await runAudited(
          dependencies,
          action,
          () => acceptInvitation(dependencies, { ...body, name }),
          (made) => made.name,
        );
        return begin(request, user);
      },
    }),
  ];
}

type SessionDependencies = PeopleDependencies & { readonly isDev: boolean };

async function openSession(
  dependencies: SessionDependencies,
  request: PublicRequest,
  user: User,
): Promise<Answer<SessionInfo>> {
  const { token: presented, address, agent } = request;
  const { token, session } = await createSession(dependencies, user, presented, address, agent);
  return { ...json(await sessionInfo(dependencies, user, session, token)), session: token };
}

async function sessionInfo(
  dependencies: SessionDependencies,
  user: User,
  session: Session,
  token: string,
): Promise<SessionInfo> {
  const { id, name, role } = user;
  return {
    user: { id, name, role },
    csrf: csrfToken(token),
    projects: (await projectsOf(dependencies, user)).map(presentProject),
    expires_at: formatInstant(session.expiresAt),
    is_dev: dependencies.isDev,
  };
}
