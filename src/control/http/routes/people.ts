/** Users and invitations. Only an admin may see and change them. */

import type { PeopleDependencies } from '#src/control/dependencies.ts';
import type { InvitationInfo, Listed, NewInvitation, UserInfo } from '#src/control/http/contract.ts';
import { readText, readTexts } from '#src/control/http/fields.ts';
import { namesOf, presentInvitation, presentUser } from '#src/control/http/present.ts';
import {
  type AuditRule,
  DONE,
  type JsonBody,
  json,
  type Route,
  type RouteRequest,
} from '#src/control/http/route.ts';
import { type AccessGrant, invitationPath, invite, removeInvitation } from '#src/control/invitations.ts';
import { openSessions } from '#src/control/sessions.ts';
import { changeUser, removeUser } from '#src/control/users.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { AuditEntry, User } from '#src/ports/people-store.ts';

export function peopleRoutes(dependencies: PeopleDependencies): readonly Route<RouteRequest>[] {
  return [...userRoutes(dependencies), ...invitationRoutes(dependencies)];
}

function userRoutes(dependencies: PeopleDependencies): readonly Route<RouteRequest>[] {
  return [
    {
      method: 'GET',
      path: 'users',
      needs: 'admin',
      audited: null,
      handle: async () => {
        const names = namesOf(await dependencies.store.listProjects());
        const users = await dependencies.store.people.listUsers();
        const data = await Promise.all(
          users.map(async (user) => presentUser(user, await seenAtOf(dependencies, user), names)),
        );
        return json({ data, next_cursor: null } satisfies Listed<UserInfo>);
      },
    },
    {
      method: 'POST',
      path: 'users/:id',
      needs: 'admin',
      audited: { action: 'user.change', subject: idOf, detail: ({ body }) => accessGrantDetail(body) },
      handle: async ({ caller, params: { id = '' }, body }) => {
        const user = await changeUser(dependencies, id, readAccessGrant(body), caller.user);
        const names = namesOf(await dependencies.store.listProjects());
        return json(presentUser(user, await seenAtOf(dependencies, user), names));
      },
    },
    {
      method: 'POST',
      path: 'users/:id/remove',
      needs: 'admin',
      audited: { action: 'user.remove', subject: idOf },
      handle: async ({ caller, params: { id = '' } }) => {
        await removeUser(dependencies, id, caller.user);
        return json(DONE);
      },
    },
  ];
}

function invitationRoutes(dependencies: PeopleDependencies): readonly Route<RouteRequest>[] {
  return [
    {
      method: 'GET',
      path: 'invitations',
      needs: 'admin',
      audited: null,
      handle: async () => {
        const names = namesOf(await dependencies.store.listProjects());
        const open = await dependencies.store.people.listInvitations(dependencies.clock.now());
        const data = open.map((invitation) => presentInvitation(invitation, names));
        return json({ data, next_cursor: null } satisfies Listed<InvitationInfo>);
      },
    },
    {
      method: 'POST',
      path: 'invitations',
      needs: 'admin',
      audited: {
        action: 'invitation.create',
        subject: () => '',
        detail: ({ body }) => accessGrantDetail(body),
      },
      handle: async ({ caller, body }) => {
        const { invitation, token } = await invite(dependencies, {
          ...readAccessGrant(body),
          by: caller.user,
        });
        const names = namesOf(await dependencies.store.listProjects());
        const shown: NewInvitation = {
          ...presentInvitation(invitation, names),
          path: invitationPath(token),
        };
        return json(shown, 201, invitation.id);
      },
    },
    {
      method: 'POST',
      path: 'invitations/:id/remove',
      needs: 'admin',
      audited: { action: 'invitation.remove', subject: idOf },
      handle: async ({ caller, params: { id = '' } }) => {
        await removeInvitation(dependencies, id, caller.user);
        return json(DONE);
      },
    },
  ];
}

const idOf: AuditRule<RouteRequest>['subject'] = ({ params }) => params.id ?? '';

function readAccessGrant(body: JsonBody): AccessGrant {
  return { role: readText(body, 'role'), projects: readTexts(body, 'projects') };
}

function accessGrantDetail(body: JsonBody): AuditEntry['detail'] {
  const { role, projects } = readAccessGrant(body);
  return { role, projects: projects === null ? null : projects.join(', ') };
}

async function seenAtOf(dependencies: PeopleDependencies, user: User): Promise<Instant | null> {
  const [newest] = await openSessions(dependencies, user);
  return newest?.seenAt ?? null;
}
