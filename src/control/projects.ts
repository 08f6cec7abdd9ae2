import { CURRENT_VERSION } from '#src/domain/project.ts';
import type { ControlStore, Project } from '#src/ports/control-store.ts';
import type { ControlDependencies } from './dependencies.ts';
import { ControlRefusal } from './refusal.ts';

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export async function requireProject(store: ControlStore, name: string): Promise<Project> {
  const project = await store.findProject(name);
  if (project === null) throw new ControlRefusal('unknown_project', name);
  return project;
}

/** Adds a project with its two partitions, still without keys and secrets. */
export async function addProject(dependencies: ControlDependencies, name: string): Promise<Project> {
  if (!NAME.test(name)) throw new ControlRefusal('invalid_project_name', name);
  const now = dependencies.clock.now();
  const project = await dependencies.store.addProject({
    id: dependencies.ids.mint('prj', now),
    name,
    pinnedVersion: CURRENT_VERSION,
    createdAt: now,
  });
  if (project === 'taken') throw new ControlRefusal('project_exists', name);
  return project;
}
