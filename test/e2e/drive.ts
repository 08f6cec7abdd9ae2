/**
 * Moves deliveries as the engine does: by the rules of the domain, through the verbs of the store, on a second
 * connection beside the running service. A delivery is claimed at its due instant by a virtual time, so that tests
 * do not have to wait.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { type ControlSettings, readControlSettings } from '#src/app/config.ts';
import { openStore } from '#src/app/open-store.ts';
import { openVault } from '#src/app/open-vault.ts';
import { type Delivery, isInFlight } from '#src/domain/delivery.ts';
import { type AttemptResult, endUnsent, move, settle } from '#src/domain/delivery-lifecycle.ts';
import { IdMint, parseId } from '#src/domain/id.ts';
import { formatInstant, type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import { claim, completedBy } from '#src/domain/schedule-lifecycle.ts';
import { keptResponse } from '#src/engine/attempt/kept-response.ts';
import type { Vault } from '#src/ports/vault.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { DATABASE_FILE } from '#src/store/sqlite/open-sqlite.ts';
import { systemClock } from '#src/system/clock.ts';
import { systemRandom } from '#src/system/random.ts';
import { databaseUrlOf, IS_POSTGRES, storeSettings } from '#test/process/store-in-use.ts';

const NODE = 'e2e';
const OTHER_NODE = 'e2e-other';
const LEASE_MS = 60_000;

export const OK = { outcome: 'success', statusCode: 200 } as const satisfies AttemptResult;
export const SERVER_ERROR = {
  outcome: 'retryable',
  statusCode: 503,
  error: 'HTTP 503',
} as const satisfies AttemptResult;
export const REDIRECT = {
  outcome: 'terminal',
  statusCode: 302,
  error: 'HTTP 302',
} as const satisfies AttemptResult;

interface Read {
  readonly store: SqlStore;
  readonly delivery: Delivery;
  readonly view: ScheduleView;
}

interface Opened {
  readonly settings: ControlSettings;
  readonly store: SqlStore;
  readonly partition: Partition;
}

/**
 * Works on project `default` in test mode. The store is opened at the first use, since most test files do not need it.
 */
export class Drive {
  readonly #dataDir: () => string;
  readonly #ids: IdMint;
  #opened: Promise<Opened> | null = null;

  constructor(dataDir: () => string) {
    const random = systemRandom();
    this.#dataDir = dataDir;
    this.#ids = new IdMint((count) => random.bytes(count));
  }

