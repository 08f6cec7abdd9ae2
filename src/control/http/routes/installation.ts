/** The routes that concern the whole installation: facts about it, and its audit log, newest entry first. */
import { z } from 'zod';
import { decodeCursor, encodeCursor, type List } from '#src/api/cursor.ts';
import type { PeopleDependencies } from '#src/control/dependencies.ts';
import type { About } from '#src/control/http/contract.ts';
import { cursor, idOf, limit, optional, parsed } from '#src/control/http/fields.ts';
import { namesOf, presentAudit } from '#src/control/http/present.ts';
import { json, route, type UserRoute } from '#src/control/http/route.ts';
import { Refusal } from '#src/domain/errors.ts';
import { type ProjectId, parseId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Project } from '#src/ports/control-store.ts';

/** The audit log belongs to no partition. */
const LIST: List = { partition: 0 as Partition, name: 'audit log' };
/** The beginning of an action, such as `schedule.`. */
const ACTION = /^[a-z_.]{1,64}$/;
const AUDIT_QUERY = z.object({
  user: optional(idOf('usr')),
  project: optional(z.string()),
  action: optional(
    parsed(
      (text) => (ACTION.test(text) ? text : null),
      (name) => `${name} must be the beginning of an action, such as schedule.pause.`,
    ),
  ),
  cursor,
  limit,
});

export function installationRoutes(dependencies: PeopleDependencies, about: About): readonly UserRoute[] {
  return [
    route('GET about', {
      needs: 'viewer',
      handle: async () => json(about),
    }),
    route('GET audit', {
      needs: 'admin',
      query: AUDIT_QUERY,
      handle: async ({ query: { user, project, action, cursor, limit } }) => {
        const projects = await dependencies.store.listProjects();
        const filter = { userId: user, projectId: projectIdOf(project, projects), action };
        const before = cursor === null ? null : decodeCursor(LIST, cursor, (text) => parseId('aud', text));
        // One entry more than the page shows whether there is a next page.
        const found = await dependencies.store.people.listAudit(filter, before, limit + 1);
        const shown = found.slice(0, limit);
        const last = found.length > limit ? shown.at(-1) : undefined;
        const names = namesOf(projects);
        return json({
          data: shown.map((entry) => presentAudit(entry, names)),
          next_cursor: last === undefined ? null : encodeCursor(LIST, last.id),
        });
      },
    }),
  ];
}

/** Refuses an unknown project. Ignoring it would show entries that the user did not ask for. */
function projectIdOf(name: string | null, projects: readonly Project[]): ProjectId | null {
  if (name === null) return null;
  const project = projects.find((each) => each.name === name);
  if (project === undefined)
    throw new Refusal('invalid_request', 'project', 'project must be the name of a project.');
  return project.id;
}
