import type { Command } from 'commander';
import { CONTROL_SETTINGS, readControlSettings } from '#src/app/config.ts';
import { withControl, withSecrets } from '#src/app/control-session.ts';
import { addAction, addSettings, type CliDependencies } from '#src/cli/command.ts';
import { table } from '#src/cli/terminal/output.ts';
import { createProject } from '#src/control/bootstrap.ts';
import { formatInstant } from '#src/domain/instant.ts';
import type { Project } from '#src/ports/control-store.ts';
import { auditCommand } from './command-audit.ts';

export function projectCommands(program: Command, dependencies: CliDependencies): void {
  const projects = program
    .command('project')
    .description('Create and list projects, each with its own keys, secrets and data');

  const create = projects.command('create').argument('<name>').description('Create a project');
  addAction(addSettings(create, CONTROL_SETTINGS), dependencies, async (given, name) => {
    const project = await withSecrets(
      readControlSettings(given),
      (control) =>
        auditCommand(control, { action: 'project.create', subject: name }, () =>
          createProject(control, name),
        ),
      true,
    );
    return {
      json: jsonOf(project),
      text: `Project ${project.name} is created. Next: sched key create --project ${name} --mode test`,
    };
  });

  const list = projects.command('list').description('List the projects');
  addAction(addSettings(list, CONTROL_SETTINGS), dependencies, async (given) => {
    const all = await withControl(readControlSettings(given), ({ store }) => store.listProjects());
    const rows = all.map((project) => [
      project.name,
      project.id,
      project.pinnedVersion,
      formatInstant(project.createdAt),
    ]);
    return { json: all.map(jsonOf), text: table([['NAME', 'ID', 'VERSION', 'CREATED'], ...rows]) };
  });
}

function jsonOf({ id, name, pinnedVersion, createdAt }: Project) {
  return { id, name, version: pinnedVersion, created_at: formatInstant(createdAt) };
}
