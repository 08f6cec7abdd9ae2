/**
 * `GET search/schedules`. The search text is an id, or labels written `name=value` together with a part of the name or
 * of the destination. The id of a delivery finds its schedule. The id of an endpoint profile stands for its URL.
 */

import { z } from 'zod';
import { decodeCursor, encodeCursor } from '#src/api/cursor.ts';
import { presentSchedule } from '#src/api/present.ts';
import { choice, cursor, limit, optional } from '#src/control/http/fields.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { Refusal } from '#src/domain/errors.ts';
import { parseId } from '#src/domain/id.ts';
import { LABELS_MAX, type Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import { maySeeQueries, withHiddenQuery } from '#src/domain/role.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES, type ScheduleView } from '#src/domain/schedule.ts';
import type { Store } from '#src/ports/store.ts';
import type { DataDependencies } from './dependencies.ts';

const TEXT_CHARACTERS_MAX = 512;
const QUERY = z.object({
  q: optional(
    z.string().trim().max(TEXT_CHARACTERS_MAX, `q may have at most ${TEXT_CHARACTERS_MAX} characters.`),
  ),
  state: choice(SCHEDULE_STATES),
  kind: choice(SCHEDULE_KINDS),
  cursor,
  limit,
});
/** Schedules that one request scans. The next page continues from there, even if nothing matched. */
const SCANNED_MAX = 10_000;

export function searchRoute({ commands: { store }, insight }: DataDependencies): ProjectRoute {
  return projectRoute('GET search/schedules', {
    needs: 'viewer',
    query: QUERY,
    handle: async ({ caller, query: { q, state, kind, cursor, limit }, partition, mode }) => {
      const text = q ?? '';
      const wanted = parseSearch(text);
      if (wanted.kind === 'id') {
        const view = await findById(store, partition, wanted.id);
        const data = view === null ? [] : [presentSchedule(view, mode)];
        return json({ data, next_cursor: null, scanned: data.length });
      }
      const profileId = parseId('ep', wanted.destination ?? '');
      const profile = profileId === null ? null : await store.findProfile(partition, profileId);
      // A viewer searches what they are shown. Otherwise they could guess a query one character at a time.
      const hidesQueries = !maySeeQueries(caller.user.role);
      const url = profile && (hidesQueries ? withHiddenQuery(profile.url) : profile.url);
      const list = { partition, name: `search ${JSON.stringify([text, state, kind])}` };
      const before = cursor === null ? null : decodeCursor(list, cursor, (id) => parseId('sch', id));
      const { found, next, scanned } = await insight.searchSchedules(
        partition,
        {
          state,
          kind,
          labels: wanted.labels,
          destination: url ?? wanted.destination,
          inNames: true,
          hidesQueries,
        },
        { before, limit },
        SCANNED_MAX,
      );
      return json({
        data: found.map((view) => presentSchedule(view, mode)),
        next_cursor: next === null ? null : encodeCursor(list, next),
        scanned,
      });
    },
  });
}

export type Search =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'search'; readonly labels: Labels; readonly destination: string | null };

const ID = /^(?:sch|dlv)_[0-9a-z]{26}$/;
/** A value with spaces is written in quotes. A URL is not a label, though its query may look like one. */
const LABEL = /(^|\s)([^\s=?"]+)=(?:"([^"]*)"|([^\s"]+))(?=\s|$)/g;

export function parseSearch(text: string): Search {
  if (ID.test(text)) return { kind: 'id', id: text };
  const labels: (readonly [string, string])[] = [];
  // The rest of the text is a part of the name or of the destination, which contain no spaces.
  const rest = text.replaceAll(
    LABEL,
    (whole, before: string, name: string, quoted?: string, plain?: string) => {
      if (whole.includes('://')) return whole;
      labels.push([name, quoted ?? plain ?? '']);
      return before;
    },
  );
  if (labels.length > LABELS_MAX)
    throw new Refusal('invalid_request', 'q', `q may have at most ${LABELS_MAX} labels.`);
  return { kind: 'search', labels, destination: rest.trim() === '' ? null : rest.trim() };
}

async function findById(
  store: Pick<Store, 'findSchedule' | 'findDelivery'>,
  partition: Partition,
  id: string,
): Promise<ScheduleView | null> {
  const deliveryId = parseId('dlv', id);
  const delivery = deliveryId === null ? null : await store.findDelivery(partition, deliveryId);
  const scheduleId = delivery?.scheduleId ?? parseId('sch', id);
  return scheduleId === null ? null : store.findSchedule(partition, scheduleId);
}
