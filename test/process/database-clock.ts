/**
 * A database clock that a test can set. All nodes of the database use it. In the search path of the database, a
 * function with the same name comes before PostgreSQL's own, and adds an offset from a table.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { execute, query } from '#test/postgres/databases.ts';
import type { RunningService } from './run-command.ts';
import type { SettableClock } from './service-clock.ts';
import { databaseUrlOf } from './store-in-use.ts';

const LOOK_EVERY_MS = 20;
const NOTICED_MS_MAX = 10_000;
/** Smaller than any step of the clock in a test. */
const NEAR_MS = 500;

export class DatabaseClock implements SettableClock {
  /** The clocks of the nodes do not change. */
  readonly time = {};
  readonly #url: string;
  #offsetMs = 0;

  private constructor(url: string) {
    this.#url = url;
  }

  /** Sets up the database of a directory that no service has used. */
  static async in(dataDir: string, offsetMs: number): Promise<DatabaseClock> {
    const url = await databaseUrlOf(dataDir);
    const [named] = await query(url, 'SELECT current_database()::text AS name');
    const { name } = named as { readonly name: string };
    await execute(
      url,
      `CREATE SCHEMA test_clock;
       CREATE TABLE test_clock.steps (offset_ms double precision);
       INSERT INTO test_clock.steps VALUES (0);
       CREATE FUNCTION test_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$
         SELECT pg_catalog.clock_timestamp() + offset_ms * interval '1 ms' FROM test_clock.steps $$;
       ALTER DATABASE ${name} SET search_path = public, test_clock, pg_catalog`,
    );
    const clock = new DatabaseClock(url);
    await clock.set(offsetMs);
    return clock;
  }

  readonly now = (): number => Date.now() + this.#offsetMs;

  async set(offsetMs: number): Promise<void> {
    this.#offsetMs = offsetMs;
    await execute(this.#url, `UPDATE test_clock.steps SET offset_ms = ${offsetMs}`);
  }

  /** Resolves when every node has noticed. */
  async stepTo(offsetMs: number, sched: Pick<RunningService, 'urls'>): Promise<void> {
    await this.set(offsetMs);
    await Promise.all(sched.urls.map((url) => noticed(url, offsetMs)));
  }
}

async function noticed(url: string, offsetMs: number): Promise<void> {
  const patience = Date.now() + NOTICED_MS_MAX;
  for (;;) {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const shown = Number(/^sched_clock_offset_seconds (\S+)$/m.exec(metrics)?.[1]) * 1_000;
    if (Math.abs(shown - offsetMs) < NEAR_MS && /^sched_clock_synchronized 1$/m.test(metrics)) return;
    if (Date.now() > patience) throw new Error(`The clock is ${shown} ms away, not ${offsetMs} ms.`);
    await sleep(LOOK_EVERY_MS);
  }
}
