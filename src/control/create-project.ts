import { MODES } from '#src/domain/partition.ts';
import type { Project } from '#src/ports/control-store.ts';
import type { SealingDependencies } from './dependencies.ts';
import { addProject } from './projects.ts';
import { ensureSecret } from './secrets.ts';

/** A project that can sign in both modes. Should this die halfway, the next start of the service adds the rest. */
export async function createProject(dependencies: SealingDependencies, name: string): Promise<Project> {
  const project = await addProject(dependencies, name);
  for (const mode of MODES) await ensureSecret(dependencies, project, mode);
  return project;
}
