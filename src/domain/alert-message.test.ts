import { expect, test } from 'vitest';
import { ALERT_RETRY_POLICY, type AlertMessage, afterAttempt, createMessage } from './alert-message.ts';
import { failureResult } from './failures.ts';
import type { AlertChannelId, DeliveryId } from './id.ts';
import { instant } from './instant.ts';
import type { Partition } from './project.ts';

const START = instant(Date.UTC(2026, 10, 15, 8));
const CONTENT = { title: '', text: '', url: null, project: 'a', mode: 'test', incident: null } as const;

function newMessage(): AlertMessage {
  const ids = { id: 'dlv_1' as DeliveryId, channelId: 'chn_1' as AlertChannelId, incidentId: null };
  return createMessage({ partition: 1 as Partition, ...ids, kind: 'test', content: CONTENT }, START);
}

test('is delivered by an answer of 2xx', () => {
  expect(
    afterAttempt(newMessage(), { outcome: 'success', statusCode: 204 }, instant(START + 9)),
  ).toMatchObject({
    status: 'delivered',
    attemptCount: 1,
    dueAt: null,
    statusCode: 204,
    error: null,
    endedAt: START + 9,
    revision: 2,
  });
});

test('fails at once where no retry is allowed', () => {
  const failed = afterAttempt(newMessage(), failureResult('address_not_allowed'), START);
  expect(failed).toMatchObject({ status: 'failed', attemptCount: 1, dueAt: null, endedAt: START });
});

test('that tests a channel is attempted once', () => {
  const failed = afterAttempt(newMessage(), failureResult('timeout'), START);
  expect(failed).toMatchObject({ kind: 'test', status: 'failed', attemptCount: 1, dueAt: null });
});

test('is attempted 12 times, with waits that grow to half an hour', () => {
  let message: AlertMessage = { ...newMessage(), kind: 'opened' };
  const waits: number[] = [];
  while (message.status === 'waiting') {
    const at = instant((message.dueAt ?? 0) + 1_000);
    message = afterAttempt(message, failureResult('timeout'), at);
    if (message.dueAt !== null) waits.push((message.dueAt - at) / 1_000);
  }
  expect(message).toMatchObject({
    status: 'failed',
    attemptCount: ALERT_RETRY_POLICY.maxAttempts,
    error: 'timeout',
  });
  expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1_280, 1_800, 1_800, 1_800]);
});
