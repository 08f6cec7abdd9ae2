/** The routes that concern the whole installation: facts about it, and its audit log, newest entry first. */
import { decodeCursor, encodeCursor, type List } from '#src/api/cursor.ts';
import { readLimit, readText } from '#src/api/query.ts';
import type { PeopleDependencies } from '#src/control/dependencies.ts';
import type { About, AuditLine, Listed } from '#src/control/http/contract.ts';
import { namesOf, presentAudit } from '#src/control/http/present.ts';
import { json, type Route, type RouteRequest } from '#src/control/http/route.ts';
import { Refusal } from '#src/domain/errors.ts';
import { parseId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Project } from '#src/ports/control-store.ts';
import type { AuditFilter } from '#src/ports/people-store.ts';

/** The audit log belongs to no partition. */
const LIST: List = { partition: 0 as Partition, name: 'audit log' };
/** The beginning of an action, such as `schedule.`. */
const ACTION = /^[a-z_.]{1,64}$/;

export function aboutRoutes(about: About): readonly Route<RouteRequest>[] {
  return [
    {
      method: 'GET',
      path: 'about',
      needs: 'viewer',
      audited: null,
      handle: async () => json(about),
    },
  ];
}

export function auditRoutes(dependencies: PeopleDependencies): readonly Route<RouteRequest>[] {
  return [
    {
      method: 'GET',
      path: 'audit',
      needs: 'admin',
      audited: null,
      handle: async ({ query }) => {
        const projects = await dependencies.store.listProjects();
        const filter = readFilter(query, projects);
        const cursor = readText(query, 'cursor');
        const before = cursor === null ? null : decodeCursor(LIST, cursor, (text) => parseId('aud', text));
        const limit = readLimit(query);
        // One entry more than the page shows whether there is a next page.
        const found = await dependencies.store.people.listAudit(filter, before, limit + 1);
        const shown = found.slice(0, limit);
        const last = found.length > limit ? shown.at(-1) : undefined;
        const names = namesOf(projects);
        const page: Listed<AuditLine> = {
          data: shown.map((entry) => presentAudit(entry, names)),
          next_cursor: last === undefined ? null : encodeCursor(LIST, last.id),
        };
        return json(page);
      },
    },
  ];
}

function readFilter(query: URLSearchParams, projects: readonly Project[]): AuditFilter {
  return {
    userId: readNamed(query, 'user', (text) => parseId('usr', text)),
    projectId: readNamed(query, 'project', (text) => projects.find(({ name }) => name === text)?.id ?? null),
    action: readNamed(query, 'action', (text) => (ACTION.test(text) ? text : null)),
  };
}

/** Refuses an invalid value. Ignoring it would show entries that the user did not ask for. */
function readNamed<T>(query: URLSearchParams, name: string, read: (text: string) => T | null): T | null {
  const text = readText(query, name);
  if (text === null) return null;
  const value = read(text);
  if (value === null) throw new Refusal('invalid_request', name);
  return value;
}
