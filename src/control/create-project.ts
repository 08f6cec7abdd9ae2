import { MODES } from '#src/domain/partition.ts';
import type { Project } from '#src/ports/control-store.ts';
import { addProject } from './projects.ts';
import { ensureSecret } from './secrets.ts';
import type { SealingWorld } from './world.ts';

/** A project that can sign in both modes. Should this die halfway, the next start of the service adds the rest. */
export async function createProject(world: SealingWorld, name: string): Promise<Project> {
  const project = await addProject(world, name);
  for (const mode of MODES) await ensureSecret(world, project, mode);
  return project;
}
