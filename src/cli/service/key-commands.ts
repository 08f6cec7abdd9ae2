import type { Command } from 'commander';
import type { CliDependencies } from '#src/cli/command.ts';
import { addAction, addModeOption, addProjectOption } from './service-options.ts';

export function keyCommands(keys: Command, dependencies: CliDependencies): void {
  const actions = () => import('./key-actions.ts');

  const create = addProjectOption(keys.command('create').description('Create an API key and print it once'));
  addAction(addModeOption(create), dependencies, async (given) => (await actions()).runCreate(given));

  const list = addProjectOption(
    keys.command('list').description('List the API keys of a project, including revoked ones'),
  );
  addAction(list, dependencies, async (given) => (await actions()).runList(given));

  const revoke = keys.command('revoke').argument('<id>').description('Revoke an API key for good');
  addAction(revoke, dependencies, async (given, id) => (await actions()).runRevoke(given, id));
}
