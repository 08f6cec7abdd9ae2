/** The work of `sched project`. */
import { type Given, readControlSettings } from '#src/app/config.ts';
import { withControl, withSecrets } from '#src/app/control-session.ts';
import { type Answer, table } from '#src/cli/terminal/output.ts';
import { createProject } from '#src/control/bootstrap.ts';
import { formatInstant } from '#src/domain/instant.ts';
import type { Project } from '#src/ports/control-store.ts';
import { auditCommand } from './command-audit.ts';

export async function runCreate(given: Given, name: string): Promise<Answer> {
  const project = await withSecrets(
    readControlSettings(given),
    (control) =>
      auditCommand(control, { action: 'project.create', subject: name }, () => createProject(control, name)),
    true,
  );
  return {
    json: jsonOf(project),
    text: `Project ${project.name} is created. Next: sched key create --project ${name} --mode test`,
  };
}

export async function runList(given: Given): Promise<Answer> {
  const all = await withControl(readControlSettings(given), ({ store }) => store.listProjects());
  const rows = all.map((project) => [
    project.name,
    project.id,
    project.pinnedVersion,
    formatInstant(project.createdAt),
  ]);
  return { json: all.map(jsonOf), text: table([['NAME', 'ID', 'VERSION', 'CREATED'], ...rows]) };
}

function jsonOf({ id, name, pinnedVersion, createdAt }: Project) {
  return { id, name, version: pinnedVersion, created_at: formatInstant(createdAt) };
}
