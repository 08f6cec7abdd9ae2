import { expect, test } from 'vitest';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { LargePayloads } from './large-payloads.ts';

const [GREEDY, MODEST] = [1 as Partition, 2 as Partition];

/** A connection that answers when it is told to. */
function slow() {
  const asked: { readonly sql: string; readonly end: (error?: Error) => void }[] = [];
  const copyOut = (sql: string) =>
    new Promise<Buffer | null>((resolve, reject) => {
      asked.push({ sql, end: (error) => (error === undefined ? resolve(Buffer.from(sql)) : reject(error)) });
    });
  return { asked, payloads: new LargePayloads({ copyOut }) };
}

function id(number: number): ScheduleId {
  return `sch_${number}` as ScheduleId;
}

test('customers take turns, and two payloads are on their way at a time', async () => {
  const { asked, payloads } = slow();
  const greedy = Array.from({ length: 50 }, (_, number) => payloads.read(GREEDY, id(number)));
  const modest = payloads.read(MODEST, id(99));
  expect(asked).toHaveLength(2);
  asked[0]?.end();
  asked[1]?.end();
  await Promise.all(greedy.slice(0, 2));
  const next = asked.slice(2).map(({ sql }) => sql);
  expect(next).toHaveLength(2);
  expect(next.join()).toContain("partition = 2 AND schedule_id = 'sch_99'");
  for (let at = 2; at < 51; at++) {
    asked[at]?.end();
    await new Promise(setImmediate);
  }
  expect(await modest).not.toBeNull();
  expect(await Promise.all(greedy)).toHaveLength(50);
});

test('one that fails is told of, and the next one has its turn', async () => {
  const { asked, payloads } = slow();
  const reads = [1, 2, 3].map((number) => payloads.read(GREEDY, id(number)));
  asked[0]?.end(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
  await expect(reads[0]).rejects.toThrow(StoreUnavailable);
  asked[1]?.end();
  asked[2]?.end();
  expect(await Promise.all(reads.slice(1))).toHaveLength(2);
});

test('an id is quoted', async () => {
  const { asked, payloads } = slow();
  const read = payloads.read(GREEDY, "'; DROP TABLE payloads; --" as ScheduleId);
  expect(asked[0]?.sql).toContain("schedule_id = '''; DROP TABLE payloads; --'");
  asked[0]?.end();
  await read;
});
