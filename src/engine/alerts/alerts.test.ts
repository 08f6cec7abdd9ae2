import { describe, expect, test } from 'vitest';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { instant, MS_PER_DAY, MS_PER_MINUTE } from '#src/domain/instant.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { AlertHarness } from '#test/alert-harness.ts';
import { PARTITION } from '#test/engine-harness.ts';
import { EVALUATE_EVERY_MS } from './alert-evaluator.ts';

/** The time to evaluate the conditions, and to send what follows. */
const SOON_MS = EVALUATE_EVERY_MS + 1_000;
const QUIET_MS = 5 * MS_PER_MINUTE;
const ENDPOINT = 'https://a.example/hook';

describe('an incident', () => {
  test('of 10,000 failures has one message at its beginning, and one at its end', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('deliveries_failed', [await harness.channel()]);
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    expect(await harness.kinds()).toEqual([]);
    for (let failures = 0; failures <= 10_000; failures += 500) {
      await harness.saveStats({ deadLettered: failures });
      await harness.advance(1_000);
    }
    expect(await harness.kinds()).toEqual(['opened']);
    await harness.advance(10 * MS_PER_MINUTE);
    expect(await harness.kinds()).toEqual(['opened']);
    await harness.advance(2 * MS_PER_MINUTE);
    expect(await harness.kinds()).toEqual(['opened', 'closed']);
    await harness.advance(30 * MS_PER_MINUTE);
    expect(await harness.kinds()).toEqual(['opened', 'closed']);
    expect(harness.sentTypes).toEqual(['alert.opened', 'alert.closed']);
    await alerts.stop();
    expect(harness.engine.time.pending).toBe(0);
  });

  test('begins for each endpoint whose breaker is not closed, and names it', async () => {
    await using harness = await AlertHarness.open();
    const { id } = await harness.engine.profile({ name: 'orders' });
    await harness.condition('breaker_opened', [await harness.channel(), await harness.channel('slack')]);
    await harness.saveBreaker(id, true);
    await harness.saveBreaker(ENDPOINT, true);
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    const titles = (await harness.messages()).map(({ content }) => content.title);
    expect(titles.toSorted()).toEqual(
      ['Breaker open: orders', 'Breaker open: https://a.example/…']
        .flatMap((title) => [title, title])
        .toSorted(),
    );
    await harness.saveBreaker(id, false);
    await harness.advance(QUIET_MS + SOON_MS);
    const closed = (await harness.messages()).filter(({ kind }) => kind === 'closed');
    expect(closed.map(({ content }) => content.incident?.endpoint)).toEqual([id, id]);
    await alerts.stop();
  });

  test('begins when occurrences were skipped', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('occurrences_skipped', [await harness.channel()]);
    const { alerts } = harness.node();
    await harness.saveStats({ downtimeSkips: 1, deadLettered: 1_000 });
    await harness.advance(SOON_MS);
    expect((await harness.messages()).map(({ content }) => content.title)).toEqual([
      'Scheduled occurrences were skipped',
    ]);
    await alerts.stop();
  });

  test('is noticed although a thousand other breakers are open, and ends when its own closes', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker('https://z.example/', true);
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    for (let each = 0; each < 250; each++) await harness.saveBreaker(`https://h${each}.example/`, true);
    await harness.advance(QUIET_MS + SOON_MS);
    const open = await harness.engine.disk.alerts.listOpenIncidents(PARTITION);
    // Twenty have an incident of their own, and the others share one.
    expect(open).toHaveLength(21);
    expect(open.filter(({ endpoint }) => endpoint === null)).toHaveLength(1);
    expect(open.map(({ quietSince }) => quietSince)).toEqual(Array.from({ length: 21 }, () => null));
    expect(open[0]?.endpoint).toBe('https://z.example/');
    await alerts.stop();
  });

  test('is reminded of every 24 hours', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker(ENDPOINT, true);
    const { alerts } = harness.node();
    for (let hour = 0; hour < 50; hour++) {
      // Every probe fails.
      await harness.saveBreaker(ENDPOINT, true);
      await harness.advance(SOON_MS);
      harness.engine.time.setClock(3_600_000 - SOON_MS);
    }
    await harness.advance(SOON_MS);
    expect(await harness.kinds()).toEqual(['opened', 'reminder', 'reminder']);
    await alerts.stop();
  });

  test('of a breaker that nothing probes ends after two days', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker(ENDPOINT, true);
    const { alerts } = harness.node();
    for (let hour = 0; hour < 50; hour++) {
      await harness.advance(SOON_MS);
      harness.engine.time.setClock(3_600_000 - SOON_MS);
    }
    await harness.advance(QUIET_MS + SOON_MS);
    expect(await harness.kinds()).toEqual(['opened', 'reminder', 'closed']);
    expect((await harness.messages()).at(-1)?.content.title).toBe('No more deliveries: https://a.example/…');
    await alerts.stop();
  });

  test('is worded with the limit that the condition has now', async () => {
    await using harness = await AlertHarness.open();
    const condition = await harness.condition('deliveries_failed', [await harness.channel()]);
    await harness.saveStats({ deadLettered: 500 });
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    const changed = { ...condition, threshold: 1_000, revision: 2 };
    expect(await harness.engine.disk.alerts.replaceCondition(changed)).toBe('done');
    await harness.advance(QUIET_MS + SOON_MS);
    expect((await harness.messages()).map(({ content }) => content.title)).toEqual([
      'Deliveries fail: more than 10 in 5 minutes',
      'Failures are over: at most 1,000 in 5 minutes',
    ]);
    await alerts.stop();
  });

  test('of a condition that is disabled ends without a message', async () => {
    await using harness = await AlertHarness.open();
    const condition = await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker(ENDPOINT, true);
    const { alerts } = harness.node();
    await harness.advance(SOON_MS);
    const { disk } = harness.engine;
    expect(await disk.alerts.replaceCondition({ ...condition, enabled: false, revision: 2 })).toBe('done');
    await harness.advance(2 * QUIET_MS);
    expect(await disk.alerts.listOpenIncidents(PARTITION)).toEqual([]);
    expect(await harness.kinds()).toEqual(['opened']);
    await alerts.stop();
  });

  test('is found by minutes that a node saved late', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('deliveries_failed', [await harness.channel()], { windowMinutes: 60 });
    const { alerts } = harness.node();
    await harness.advance(20 * MS_PER_MINUTE);
    harness.engine.time.setClock(-15 * MS_PER_MINUTE);
    await harness.saveStats({ expired: 11 });
    harness.engine.time.setClock(15 * MS_PER_MINUTE);
    await harness.advance(6 * MS_PER_MINUTE);
    expect(await harness.kinds()).toEqual(['opened']);
    await alerts.stop();
  });
});

