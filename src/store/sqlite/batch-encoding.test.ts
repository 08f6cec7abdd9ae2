import { expect, test } from 'vitest';
import { decodeBatch, encodeBatch } from './batch-encoding.ts';
import type { Batch } from './executor.ts';

test('a decoded batch equals the batch that was encoded', () => {
  const pool = Buffer.from('before\u0000\u00ff\u0080after', 'latin1');
  const batch: Batch = [
    [],
    [
      ['insertPayload', null, 1, 'sch_1', pool.subarray(6, 9)],
      ['scheduleInState', 'stale', 1, 'sch_1', 'true'],
    ],
    [
      ['insertReceipt', 'key_taken', 1, 'ключ', '', 200, '\ud800', 1.5, null],
      ['insertPayload', null, 1, '"\\\u0000\u2028', Buffer.from('"more" bytes')],
    ],
    [['removeProbe', null]],
  ];
  expect(decodeBatch(encodeBatch(batch))).toEqual(batch);
});

test('bytes are sent without the memory pool that they are part of', () => {
  const wire = encodeBatch([[['insertPayload', null, 1, 'sch_1', Buffer.from('sealed')]]]);
  expect(wire).toEqual([expect.any(String), 'sealed']);
});
