/**
 * `GET search/deliveries`. What ended and what has a filter comes newest first. All that waits comes with the attempts
 * in flight first, then soonest first.
 */
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '#src/api/cursor.ts';
import { bound, choice, cursor, limit, optional, parsed } from '#src/control/http/fields.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '#src/domain/delivery.ts';
import { isTerminal } from '#src/domain/delivery-lifecycle.ts';
import { Refusal } from '#src/domain/errors.ts';
import { type DeliveryId, type IdKind, parseId } from '#src/domain/id.ts';
import { INSTANT_MS_MAX, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { DuePosition } from '#src/ports/insight-store.ts';
import { type DeliveryFilter, hasIndex } from '#src/ports/lists.ts';
import type { DataDependencies } from './dependencies.ts';
import { presentDeliveries } from './listed-deliveries.ts';

const GROUPS = ['waiting', 'ended', 'all'] as const;
type Group = (typeof GROUPS)[number];

function ofKind<K extends IdKind>(kind: K) {
  return optional(
    parsed(
      (text) => parseId(kind, text),
      (name) => `${name} must be an id with the prefix ${kind}_.`,
    ),
  );
}
const QUERY = z.object({
  group: choice(GROUPS),
  status: choice(DELIVERY_STATUSES),
  schedule_id: ofKind('sch'),
  endpoint_id: ofKind('ep'),
  created_after: bound('down'),
  created_before: bound('up'),
  cursor,
  limit,
});

const ONE_OWNER = 'Give either schedule_id or endpoint_id: there is no index for both.';

interface FoundPage {
  readonly ids: readonly DeliveryId[];
  /** The position after the last one; null at the end. */
  readonly next: string | null;
}

export function deliverySearchRoute({ commands, insight }: DataDependencies): ProjectRoute {
  const { store } = commands;

  /** Each status is one scan of an index, and the newest of all are taken. */
  async function newest(
    partition: Partition,
    statuses: readonly (DeliveryStatus | null)[],
    filter: Omit<DeliveryFilter, 'status'>,
    before: DeliveryId | null,
    rows: number,
  ): Promise<FoundPage> {
    const scans = await Promise.all(
      statuses.map((status) =>
        store.listDeliveries(partition, { ...filter, status }, { before, limit: rows + 1 }),
      ),
    );
    const found = scans.flat().map(({ id }) => id);
    found.sort((one, other) => (one < other ? 1 : -1));
    const ids = found.slice(0, rows);
    return { ids, next: found.length > rows ? (ids.at(-1) ?? null) : null };
  }

  async function soonest(partition: Partition, after: DuePosition | null, rows: number): Promise<FoundPage> {
    const inFlight =
      after === null ? await store.listDeliveries(partition, IN_FLIGHT, { before: null, limit: rows }) : [];
    const upcoming = await insight.listUpcoming(
      partition,
      after ?? FIRST_DUE,
      LAST_DUE,
      rows - inFlight.length + 1,
    );
    const due = upcoming.slice(0, rows - inFlight.length).map(({ delivery }) => delivery);
    const last = due.at(-1);
    const hasMore = upcoming.length > due.length;
    return {
      ids: [...inFlight, ...due].map(({ id }) => id),
      next: hasMore ? (last === undefined ? NO_DUE_YET : `${last.dueAt}/${last.id}`) : null,
    };
  }

  return projectRoute('GET search/deliveries', {
    needs: 'viewer',
    query: QUERY,
    handle: async ({ query, partition, mode }) => {
      const { group: wanted, status, limit: rows, cursor, ...times } = query;
      const group = wanted ?? 'all';
      const list = { partition, name: `search deliveries ${JSON.stringify([group, status, times])}` };
      const filter = {
        scheduleId: times.schedule_id,
        endpointId: times.endpoint_id,
        createdAfter: times.created_after,
        createdBefore: times.created_before,
      };
      if (!hasIndex({ ...filter, status })) throw new Refusal('invalid_request', 'endpoint_id', ONE_OWNER);
      const isFiltered = status !== null || Object.values(filter).some((value) => value !== null);
      const found =
        group === 'waiting' && !isFiltered
          ? await soonest(partition, cursor === null ? null : decodeCursor(list, cursor, duePosition), rows)
          : await newest(
              partition,
              statusesOf(group, status),
              filter,
              cursor === null ? null : decodeCursor(list, cursor, (text) => parseId('dlv', text)),
              rows,
            );
      const shown = await presentDeliveries(commands, { partition, mode }, found.ids);
      return json({
        data: shown.filter((one) => one !== null),
        next_cursor: found.next === null ? null : encodeCursor(list, found.next),
      });
    },
  });
}

const IN_FLIGHT = { status: 'claimed', scheduleId: null, createdAfter: null, createdBefore: null } as const;
const FIRST_DUE: DuePosition = { dueAt: instant(0), id: '' };
const LAST_DUE = instant(INSTANT_MS_MAX);
/** A page full of attempts in flight. */
const NO_DUE_YET = '0/';

function duePosition(text: string): DuePosition | null {
  const [, dueAt, id] = /^(0|[1-9]\d{0,14})\/(.*)$/.exec(text) ?? [];
  if (dueAt === undefined || id === undefined) return null;
  const parsedId = id === '' ? '' : parseId('dlv', id);
  return parsedId === null ? null : { dueAt: instant(Number(dueAt)), id: parsedId };
}

/** Null: of any status. */
function statusesOf(group: Group, status: DeliveryStatus | null): readonly (DeliveryStatus | null)[] {
  if (group === 'all') return [status];
  return DELIVERY_STATUSES.filter(
    (one) => isTerminal(one) === (group === 'ended') && (status === null || status === one),
  );
}
