/** Users and invitations. Only an admin may see and change them. */

import { z } from 'zod';
import type { PeopleDependencies } from '#src/control/dependencies.ts';
import type { NewInvitation } from '#src/control/http/contract.ts';
import { name, optionalTexts, text } from '#src/control/http/fields.ts';
import { namesOf, presentInvitation, presentUser } from '#src/control/http/present.ts';
import { DONE, json, list, type Route, type RouteRequest, route } from '#src/control/http/route.ts';
import { type AccessGrant, invitationPath, invite, removeInvitation } from '#src/control/invitations.ts';
import { openSessions } from '#src/control/sessions.ts';
import { changeUser, removeUser } from '#src/control/users.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { AuditEntry, User } from '#src/ports/people-store.ts';

const BY_ID = z.object({ id: name });
const ACCESS_GRANT = z.object({ role: text, projects: optionalTexts });

export function peopleRoutes(dependencies: PeopleDependencies): readonly Route<RouteRequest>[] {
  return [...userRoutes(dependencies), ...invitationRoutes(dependencies)];
}

function userRoutes(dependencies: PeopleDependencies): readonly Route<RouteRequest>[] {
  return [
    route({
      method: 'GET',
      path: 'users',
      needs: 'admin',
      handle: async () => {
        const names = namesOf(await dependencies.store.listProjects());
        const users = await dependencies.store.people.listUsers();
        const data = await Promise.all(
          users.map(async (user) => presentUser(user, await seenAtOf(dependencies, user), names)),
        );
        return list(data);
      },
    }),
    route({
      method: 'POST',
      path: 'users/:id',
      needs: 'admin',
      params: BY_ID,
      body: ACCESS_GRANT,
      audited: { action: 'user.change', subject: idIn, detail: ({ body }) => accessGrantDetail(body) },
      handle: async ({ caller, params: { id }, body }) => {
        const user = await changeUser(dependencies, id, body, caller.user);
        const names = namesOf(await dependencies.store.listProjects());
        return json(presentUser(user, await seenAtOf(dependencies, user), names));
      },
    }),
    route({
      method: 'POST',
      path: 'users/:id/remove',
      needs: 'admin',
      params: BY_ID,
      audited: { action: 'user.remove', subject: idIn },
      handle: async ({ caller, params: { id } }) => {
        await removeUser(dependencies, id, caller.user);
        return json(DONE);
      },
    }),
  ];
}

function invitationRoutes(dependencies: PeopleDependencies): readonly Route<RouteRequest>[] {
  return [
    route({
      method: 'GET',
      path: 'invitations',
      needs: 'admin',
      handle: async () => {
        const names = namesOf(await dependencies.store.listProjects());
        const open = await dependencies.store.people.listInvitations(dependencies.clock.now());
        const data = open.map((invitation) => presentInvitation(invitation, names));
        return list(data);
      },
    }),
    route({
      method: 'POST',
      path: 'invitations',
      needs: 'admin',
      body: ACCESS_GRANT,
      audited: {
        action: 'invitation.create',
        subject: () => '',
        detail: ({ body }) => accessGrantDetail(body),
      },
      handle: async ({ caller, body }) => {
        const { invitation, token } = await invite(dependencies, { ...body, by: caller.user });
        const names = namesOf(await dependencies.store.listProjects());
        const shown: NewInvitation = {
          ...presentInvitation(invitation, names),
          path: invitationPath(token),
        };
        return json(shown, 201, invitation.id);
      },
    }),
    route({
      method: 'POST',
      path: 'invitations/:id/remove',
      needs: 'admin',
      params: BY_ID,
      audited: { action: 'invitation.remove', subject: idIn },
      handle: async ({ caller, params: { id } }) => {
        await removeInvitation(dependencies, id, caller.user);
        return json(DONE);
      },
    }),
  ];
}

function idIn({ params }: { readonly params: z.output<typeof BY_ID> }): string {
  return params.id;
}

function accessGrantDetail({ role, projects }: AccessGrant): AuditEntry['detail'] {
  return { role, projects: projects === null ? null : projects.join(', ') };
}

async function seenAtOf(dependencies: PeopleDependencies, user: User): Promise<Instant | null> {
  const [newest] = await openSessions(dependencies, user);
  return newest?.seenAt ?? null;
}
