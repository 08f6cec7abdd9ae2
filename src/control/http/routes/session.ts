/** A user's own sessions and password. */

import { z } from 'zod';
import type { PeopleDependencies } from '#src/control/dependencies.ts';
import { text } from '#src/control/http/fields.ts';
import { presentSession } from '#src/control/http/present.ts';
import { DONE, json, list, route, type UserRoute } from '#src/control/http/route.ts';
import { openSessions } from '#src/control/sessions.ts';
import { changePassword } from '#src/control/users.ts';

export function sessionRoutes(dependencies: PeopleDependencies): readonly UserRoute[] {
  const { people } = dependencies.store;
  return [
    route('GET sessions', {
      needs: 'viewer',
      handle: async ({ caller: { user, session } }) => {
        const sessions = await openSessions(dependencies, user);
        return list(sessions.map((each) => presentSession(each, session)));
      },
    }),
    route('POST logout', {
      needs: 'viewer',
      audited: { action: 'session.end', subject: ({ caller }) => caller.user.name },
      handle: async ({ caller }) => {
        await people.removeSession(caller.session.hash);
        return { ...json(DONE), session: null };
      },
    }),
    route('POST logout-everywhere', {
      needs: 'viewer',
      audited: { action: 'session.end_all', subject: ({ caller }) => caller.user.name },
      handle: async ({ caller }) => {
        await people.removeSessionsOf(caller.user.id, null);
        return { ...json(DONE), session: null };
      },
    }),
    route('POST password', {
      needs: 'viewer',
      body: z.strictObject({ current: text, password: text }),
      audited: { action: 'password.change', subject: ({ caller }) => caller.user.name },
      handle: async ({ caller: { address, peer, session, user }, body }) => {
        await changePassword(dependencies, user, { ...body, address, peer, keptSession: session.hash });
        return json(DONE);
      },
    }),
  ];
}
