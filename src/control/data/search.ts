/**
 * `GET search/schedules`. The search text is an id, or labels written `name=value` together with a part of the
 * destination. The id of a delivery finds its schedule. The id of an endpoint profile stands for its URL.
 */

import { z } from 'zod';
import type { ScheduleResource } from '#src/api/contract/resources.ts';
import { decodeCursor, encodeCursor } from '#src/api/cursor.ts';
import { presentSchedule } from '#src/api/present.ts';
import type { ScheduleSearchPage } from '#src/control/http/data-contract.ts';
import { choice, cursor, limit, optional } from '#src/control/http/fields.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { Refusal } from '#src/domain/errors.ts';
import { parseId, type ScheduleId } from '#src/domain/id.ts';
import { LABELS_MAX, type Labels } from '#src/domain/labels.ts';
import type { Mode, Partition } from '#src/domain/project.ts';
import { maySeeQueries, withHiddenQuery } from '#src/domain/role.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
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
      if (wanted.kind === 'id') return json(await byId(store, partition, mode, wanted.id));
      const profileId = parseId('ep', wanted.destination ?? '');
      const profile = profileId === null ? null : await store.findProfile(partition, profileId);
      // A viewer searches what they are shown. Otherwise they could guess a query one character at a time.
      const hidesQueries = !maySeeQueries(caller.user.role);
      const url = profile && (hidesQueries ? withHiddenQuery(profile.url) : profile.url);
      const list = { partition, name: `search ${JSON.stringify([text, state, kind])}` };
      const before = cursor === null ? null : decodeCursor(list, cursor, (id) => parseId('sch', id));
      const { found, next, scanned } = await insight.searchSchedules(
        partition,
        { state, kind, labels: wanted.labels, destination: url ?? wanted.destination, hidesQueries },
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
  // The rest of the text is a part of the destination, which contains no spaces.
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

async function byId(
  store: Pick<Store, 'findSchedule' | 'findDelivery'>,
  partition: Partition,
  mode: Mode,
  id: string,
): Promise<ScheduleSearchPage<ScheduleResource>> {
  const scheduleId = await scheduleIdOf(store, partition, id);
  const view = scheduleId === null ? null : await store.findSchedule(partition, scheduleId);
  return {
    data: view === null ? [] : [presentSchedule(view, mode)],
    next_cursor: null,
    scanned: view === null ? 0 : 1,
  };
}

async function scheduleIdOf(
  store: Pick<Store, 'findDelivery'>,
  partition: Partition,
  id: string,
): Promise<ScheduleId | null> {
  const deliveryId = parseId('dlv', id);
  if (deliveryId === null) return parseId('sch', id);
  return (await store.findDelivery(partition, deliveryId))?.scheduleId ?? null;
}
