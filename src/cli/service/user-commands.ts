import { type Command, Option } from 'commander';
import { SETTINGS } from '#src/app/settings.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { ROLES } from '#src/domain/role.ts';
import { addAction } from './service-options.ts';

const ROLE_DEFAULT = 'viewer';
const URL_DEFAULT = 'http://127.0.0.1:8080';

export function userCommands(users: Command, dependencies: CliDependencies): void {
  const actions = () => import('./user-actions.ts');

  const create = users
    .command('create')
    .description('Create an invitation and print its link once')
    .addOption(new Option('--role <role>', 'role of the user').choices(ROLES).default(ROLE_DEFAULT))
    .option('--projects <names>', 'projects of the user, separated by commas; default: all')
    .option(
      '--url <url>',
      `address of the dashboard; default: the first of ${SETTINGS.publicOrigins.env}, or ${URL_DEFAULT}`,
    );
  addAction(create, dependencies, async (given) => (await actions()).runCreate(given, URL_DEFAULT));

  const list = users.command('list').description('List the users and the open invitations');
  addAction(list, dependencies, async (given) => (await actions()).runList(given));

  const remove = users
    .command('remove')
    .argument('<name>')
    .description('Remove a user by name, or an invitation by id');
  addAction(remove, dependencies, async (given, who) => (await actions()).runRemove(given, who));
}
