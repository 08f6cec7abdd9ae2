/** Users and invitations. Only an admin may see and change them. */

import { z } from 'zod';
import type { PeopleDependencies } from '#src/control/dependencies.ts';
import { byId, optionalTexts, text } from '#src/control/http/fields.ts';
import { namesOf, presentInvitation, presentUser } from '#src/control/http/present.ts';
import { DONE, json, list, route, type UserRoute } from '#src/control/http/route.ts';
import { type AccessGrant, invitationPath, invite, removeInvitation } from '#src/control/invitations.ts';
import { openSessions } from '#src/control/sessions.ts';
import { changeUser, removeUser } from '#src/control/users.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { User } from '#src/ports/people-store.ts';

const ACCESS_GRANT = z.strictObject({ role: text, projects: optionalTexts });

export function peopleRoutes(dependencies: PeopleDependencies): readonly UserRoute[] {
  const names = async () => namesOf(await dependencies.store.listProjects());
  return [
    route('GET users', {
      needs: 'admin',
      handle: async () => {
        const known = await names();
        const users = await dependencies.store.people.listUsers();
        return list(
          await Promise.all(
            users.map(async (user) => presentUser(user, await seenAtOf(dependencies, user), known)),
          ),
        );
      },
    }),
    route('POST users/:id', {
      needs: 'admin',
      params: byId('usr'),
      body: ACCESS_GRANT,
      audited: { action: 'user.change', detail: accessGrantDetail },
      handle: async ({ caller, params: { id }, body }) => {
        const user = await changeUser(dependencies, id, body, caller.user);
        return json(presentUser(user, await seenAtOf(dependencies, user), await names()));
      },
    }),
    route('POST users/:id/remove', {
      needs: 'admin',
      params: byId('usr'),
      audited: { action: 'user.remove' },
      handle: async ({ caller, params: { id } }) => {
        await removeUser(dependencies, id, caller.user);
        return json(DONE);
      },
    }),
    route('GET invitations', {
      needs: 'admin',
      handle: async () => {
        const known = await names();
        const open = await dependencies.store.people.listInvitations(dependencies.clock.now());
        return list(open.map((invitation) => presentInvitation(invitation, known)));
      },
    }),
    route('POST invitations', {
      needs: 'admin',
      body: ACCESS_GRANT,
      audited: { action: 'invitation.create', detail: accessGrantDetail },
      handle: async ({ caller, body }) => {
        const { invitation, token } = await invite(dependencies, { ...body, by: caller.user });
        const shown = { ...presentInvitation(invitation, await names()), path: invitationPath(token) };
        return json(shown, 201, invitation.id);
      },
    }),
    route('POST invitations/:id/remove', {
      needs: 'admin',
      params: byId('inv'),
      audited: { action: 'invitation.remove' },
      handle: async ({ caller, params: { id } }) => {
        await removeInvitation(dependencies, id, caller.user);
        return json(DONE);
      },
    }),
  ];
}

function accessGrantDetail({ body: { role, projects } }: { readonly body: AccessGrant }) {
  return { role, projects: projects === null ? null : projects.join(', ') };
}

async function seenAtOf(dependencies: PeopleDependencies, user: User): Promise<Instant | null> {
  const [newest] = await openSessions(dependencies, user);
  return newest?.seenAt ?? null;
}
