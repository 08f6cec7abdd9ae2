/**
 * Checks that nothing else is stored: the counts at every pause, every list at the end, and the database
 * file.
 */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import Database from 'better-sqlite3';
import type { DeliveryResource, EndpointResource, ScheduleResource } from '#src/api/contract/resources.ts';
import { ensure } from './checks.ts';
import { checkSchedule, mayHaveFired } from './effects.ts';
import type { Model, Totals } from './model.ts';

export const DATABASE_FILE = 'sched.db';

export function storedTotals(
  dataDir: string,
): Totals & { readonly deliveries: number; readonly abandoned: number } {
  const db = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
  try {
    const count = (sql: string) => Number(db.prepare(sql).pluck().get());
    db.exec('BEGIN');
    return {
      schedules: count('SELECT count(*) FROM schedules'),
      endpoints: count('SELECT count(*) FROM endpoint_profiles'),
      endpointVersions: count('SELECT count(*) FROM endpoint_profile_versions'),
      payloads: count('SELECT count(*) FROM payloads'),
      receipts: count('SELECT count(*) FROM receipts'),
      deliveries: count('SELECT count(*) FROM deliveries WHERE replay_of IS NULL'),
      abandoned: count("SELECT count(*) FROM schedules WHERE idempotency_key GLOB 'abandoned-*'"),
    };
  } finally {
    db.close();
  }
}

/** Compares the stored counts with the accepted requests, while no request is in flight. */
export function checkTotals(dataDir: string, model: Model): void {
  const stored = storedTotals(dataDir);
  const { totals } = model;
  const counts = `stored ${JSON.stringify(stored)}, accepted ${JSON.stringify(totals)}`;
  ensure(stored.schedules - stored.abandoned === totals.schedules, `schedules: ${counts}`);
  ensure(stored.deliveries >= stored.schedules, `deliveries: ${counts}`);
  ensure(stored.endpoints === totals.endpoints, `endpoints: ${counts}`);
  ensure(stored.endpointVersions === totals.endpointVersions, `endpoint versions: ${counts}`);
  ensure(stored.receipts === totals.receipts, `receipts: ${counts}`);
  ensure(
    stored.payloads >= totals.payloads && stored.payloads <= totals.payloads + stored.abandoned,
    `payloads: ${counts}`,
  );
}

interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

async function walk<T>(url: string, key: string, path: string): Promise<readonly T[]> {
  const items: T[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer: Response = await fetch(
      `${url}/v1${path}${path.includes('?') ? '&' : '?'}limit=100&cursor=${cursor}`,
      {
        headers: { authorization: `Bearer ${key}` },
      },
    );
    ensure(answer.status === 200, `${path} answered ${answer.status}`);
    const page = (await answer.json()) as Page<T>;
    items.push(...page.data);
    cursor = page.next_cursor;
  }
  return items;
}

export interface Stored {
  readonly schedules: number;
  readonly abandoned: number;
  readonly endpoints: number;
  readonly deliveries: number;
}

/** Walks every list to its end and expects exactly the accepted objects. */
export async function checkLists(
  url: string,
  keys: { readonly test: string; readonly live: string },
  model: Model,
): Promise<Stored> {
  const schedules = await walk<ScheduleResource>(url, keys.test, '/schedules');
  const clientOf = new Map(
    model.clients.flatMap((client) => client.schedules.map(({ json }) => [json.id, client] as const)),
  );
  let abandoned = 0;
  for (const json of schedules) {
    const client = clientOf.get(json.id);
    if (client === undefined) {
      ensure(
        model.abandoned.has(json.idempotency_key ?? ''),
        `schedule ${json.id} was never accepted: ${JSON.stringify(json).slice(0, 500)}`,
      );
      abandoned += 1;
      continue;
    }
    checkSchedule(client, json);
  }
  ensure(
    schedules.length - abandoned === clientOf.size,
    `${clientOf.size} schedules accepted, ${schedules.length - abandoned} stored`,
  );
  ensure(new Set(schedules.map(({ id }) => id)).size === schedules.length, 'a schedule is listed twice');

  const endpoints = await walk<EndpointResource>(url, keys.test, '/endpoints?include_archived=true');
  const accepted = new Map(
    model.clients.flatMap((client) => client.endpoints.map(({ json }) => [json.id, json] as const)),
  );
  ensure(
    endpoints.length === accepted.size,
    `${accepted.size} endpoints accepted, ${endpoints.length} stored`,
  );
  for (const json of endpoints) {
    ensure(
      isDeepStrictEqual(json, accepted.get(json.id)),
      `endpoint ${json.id} is not as its last answer showed it`,
    );
  }

  const deliveries = await walk<DeliveryResource>(url, keys.test, '/deliveries');
  checkDeliveries(schedules, deliveries);
  for (const path of ['/schedules', '/endpoints', '/deliveries']) {
    ensure((await walk(url, keys.live, path)).length === 0, `${path} of the other mode is not empty`);
  }
  return {
    schedules: schedules.length,
    abandoned,
    endpoints: endpoints.length,
    deliveries: deliveries.length,
  };
}

/** Every schedule has the one delivery that it was created with, and every delivery has a schedule. */
function checkDeliveries(
  schedules: readonly ScheduleResource[],
  deliveries: readonly DeliveryResource[],
): void {
  const bySchedule = new Map(schedules.map((schedule) => [schedule.id, { schedule, count: 0 }]));
  for (const delivery of deliveries) {
    const entry = bySchedule.get(delivery.schedule_id ?? '');
    ensure(entry !== undefined, `delivery ${delivery.id} has no schedule`);
    entry.count += 1;
  }
  for (const { schedule, count } of bySchedule.values()) {
    ensure(
      count === 1 || (count > 1 && schedule.kind === 'recurring') || mayHaveFired(schedule),
      `schedule ${schedule.id} has ${count} deliveries`,
    );
  }
}

/** Returns `ok`, or what SQLite found. */
export function integrityOf(dataDir: string): string {
  const db = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
  try {
    return String(db.pragma('integrity_check', { simple: true }));
  } finally {
    db.close();
  }
}
