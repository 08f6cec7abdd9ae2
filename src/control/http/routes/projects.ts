/** Projects. A user sees those in their scope. Only an admin of every project creates new ones. */
import { z } from 'zod';
import { createProject } from '#src/control/bootstrap.ts';
import type { ControlDependencies, SealingDependencies } from '#src/control/dependencies.ts';
import { canSeeProject } from '#src/control/http/authorize.ts';
import { text } from '#src/control/http/fields.ts';
import { presentProject } from '#src/control/http/present.ts';
import { json, list, route, type UserRoute } from '#src/control/http/route.ts';
import type { Project } from '#src/ports/control-store.ts';
import type { User } from '#src/ports/people-store.ts';

export async function projectsOf(dependencies: ControlDependencies, user: User): Promise<readonly Project[]> {
  return (await dependencies.store.listProjects()).filter((project) => canSeeProject(user, project));
}

export function projectRoutes(dependencies: SealingDependencies): readonly UserRoute[] {
  return [
    route('GET projects', {
      needs: 'viewer',
      handle: async ({ caller }) => list((await projectsOf(dependencies, caller.user)).map(presentProject)),
    }),
    route('POST projects', {
      needs: 'admin',
      body: z.strictObject({ name: text }),
      audited: { action: 'project.create', subject: ({ body }) => body.name },
      handle: async ({ body: { name } }) => {
        const project = await createProject(dependencies, name);
        return json(presentProject(project), 201, project.name);
      },
    }),
  ];
}
