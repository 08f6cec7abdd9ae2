import { createHmac } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createMessage } from '#src/domain/alert-message.ts';
import { slackMessage } from '#src/texts/slack-message.ts';
import { AlertHarness, DASHBOARD, SECRET } from '#test/alert-harness.ts';
import { BROKEN, headerOf, OTHER_PARTITION, PARTITION } from '#test/engine-harness.ts';
import { EVALUATE_EVERY_MS } from './alert-evaluator.ts';
import { CUSTOMER_IN_FLIGHT_MAX } from './alert-sender.ts';

/** The time to evaluate the conditions, and to send what follows. */
const SOON_MS = EVALUATE_EVERY_MS + 1_000;
const ENDPOINT = 'https://a.example/hook';

describe('a message', () => {
  test('to a webhook is signed like a delivery, and has the documented JSON', async () => {
    await using harness = await AlertHarness.open();
    const condition = await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker(ENDPOINT, true);
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    const [message] = await harness.messages();
    const [sent] = harness.engine.egress.sent;
    if (message === undefined || sent === undefined) throw new Error('A message was sent.');
    const { request } = sent;
    const body = Buffer.from(request.body ?? []).toString();
    expect(JSON.parse(body)).toEqual({
      type: 'alert.opened',
      id: message.id,
      created_at: expect.stringMatching(/^2026-11-15T08:00:0\d\.\d{3}Z$/),
      data: {
        title: 'Breaker open: https://a.example/…',
        text: expect.stringContaining('https://a.example/…'),
        url: `${DASHBOARD}/p/default/test/alerts/${message.incidentId}`,
        project: 'default',
        mode: 'test',
        incident: {
          id: message.incidentId,
          condition_id: condition.id,
          kind: 'breaker_opened',
          endpoint: ENDPOINT,
          opened_at: expect.any(String),
          closed_at: null,
        },
      },
    });
    const header = (name: string) => headerOf(request, name) ?? '';
    expect([request.method, header('Content-Type'), header('User-Agent')]).toEqual([
      'POST',
      'application/json',
      'Sched/1',
    ]);
    expect([header('Idempotency-Key'), header('Sched-Delivery-Id')]).toEqual([message.id, message.id]);
    expect(header('Sched-Attempt')).toBe('1');
    const timestamp = header('Sched-Timestamp');
    const signature = createHmac('sha256', SECRET)
      .update(`${timestamp}.${message.id}.1.POST./hook.${body}`)
      .digest('hex');
    expect(header('Sched-Signature')).toBe(`t=${timestamp},v1=${signature}`);
    await alerts.stop();
  });

  test('to Slack has its blocks, and no headers of a delivery', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel('slack')]);
    await harness.saveBreaker(ENDPOINT, true);
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    const [message] = await harness.messages();
    const [sent] = harness.engine.egress.sent;
    const body = JSON.parse(Buffer.from(sent?.request.body ?? []).toString());
    expect(body).toEqual(message && slackMessage(message.content));
    expect(sent?.request.headers).toEqual([
      ['Content-Type', 'application/json'],
      ['User-Agent', 'Sched/1'],
    ]);
    await alerts.stop();
  });

  test('is sent again with backoff, and a channel that fails counts nowhere', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.condition('deliveries_failed', [await harness.channel()], { threshold: 0 });
    await harness.saveBreaker(ENDPOINT, true);
    harness.engine.egress.respond = () => BROKEN;
    const { alerts } = harness.node();
    await harness.advance(3 * 3_600_000);
    const messages = await harness.messages();
    expect(
      messages.map(({ kind, status, attemptCount, error }) => [kind, status, attemptCount, error]),
    ).toEqual([['opened', 'failed', 12, 'HTTP 503']]);
    const sent = harness.engine.egress.header('Sched-Attempt');
    expect(sent).toEqual(Array.from({ length: 12 }, (_, index) => String(index + 1)));
    expect(new Set(harness.engine.egress.header('Idempotency-Key')).size).toBe(1);
    const warnings = harness.engine.log.lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ message }) => message)).toEqual(['an alert message could not be delivered']);
    expect(JSON.stringify(harness.engine.log.lines)).not.toMatch(/hidden|alerts\.example/);
    await alerts.stop();
  });

  test('fails at once where the answer or the address allows no retry, or its channel is gone', async () => {
    await using harness = await AlertHarness.open();
    const channel = await harness.channel();
    await harness.condition('breaker_opened', [channel]);
    await harness.saveBreaker(ENDPOINT, true);
    harness.engine.egress.respond = () => ({ kind: 'answered', statusCode: 301 });
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    harness.engine.egress.respond = () => ({ kind: 'failed', failure: 'address_not_allowed' });
    await harness.saveBreaker('https://b.example/', true);
    await harness.advance(SOON_MS);
    expect((await harness.messages()).map(({ status, error }) => [status, error])).toEqual([
      ['failed', 'redirect (HTTP 301)'],
      ['failed', 'address is not allowed'],
    ]);
    const { disk, ids, now } = harness.engine;
    const gone = await harness.channel();
    const id = ids.mint('dlv', now);
    const content = { title: 'a', text: 'b', url: null, project: 'c', mode: 'test', incident: null } as const;
    const about = { partition: PARTITION, id, incidentId: null, channelId: gone.id, kind: 'test' } as const;
    expect(await disk.alerts.addTestMessage(createMessage({ ...about, content }, now))).toBe('done');
    expect(await disk.alerts.removeChannel(gone)).toBe('done');
    await harness.advance(SOON_MS);
    expect(await disk.alerts.findMessage(PARTITION, id)).toMatchObject({
      status: 'failed',
      error: 'the channel was removed',
    });
    await alerts.stop();
  });

  test('that hangs is ended after 15 seconds, and others do not wait for it', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel('webhook', 'https://dead.example/')]);
    await harness.condition('breaker_opened', [await harness.channel()]);
    harness.engine.egress.respond = ({ url }) =>
      url.host === 'dead.example' ? null : { kind: 'answered', statusCode: 200 };
    await harness.saveBreaker(ENDPOINT, true);
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    const statuses = async () => (await harness.messages()).map(({ status, error }) => [status, error]);
    expect(await statuses()).toEqual([
      ['waiting', null],
      ['delivered', null],
    ]);
    await harness.advance(15_000);
    expect(await statuses()).toEqual([
      ['waiting', 'timeout'],
      ['delivered', null],
    ]);
    await alerts.stop();
  });

  test('is the only one of its channel in flight, and one of few of its customer', async () => {
    await using harness = await AlertHarness.open();
    const many = await Promise.all(Array.from({ length: 6 }, () => harness.channel()));
    await harness.condition('breaker_opened', many);
    for (let each = 0; each < 3; each++) await harness.saveBreaker(`https://h${each}.example/`, true);
    harness.engine.egress.respond = () => null;
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    const { sent } = harness.engine.egress;
    const messages = await harness.messages();
    expect(messages).toHaveLength(18);
    const channelsOf = (some: typeof sent) =>
      some.map(({ request }) => {
        const id = headerOf(request, 'Sched-Delivery-Id');
        return messages.find((message) => message.id === id)?.channelId;
      });
    const channels = many.map(({ id }) => id).toSorted();
    expect(channelsOf(sent)).toEqual(channels.slice(0, CUSTOMER_IN_FLIGHT_MAX));
    // Another customer does not wait for channels that hang.
    const small = await harness.channel('webhook', 'https://small.example/', OTHER_PARTITION);
    await harness.condition('deliveries_failed', [small], { threshold: 0 });
    await harness.saveStats({ deadLettered: 1 }, OTHER_PARTITION);
    await harness.advance(SOON_MS);
    expect(sent.at(-1)?.request.customer).toBe(OTHER_PARTITION);
    // The other channels come first when the first ones have timed out.
    const before = sent.length;
    await harness.advance(15_000);
    expect(channelsOf(sent.slice(before)).slice(0, 2)).toEqual(channels.slice(CUSTOMER_IN_FLIGHT_MAX));
    await alerts.stop();
  });

  test('that ends while due messages are read is not sent again', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker(ENDPOINT, true);
    harness.engine.egress.respond = () => null;
    const node = harness.node();
    await harness.advance(SOON_MS);
    const { sent } = harness.engine.egress;
    expect(sent).toHaveLength(1);
    const read = Promise.withResolvers<void>();
    node.after = async (verb) => {
      if (verb !== 'listDueMessages') return;
      node.after = () => undefined;
      sent[0]?.answer({ kind: 'answered', statusCode: 200 });
      while ((await harness.messages())[0]?.status === 'waiting') await setImmediate();
      // The sender learns that it is stored.
      for (let turns = 0; turns < 10; turns++) await setImmediate();
      read.resolve();
    };
    await harness.advance(2_000);
    await read.promise;
    await harness.advance(2_000);
    expect((await harness.messages())[0]?.status).toBe('delivered');
    expect(sent).toHaveLength(1);
    await node.alerts.stop();
  });

  test('that is interrupted by a stop is sent again by the next process', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker(ENDPOINT, true);
    harness.engine.egress.respond = () => null;
    const first = harness.node();
    await harness.advance(SOON_MS);
    await first.alerts.stop();
    expect((await harness.messages())[0]).toMatchObject({ status: 'waiting', attemptCount: 0 });
    harness.engine.egress.respond = () => ({ kind: 'answered', statusCode: 200 });
    const second = harness.node();
    await harness.advance(SOON_MS);
    expect((await harness.messages())[0]).toMatchObject({ status: 'delivered', attemptCount: 1 });
    expect(harness.sentTypes).toEqual(['alert.opened', 'alert.opened']);
    await second.alerts.stop();
  });

  test('waits where no secret can sign it', async () => {
    await using harness = await AlertHarness.open();
    const partition = 99 as typeof PARTITION;
    const { disk, ids, now } = harness.engine;
    const project = { id: ids.mint('prj', now), name: 'bare', pinnedVersion: '2026-01-01', createdAt: now };
    const added = await disk.addProject(project);
    const own = added === 'taken' ? partition : added.partitions.test;
    await harness.condition('deliveries_failed', [await harness.channel('webhook', undefined, own)], {
      threshold: 0,
    });
    await harness.saveStats({ expired: 1 }, own);
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    expect((await harness.messages(own))[0]).toMatchObject({ status: 'waiting', error: 'no signing secret' });
    expect(harness.engine.egress.sent).toEqual([]);
    await alerts.stop();
  });
});
