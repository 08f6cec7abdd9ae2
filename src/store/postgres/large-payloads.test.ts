import { expect, test } from 'vitest';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { LargePayloads } from './large-payloads.ts';

const [GREEDY, MODEST] = [1 as Partition, 2 as Partition];

/** A connection that answers when the test says so. */
function slow({ isPooled = false } = {}) {
  const sent: { readonly sql: string; readonly end: (error?: Error) => void }[] = [];
  const copyOut = (sql: string) =>
    new Promise<Buffer | null>((resolve, reject) => {
      sent.push({ sql, end: (error) => (error === undefined ? resolve(Buffer.from(sql)) : reject(error)) });
    });
  return { sent, payloads: new LargePayloads({ copyOut }, isPooled) };
}

function id(number: number): ScheduleId {
  return `sch_${number}` as ScheduleId;
}

test('customers are served round robin, and two payloads are read at a time', async () => {
  const { sent, payloads } = slow();
  const greedy = Array.from({ length: 50 }, (_, number) => payloads.read(GREEDY, id(number), 1));
  const modest = payloads.read(MODEST, id(99), 1);
  expect(sent).toHaveLength(2);
  sent[0]?.end();
  sent[1]?.end();
  await Promise.all(greedy.slice(0, 2));
  const next = sent.slice(2).map(({ sql }) => sql);
  expect(next).toHaveLength(2);
  expect(next.join()).toContain("partition = 2 AND schedule_id = 'sch_99'");
  for (let at = 2; at < 51; at++) {
    sent[at]?.end();
    await new Promise(setImmediate);
  }
  expect(await modest).not.toBeNull();
  expect(await Promise.all(greedy)).toHaveLength(50);
});

test('through a pooler one payload is read at a time', async () => {
  const { sent, payloads } = slow({ isPooled: true });
  const reads = [1, 2].map((number) => payloads.read(GREEDY, id(number), 1));
  expect(sent).toHaveLength(1);
  sent[0]?.end();
  await reads[0];
  expect(sent).toHaveLength(2);
  sent[1]?.end();
  expect(await reads[1]).not.toBeNull();
});

test('a read that fails rejects its caller, and the next one runs', async () => {
  const { sent, payloads } = slow();
  const reads = [1, 2, 3].map((number) => payloads.read(GREEDY, id(number), 1));
  sent[0]?.end(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
  await expect(reads[0]).rejects.toThrow(StoreUnavailable);
  sent[1]?.end();
  sent[2]?.end();
  expect(await Promise.all(reads.slice(1))).toHaveLength(2);
});

test('the id is quoted in SQL', async () => {
  const { sent, payloads } = slow();
  const read = payloads.read(GREEDY, "'; DROP TABLE payloads; --" as ScheduleId, 1);
  expect(sent[0]?.sql).toContain("schedule_id = '''; DROP TABLE payloads; --'");
  sent[0]?.end();
  await read;
});
