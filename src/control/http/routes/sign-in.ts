/**
 * Who somebody is, and how they get a session: by name and password, or by an invitation. Whatever token was presented, the session
 * has a new one, and the one presented is over: nobody can be made to use a session that somebody else knows.
 */
import { runAudited } from '#src/control/audit.ts';
import type { PeopleDependencies } from '#src/control/dependencies.ts';
import type { SessionInfo, WhoAmI } from '#src/control/http/contract.ts';
import { readText } from '#src/control/http/fields.ts';
import { presentInvitationSummary, presentProject } from '#src/control/http/present.ts';
import { type Answer, json, type PublicRequest, type PublicRoute } from '#src/control/http/route.ts';
import { acceptInvitation, requireInvitation } from '#src/control/invitations.ts';
import { login } from '#src/control/logins.ts';
import { createSession, csrfToken, findSession } from '#src/control/sessions.ts';
import { requireName } from '#src/control/user-rules.ts';
import { formatInstant } from '#src/domain/instant.ts';
import type { Session, User } from '#src/ports/people-store.ts';
import { projectsOf } from './projects.ts';

/** No person can have this name: an invitation does not show whose it is until it is accepted. */
const INVITED = 'an invitation';

/** What nobody asked somebody else for: it concerns no project. */
const BY_THEMSELVES = { projectId: null, mode: null, detail: {} } as const;

/** `onEntry`: somebody is signed in, and is about to look at something. */
export function entryRoutes(dependencies: PeopleDependencies, onEntry: () => void): readonly PublicRoute[] {
  const entered = (visitor: PublicRequest, user: User) => {
    onEntry();
    return signedIn(dependencies, visitor, user);
  };
  return [
    {
      method: 'GET',
      path: 'whoami',
      handle: async ({ token, isAutomatic }) => {
        const found = token === null ? null : await findSession(dependencies, token, !isAutomatic);
        if (token === null || found === null) return json(null satisfies WhoAmI);
        onEntry();
        return json((await sessionInfo(dependencies, found.user, found.session, token)) satisfies WhoAmI);
      },
    },
    {
      method: 'POST',
      path: 'login',
      handle: async (visitor) => {
        const { address, peer, body } = visitor;
        const name = readText(body, 'name');
        const password = readText(body, 'password');
        const user = await login(dependencies, { name, password, address, peer });
        const act = {
          ...BY_THEMSELVES,
          userId: user.id,
          actor: user.name,
          address,
          peer,
          action: 'session.begin',
          subject: user.name,
        };
        return runAudited(dependencies, act, () => entered(visitor, user));
      },
    },
    {
      method: 'POST',
      path: 'invitation/look',
      handle: async ({ body }) =>
        json(presentInvitationSummary(await requireInvitation(dependencies, readText(body, 'token')))),
    },
    {
      method: 'POST',
      path: 'invitation',
      handle: async (visitor) => {
        const { address, peer, body } = visitor;
        const token = readText(body, 'token');
        const name = requireName(readText(body, 'name'));
        const password = readText(body, 'password');
        // Only who has a real one can fill the audit log with what they try.
        const { id, role } = await requireInvitation(dependencies, token);
        const act = {
          ...BY_THEMSELVES,
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
          act,
          () => acceptInvitation(dependencies, { token, name, password }),
          (made) => made.name,
        );
        return entered(visitor, user);
      },
    },
  ];
}

async function signedIn(
  dependencies: PeopleDependencies,
  visitor: PublicRequest,
  user: User,
): Promise<Answer> {
  const { token: presented, address, agent } = visitor;
  const { token, session } = await createSession(dependencies, user, presented, address, agent);
  return { ...json(await sessionInfo(dependencies, user, session, token)), session: token };
}

async function sessionInfo(
  dependencies: PeopleDependencies,
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
  };
}