  #open(): Promise<Opened> {
    this.#opened ??= open(this.#dataDir());
    return this.#opened;
  }

  async close(): Promise<void> {
    await (await this.#opened)?.store.close();
  }

  async #read(id: string): Promise<Read> {
    const { store, partition } = await this.#open();
    const deliveryId = parseId('dlv', id);
    const delivery = deliveryId && (await store.findDelivery(partition, deliveryId));
    const scheduleId = delivery?.scheduleId ?? null;
    const view = scheduleId === null ? null : await store.findSchedule(partition, scheduleId);
    if (delivery === null || view === null) throw new Error(`There is no delivery ${id}.`);
    return { store, delivery, view };
  }

  /** Begins an attempt `lateMs` after its due instant, and returns when that was. */
  async claim(id: string, lateMs = 0): Promise<Instant> {
    const { store, delivery, view } = await this.#read(id);
    const at = instant((delivery.dueAt ?? delivery.scheduledFor) + lateMs);
    const ids = { attempt: this.#ids.mint('att', at), delivery: this.#ids.mint('dlv', at) };
    const claimed = claim(delivery, view, NODE, ids, at);
    done(await store.claim([claimed]));
    return at;
  }

  /** Ends the attempt in flight, `tookMs` after it began. The text of the answer is kept, if there is one. */
  async settle(id: string, result: AttemptResult, tookMs = 0, answer: string | null = null): Promise<void> {
    const { store, delivery, view } = await this.#read(id);
    if (!isInFlight(delivery)) throw new Error(`No attempt of ${id} is in flight.`);
    const at = instant(delivery.claim.firedAt + tookMs);
    const settled = settle(delivery, result, view.schedule, at);
    const completed = completedBy(view.schedule, settled.delivery, at);
    const response =
      answer === null
        ? null
        : keptResponse(await this.#vault(), settled.attempt, result, {
            contentType: 'text/plain',
            bytes: Buffer.from(answer),
            isTruncated: false,
          });
    done(await store.settle([{ ...settled, completed, decidedUnder: view.schedule.state, response }]));
  }

  /** Makes one complete attempt after the other. */
  async fire(id: string, ...results: readonly AttemptResult[]): Promise<void> {
    for (const result of results) {
      await this.claim(id);
      await this.settle(id, result);
    }
  }

  async #vault(): Promise<Vault> {
    const { store, settings } = await this.#open();
    return openVault(settings, { store, clock: systemClock, random: systemRandom(), ids: this.#ids }, false);
  }

  /** As if a node with another version of the program had joined. */
  async startNode(version: string): Promise<void> {
    const { store } = await this.#open();
    const leaseUntil = instant(Date.now() + LEASE_MS);
    await store.renewLease({ node: OTHER_NODE, leaseUntil, isStopping: false, version });
  }

  async endNode(): Promise<void> {
    const { store } = await this.#open();
    await store.leave(OTHER_NODE);
  }

  /** Expires the delivery of a one-shot after its deadline, without an attempt. */
  async expire(id: string): Promise<void> {
    const { store, delivery, view } = await this.#read(id);
    const at = instant(delivery.deadline ?? delivery.scheduledFor);
    const pending = endUnsent(delivery, 'expired', at);
    const schedule = completedBy(view.schedule, pending, at);
    if (schedule === null) throw new Error(`${id} does not complete its schedule.`);
    done([await store.replaceSchedule({ schedule, pending, sweep: null, receipt: null })]);
  }

  /** Blocks all writes while `act` runs, so that a request that changes something stays in flight. */
  whileNothingIsWritten<T>(act: () => Promise<T>): Promise<T> {
    return IS_POSTGRES ? whileTablesAreHeld(this.#dataDir(), act) : whileFileIsHeld(this.#dataDir(), act);
  }

  /** Lets `ms` pass for a pending delivery, by moving its due instant into the past. */
  async letPass(id: string, ms: number): Promise<void> {
    const { store, delivery, view } = await this.#read(id);
    const earlier = (at: Instant) => instant(at - ms);
    const occurrence = earlier(delivery.occurrence ?? delivery.scheduledFor);
    const pending = move(delivery, {
      movedFrom: null,
      occurrence,
      scheduledFor: earlier(delivery.scheduledFor),
      idempotencyKey: delivery.idempotencyKey.replace(
        formatInstant(delivery.occurrence ?? delivery.scheduledFor),
        formatInstant(occurrence),
      ),
    });
    const schedule = { ...view.schedule, revision: view.schedule.revision + 1 };
    done([await store.replaceSchedule({ schedule, pending, sweep: null, receipt: null })]);
  }
}

async function open(dataDir: string): Promise<Opened> {
  const settings = readControlSettings({ flags: {}, env: await storeSettings(dataDir) });
  const store = await openStore(settings, { exclusive: false, create: false, node: NODE });
  const project = await store.findProject('default');
  if (project === null) throw new Error('There is no project default.');
  return { settings, store, partition: project.partitions.test };
}

async function whileFileIsHeld<T>(dataDir: string, act: () => Promise<T>): Promise<T> {
  const db = new Database(join(dataDir, DATABASE_FILE));
  try {
    db.exec('BEGIN IMMEDIATE');
    return await act();
  } finally {
    db.close();
  }
}

async function whileTablesAreHeld<T>(dataDir: string, act: () => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: await databaseUrlOf(dataDir) });
  await client.connect();
  try {
    await client.query(
      'BEGIN; LOCK TABLE schedules, deliveries, endpoint_profiles, receipts IN EXCLUSIVE MODE',
    );
    return await act();
  } finally {
    await client.end();
  }
}

function done(written: readonly string[]): void {
  if (written.some((one) => one !== 'done')) throw new Error(`Not written: ${written.join(', ')}.`);
}
