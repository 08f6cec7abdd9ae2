/**
 * Reads the database directly, without the service. Triggers in the database record what must never happen,
 * at the moment when it happens.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { execute, query } from '#test/postgres/databases.ts';
import type { AttemptRow, DeliveryRow, ScheduleRow } from '../promises.ts';

export interface StoredDelivery extends DeliveryRow {
  readonly replay_of: string | null;
  readonly slot: number;
}

export interface Stored {
  readonly schedules: readonly ScheduleRow[];
  readonly deliveries: readonly StoredDelivery[];
  readonly attempts: readonly AttemptRow[];
  /** The violations that the triggers recorded. */
  readonly violations: readonly string[];
}

const VIOLATIONS = 'CREATE TABLE violations (what text, id text, node text)';
const TRIGGERS = `
  CREATE FUNCTION record_claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NOT EXISTS (SELECT FROM slots WHERE slot = NEW.slot AND owner = NEW.claim_node) THEN
      INSERT INTO violations VALUES ('was claimed by a node without its slot', NEW.id, NEW.claim_node);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER claimed AFTER UPDATE ON deliveries FOR EACH ROW
    WHEN (NEW.status = 'claimed' AND NEW.claim_attempt_id IS DISTINCT FROM OLD.claim_attempt_id)
    EXECUTE FUNCTION record_claim();

  CREATE FUNCTION record_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO violations VALUES (TG_ARGV[0], NEW.id, NULL);
    RETURN NULL;
  END $$;
  CREATE TRIGGER ended AFTER UPDATE ON deliveries FOR EACH ROW WHEN (OLD.finalized_at IS NOT NULL)
    EXECUTE FUNCTION record_change('was changed after its end');
  CREATE TRIGGER stored AFTER UPDATE ON attempts FOR EACH ROW
    EXECUTE FUNCTION record_change('is an attempt that was changed after its end')`;

/**
 * Deliveries that have not ended. The next occurrence of a recurring schedule is left out, unless it was
 * moved near.
 */
const UNFINISHED = `SELECT count(*)::integer AS count FROM deliveries JOIN schedules
    ON schedules.partition = deliveries.partition AND schedules.id = deliveries.schedule_id
  WHERE deliveries.status IN ('claimed', 'retry_scheduled', 'scheduled', 'paused')
    AND NOT (kind = 'recurring' AND deliveries.status = 'scheduled'
      AND due_at > extract(epoch FROM now() + interval '1 day') * 1000)`;
const POLL_EVERY_MS = 200;

export async function watchTables(url: string, canTrigger: boolean): Promise<void> {
  await execute(url, VIOLATIONS);
  if (canTrigger) await execute(url, TRIGGERS);
}

export async function readStored(url: string): Promise<Stored> {
  const rows = async <T>(sql: string) => (await query(url, sql)) as readonly T[];
  const violations = await rows<{ what: string; id: string; node: string | null }>(
    'SELECT * FROM violations',
  );
  const attempts = await rows<Record<string, unknown>>(
    `SELECT delivery_id, attempt_no, outcome, status_code, due_at, fired_at, finished_at, error
     FROM attempts ORDER BY delivery_id, attempt_no`,
  );
  const deliveries = await rows<Record<string, unknown>>(
    `SELECT id, schedule_id, status, replay_of, slot, scheduled_for, attempt_count, idempotency_key,
       retry_policy, url FROM deliveries ORDER BY id`,
  );
  return {
    schedules: await rows<ScheduleRow>('SELECT id, kind, state FROM schedules'),
    deliveries: deliveries.map((row) => withNumbers<StoredDelivery>(row, ['scheduled_for'])),
    attempts: attempts.map((row) => withNumbers<AttemptRow>(row, ['due_at', 'fired_at', 'finished_at'])),
    violations: violations.map(({ what, id, node }) => `${id} ${what}${node === null ? '' : `: ${node}`}`),
  };
}

/** The driver returns bigints as text. */
function withNumbers<T>(row: Readonly<Record<string, unknown>>, columns: readonly string[]): T {
  const numbers = columns.map((name) => [name, row[name] === null ? null : Number(row[name])]);
  return { ...row, ...Object.fromEntries(numbers) } as T;
}

export async function slotsOf(url: string, node: string): Promise<ReadonlySet<number>> {
  const rows = await query(url, `SELECT slot FROM slots WHERE owner = '${node}'`);
  return new Set((rows as readonly { readonly slot: number }[]).map(({ slot }) => slot));
}

/** The deliveries that a node has claimed. */
export async function claimedBy(url: string, node: string): Promise<ReadonlySet<string>> {
  const rows = await query(
    url,
    `SELECT id FROM deliveries WHERE status = 'claimed' AND claim_node = '${node}'`,
  );
  return new Set((rows as readonly { readonly id: string }[]).map(({ id }) => id));
}

/** Waits until every delivery has ended. Returns the milliseconds that it took. */
export async function waitUntilAllEnded(url: string, timeoutMs: number): Promise<number> {
  const start = performance.now();
  for (;;) {
    const [row] = (await query(url, UNFINISHED)) as readonly { readonly count: number }[];
    const tookMs = performance.now() - start;
    if (row?.count === 0) return tookMs;
    if (tookMs > timeoutMs) throw new Error(`${row?.count} deliveries have not ended in ${timeoutMs} ms.`);
    await sleep(POLL_EVERY_MS);
  }
}