describe('whatever happens to the processes', () => {
  const VERBS = [
    'listPartitionsWithConditions',
    'listConditions',
    'listOpenIncidents',
    'addIncident',
    'replaceIncident',
    'listPartitionsWithMessages',
    'listDueMessages',
    'findChannel',
    'replaceMessage',
  ] as const;
  const MOMENTS = VERBS.flatMap((verb) =>
    (['before', 'after'] as const).flatMap((when) => [1, 2].map((times) => [when, times, verb] as const)),
  );

  test.for(MOMENTS)(
    'killed %s call %i of %s, there is one message of each kind',
    async ([when, at, verb]) => {
      await using harness = await AlertHarness.open();
      await harness.condition('breaker_opened', [await harness.channel(), await harness.channel()]);
      await harness.saveBreaker(ENDPOINT, true);
      const first = harness.node();
      let calls = 0;
      first[when] = (own) => {
        if (own === verb && ++calls === at) first.kill();
      };
      await harness.advance(SOON_MS);
      const second = harness.node();
      await harness.advance(SOON_MS);
      await harness.saveBreaker(ENDPOINT, false);
      await harness.advance(QUIET_MS + 2 * SOON_MS);
      first.kill();
      expect(await harness.kinds()).toEqual(['opened', 'opened', 'closed', 'closed']);
      for (const { id, status } of await harness.messages()) {
        expect(status).toBe('delivered');
        const sent = harness.engine.egress.header('Sched-Delivery-Id').filter((sentId) => sentId === id);
        expect(sent.length).toBeGreaterThanOrEqual(1);
        expect(sent.length).toBeLessThanOrEqual(2);
      }
      await second.alerts.stop();
    },
  );

  test('two that both believe that they are the upkeep node make one incident', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker(ENDPOINT, true);
    const nodes = [harness.node(), harness.node(), harness.node()];
    await harness.advance(SOON_MS);
    await harness.saveBreaker(ENDPOINT, false);
    await harness.advance(QUIET_MS + 2 * SOON_MS);
    expect(await harness.kinds()).toEqual(['opened', 'closed']);
    for (const { alerts } of nodes) await alerts.stop();
  });

  test('a node that does not own the upkeep slot does nothing', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker(ENDPOINT, true);
    const { alerts } = harness.node({ ownership: { slots: new Set(), fence: undefined } });
    await harness.advance(10 * SOON_MS);
    expect(await harness.kinds()).toEqual([]);
    await alerts.stop();
  });

  test('and to the store, alerts go on when it is back', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker(ENDPOINT, true);
    const node = harness.node();
    node.before = () => Promise.reject(new StoreUnavailable('The store is away.'));
    await harness.advance(10 * SOON_MS);
    expect(await harness.kinds()).toEqual([]);
    node.before = () => undefined;
    await harness.advance(2 * SOON_MS);
    expect(await harness.kinds()).toEqual(['opened']);
    expect(harness.sentTypes).toEqual(['alert.opened']);
    const lines = harness.engine.log.lines.map(({ message }) => message);
    expect(lines).toContain('the conditions of alerts could not be evaluated');
    expect(lines).toContain('the conditions of alerts are evaluated again');
    await node.alerts.stop();
  });

  test('an outcome that cannot be stored is stored later, and nothing is sent twice', async () => {
    await using harness = await AlertHarness.open();
    await harness.condition('breaker_opened', [await harness.channel()]);
    await harness.saveBreaker(ENDPOINT, true);
    const node = harness.node();
    node.before = (verb) => {
      if (verb === 'replaceMessage') throw new StoreUnavailable('The disk is full.');
    };
    await harness.advance(2 * MS_PER_MINUTE);
    expect((await harness.messages()).map(({ status }) => status)).toEqual(['waiting']);
    node.before = () => undefined;
    await harness.advance(SOON_MS);
    expect((await harness.messages()).map(({ status }) => status)).toEqual(['delivered']);
    expect(harness.sentTypes).toEqual(['alert.opened']);
    await node.alerts.stop();
  });
});

