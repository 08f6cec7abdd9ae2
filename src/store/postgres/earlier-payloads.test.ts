import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { type DeliveryId, firstIdAt } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { Builders, HOURLY, MINUTE_MS } from '#test/store-contract/builders.ts';

test('a version goes even if its last delivery is being removed while the payload is replaced', async () => {
  const database = await createDatabase(await sharedPostgres());
  const opened = await openedIn(database);
  const { store } = opened;
  const retention = new Client({ connectionString: database.url });
  await retention.connect();
  onTestFinished(async () => {
    await retention.end();
    await opened.close();
  });
  const build = new Builders(1 as Partition);
  const { schedule, pending } = build.schedule({ timing: HOURLY, payloadBytes: 1 });
  await store.addSchedule({ schedule, pending, payload: Uint8Array.of(1), profile: null, receipt: null });
  const ended = {
    ...pending,
    id: build.ids.mint('dlv', build.now),
    occurrence: null,
    status: 'succeeded',
    dueAt: null,
    finalizedAt: build.now,
  } as const;
  await store.addTriggered({ delivery: ended, schedule, profile: null, receipt: null });

  await retention.query('BEGIN');
  await retention.query('DELETE FROM deliveries WHERE id = $1', [ended.id]);
  await retention.query('UPDATE earlier_payloads SET check_at = 0 WHERE schedule_id = $1', [schedule.id]);
  const next = { payloadVersion: 2, revision: 2 };
  const replaced = await store.replaceSchedule({
    schedule: { ...schedule, ...next },
    pending: { ...pending, ...next },
    payload: {
      sealed: Uint8Array.of(2),
      sinceId: pending.id,
      lastId: firstIdAt('dlv', instant(build.now + MINUTE_MS)) as DeliveryId,
    },
    sweep: null,
    receipt: null,
  });
  expect(replaced).toBe('done');
  await retention.query('COMMIT');

  expect(await store.findPayload(schedule.partition, schedule.id, 1)).not.toBeNull();
  await store.prune('payloads', build.now, 10);
  expect(await store.findPayload(schedule.partition, schedule.id, 1)).toBeNull();
});
