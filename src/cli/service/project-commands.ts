import type { Command } from 'commander';
import type { CliDependencies } from '#src/cli/command.ts';
import { addAction } from './service-options.ts';

export function projectCommands(projects: Command, dependencies: CliDependencies): void {
  const actions = () => import('./project-actions.ts');

  const create = projects.command('create').argument('<name>').description('Create a project');
  addAction(create, dependencies, async (given, name) => (await actions()).runCreate(given, name));

  const list = projects.command('list').description('List the projects');
  addAction(list, dependencies, async (given) => (await actions()).runList(given));
}
