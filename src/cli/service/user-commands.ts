import { type Command, Option } from 'commander';
import { CONTROL_SETTINGS, type Given, readControlSettings, readPublicOrigins } from '#src/app/config.ts';
import { withControl } from '#src/app/control-session.ts';
import { SettingsError } from '#src/app/failures.ts';
import { SETTINGS } from '#src/app/settings.ts';
import { addAction, addSettings, type CliDependencies } from '#src/cli/command.ts';
import { instantOr, table } from '#src/cli/terminal/output.ts';
import type { ControlDependencies } from '#src/control/dependencies.ts';
import { invitationPath, invite, removeInvitation } from '#src/control/invitations.ts';
import { openSessions } from '#src/control/sessions.ts';
import { COMMAND_LINE } from '#src/control/user-rules.ts';
import { removeUser } from '#src/control/users.ts';
import { parseId } from '#src/domain/id.ts';
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import { ROLES } from '#src/domain/role.ts';
import type { Invitation, ProjectScope, User } from '#src/ports/people-store.ts';
import { auditCommand } from './command-audit.ts';

const ROLE_DEFAULT = 'viewer';
const URL_DEFAULT = 'http://127.0.0.1:8080';
const EVERY_PROJECT = 'all';

/** Names of projects, by project id. */
type ProjectNames = ReadonlyMap<string, string>;

interface ListedUser {
  readonly user: User;
  readonly seenAt: Instant | null;
}

export function userCommands(program: Command, dependencies: CliDependencies): void {
  const users = program.command('user').description('Invite, list and remove users of the dashboard');

  const create = users
    .command('create')
    .description('Create an invitation and print its link once')
    .addOption(new Option('--role <role>', 'role of the user').choices(ROLES).default(ROLE_DEFAULT))
    .option('--projects <names>', 'projects of the user, separated by commas; default: all')
    .option(
      '--url <url>',
      `address of the dashboard; default: the first of ${SETTINGS.publicOrigins.env}, or ${URL_DEFAULT}`,
    );
  addAction(addSettings(create, CONTROL_SETTINGS), dependencies, (given) => createUser(given));

  const list = users.command('list').description('List the users and the open invitations');
  addAction(addSettings(list, CONTROL_SETTINGS), dependencies, (given) =>
    withControl(readControlSettings(given), async (control) => {
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
    }),
  );

  const remove = users
    .command('remove')
    .argument('<name>')
    .description('Remove a user by name, or an invitation by id');
  addAction(addSettings(remove, CONTROL_SETTINGS), dependencies, (given, who) =>
    withControl(readControlSettings(given), async (control) => {
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
    }),
  );
}

async function createUser(given: Given) {
  const { '--role': role = ROLE_DEFAULT, '--projects': listed, '--url': url } = given.flags;
  const base = baseOf(url ?? readPublicOrigins(given)?.[0] ?? URL_DEFAULT);
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
