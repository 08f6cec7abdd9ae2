/** The work of `sched user`. */
import { type Given, readControlSettings, readPublicOrigins } from '#src/app/config.ts';
import { withControl } from '#src/app/control-session.ts';
import { SettingsError } from '#src/app/failures.ts';
import { type Answer, instantOr, table } from '#src/cli/terminal/output.ts';
import type { ControlDependencies } from '#src/control/dependencies.ts';
import { invitationPath, invite, removeInvitation } from '#src/control/invitations.ts';
import { openSessions } from '#src/control/sessions.ts';
import { COMMAND_LINE } from '#src/control/user-rules.ts';
import { removeUser } from '#src/control/users.ts';
import { parseId } from '#src/domain/id.ts';
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import type { Invitation, ProjectScope, User } from '#src/ports/people-store.ts';
import { auditCommand } from './command-audit.ts';

const EVERY_PROJECT = 'all';

/** Names of projects, by project id. */
type ProjectNames = ReadonlyMap<string, string>;

interface ListedUser {
  readonly user: User;
  readonly seenAt: Instant | null;
}

export async function runCreate(given: Given, urlDefault: string): Promise<Answer> {
  const { '--role': role = '', '--projects': listed, '--url': url } = given.flags;
  const base = baseOf(url ?? readPublicOrigins(given)?.[0] ?? urlDefault);
  const projects = listed === undefined ? null : listed.split(',').map((name) => name.trim());
  return withControl(readControlSettings(given), async (control) => {
    const detail = { role, projects: projects === null ? null : projects.join(', ') };
    const { invitation, token } = await auditCommand(
      control,
      { action: 'invitation.create', detail },
      () => invite(control, { role, projects, by: COMMAND_LINE }),
      (made) => made.invitation.id,
    );
    const link = `${base}${invitationPath(token)}`;
    const until = formatInstant(invitation.expiresAt);
    return {
      json: { ...invitationJson(invitation, await namesOf(control)), link },
      text: `An invitation with the role ${role} is created. It is valid until ${until}. The link is not shown again:\n\n  ${link}\n`,
    };
  });
}

export function runList(given: Given): Promise<Answer> {
  return withControl(readControlSettings(given), async (control) => {
    const names = await namesOf(control);
    const users = await Promise.all(
      (await control.store.people.listUsers()).map((user) => readUser(control, user)),
    );
    const invitations = await control.store.people.listInvitations(control.clock.now());
    return {
      json: {
        users: users.map((user) => userJson(user, names)),
        invitations: invitations.map((invitation) => invitationJson(invitation, names)),
      },
      text: [userTable(users, names), ...invitationTable(invitations, names)].join('\n\n'),
    };
  });
}

export function runRemove(given: Given, who: string): Promise<Answer> {
  return withControl(readControlSettings(given), async (control) => {
    if (parseId('inv', who) !== null) {
      await auditCommand(control, { action: 'invitation.remove', subject: who }, () =>
        removeInvitation(control, who, COMMAND_LINE),
      );
      return { json: { id: who, removed: true }, text: `Invitation ${who} is removed.` };
    }
    const { id, name } = await auditCommand(control, { action: 'user.remove', subject: who }, () =>
      removeUser(control, who, COMMAND_LINE),
    );
    return {
      json: { id, name, removed: true },
      text: `User ${name} is removed and signed out everywhere.`,
    };
  });
}

/** The address of the dashboard. A service may be reached below a path. */
function baseOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new SettingsError('--url must be an address such as https://sched.example.com.');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

async function namesOf({ store }: ControlDependencies): Promise<ProjectNames> {
  return new Map((await store.listProjects()).map(({ id, name }) => [id, name]));
}

async function readUser(control: ControlDependencies, user: User): Promise<ListedUser> {
  const [newest] = await openSessions(control, user);
  return { user, seenAt: newest?.seenAt ?? null };
}

function projectsOf(scope: ProjectScope, names: ProjectNames): readonly string[] | null {
  return scope === null ? null : scope.map((id) => names.get(id) ?? id);
}

function userTable(users: readonly ListedUser[], names: ProjectNames): string {
  const rows = users.map(({ user, seenAt }) => [
    user.name,
    user.role,
    projectsOf(user.projects, names)?.join(', ') ?? EVERY_PROJECT,
    formatInstant(user.createdAt),
    instantOr(seenAt, '-'),
  ]);
  return table([['NAME', 'ROLE', 'PROJECTS', 'CREATED', 'LAST SEEN'], ...rows]);
}

function invitationTable(invitations: readonly Invitation[], names: ProjectNames): readonly string[] {
  if (invitations.length === 0) return [];
  const rows = invitations.map((invitation) => [
    invitation.id,
    invitation.role,
    projectsOf(invitation.projects, names)?.join(', ') ?? EVERY_PROJECT,
    invitation.createdBy,
    formatInstant(invitation.expiresAt),
  ]);
  return [table([['INVITATION', 'ROLE', 'PROJECTS', 'BY', 'VALID UNTIL'], ...rows])];
}

function userJson({ user, seenAt }: ListedUser, names: ProjectNames) {
  return {
    id: user.id,
    name: user.name,
    role: user.role,
    projects: projectsOf(user.projects, names),
    created_at: formatInstant(user.createdAt),
    seen_at: seenAt === null ? null : formatInstant(seenAt),
  };
}

function invitationJson(invitation: Invitation, names: ProjectNames) {
  return {
    id: invitation.id,
    role: invitation.role,
    projects: projectsOf(invitation.projects, names),
    created_by: invitation.createdBy,
    created_at: formatInstant(invitation.createdAt),
    expires_at: formatInstant(invitation.expiresAt),
  };
}