test('ended messages and incidents are removed after 30 days', async () => {
  await using harness = await AlertHarness.open();
  await harness.condition('breaker_opened', [await harness.channel()]);
  await harness.saveBreaker(ENDPOINT, true);
  const { alerts } = harness.node();
  await harness.advance(SOON_MS);
  await harness.saveBreaker(ENDPOINT, false);
  await harness.advance(QUIET_MS + SOON_MS);
  const { disk, time } = harness.engine;
  time.setClock(30 * MS_PER_DAY - 3_600_000);
  await harness.advance(3_600_000 - QUIET_MS);
  expect(await harness.kinds()).toEqual(['opened', 'closed']);
  await harness.advance(2 * 3_600_000);
  expect(await disk.alerts.listIncidents(PARTITION, null, 10)).toEqual([]);
  expect(await harness.messages()).toEqual([]);
  await alerts.stop();
});

test('an endpoint without a profile of that id is named by its id', async () => {
  await using harness = await AlertHarness.open();
  const id = harness.engine.ids.mint('ep', instant(1)) as string as EndpointKey;
  await harness.condition('breaker_opened', [await harness.channel()]);
  await harness.saveBreaker(id, true);
  const { alerts } = harness.node();
  await harness.advance(SOON_MS);
  expect((await harness.messages())[0]?.content.title).toBe(`Breaker open: ${id}`);
  await alerts.stop();
});
