import { describe, expect, test } from 'vitest';
import { ALERT_CHANNELS_MAX, ALERT_CONDITIONS_MAX, type AlertChannel } from '#src/domain/alert.ts';
import type { AlertIncident } from '#src/domain/alert-incident.ts';
import { afterAttempt } from '#src/domain/alert-message.ts';
import { CLOSED } from '#src/domain/breaker.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { NEW_GATE } from '#src/domain/gate.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { UPKEEP_SLOT } from '#src/domain/slot.ts';
import {
  addChannel,
  addCondition,
  newChannel,
  newCondition,
  newIncident,
  newMessage,
} from './alert-builders.ts';
import { FAILURE, MINUTE_MS, REDIRECT, SUCCESS } from './builders.ts';
import { type Fixture, ownSuite, type Suite } from './fixture.ts';
import { Nodes } from './nodes.ts';

const ENDPOINT = 'https://a.example/hook' as EndpointKey;

export function alertsContract(suite: Suite): void {
  describe('an alert channel', () => {
    test('is read back with every field, and is listed in the order of creation', async () => {
      const fixture = await suite.fixture();
      const channels = [
        await addChannel(fixture),
        await addChannel(fixture, {
          kind: 'slack',
          name: 'Zoë "Z" \u{1f600}',
          sealedUrl: Uint8Array.of(0, 255),
        }),
      ];
      const { alerts } = fixture.store;
      expect(await alerts.listChannels(fixture.partition)).toEqual(channels.map(comparable));
      expect(await alerts.listChannels(fixture.neighbour)).toEqual([]);
      for (const channel of channels) {
        const found = await alerts.findChannel(fixture.partition, channel.id);
        expect(found).toEqual(comparable(channel));
        expect(await alerts.findChannel(fixture.neighbour, channel.id)).toBeNull();
      }
    });

    test('has a name of its own in its partition', async () => {
      const fixture = await suite.fixture();
      const first = await addChannel(fixture, { name: 'ops' });
      const second = await addChannel(fixture, { name: 'dev' });
      const { alerts } = fixture.store;
      expect(await alerts.addChannel(newChannel(fixture, { name: 'ops' }))).toBe('taken');
      expect(await alerts.replaceChannel({ ...second, name: 'ops', revision: 2 })).toBe('taken');
      expect(await alerts.replaceChannel({ ...first, revision: 2 })).toBe('done');
      expect(await alerts.replaceChannel({ ...first, name: 'on-call', revision: 2 })).toBe('stale');
      expect(await alerts.replaceChannel({ ...first, name: 'on-call', revision: 3 })).toBe('done');
      expect(await alerts.addChannel(newChannel(fixture, { name: 'ops' }))).toBe('done');
      const elsewhere = newChannel(fixture, { name: 'dev', partition: fixture.neighbour });
      expect(await alerts.addChannel(elsewhere)).toBe('done');
    });

    test('is one of 20 at most, also when several are added at the same time', async () => {
      const fixture = await suite.fixture();
      const added = await Promise.all(
        Array.from({ length: ALERT_CHANNELS_MAX + 3 }, () =>
          fixture.store.alerts.addChannel(newChannel(fixture)),
        ),
      );
      expect(added.filter((answer) => answer === 'done')).toHaveLength(ALERT_CHANNELS_MAX);
      expect(added.filter((answer) => answer === 'full')).toHaveLength(3);
    });

    test('is removed only if no condition names it', async () => {
      const fixture = await suite.fixture();
      const [channel, other] = [await addChannel(fixture), await addChannel(fixture)];
      const condition = await addCondition(fixture, { channelIds: [channel.id, other.id] });
      const { alerts } = fixture.store;
      expect(await alerts.removeChannel(channel)).toBe('in_use');
      const without = { ...condition, channelIds: [other.id], revision: 2 };
      expect(await alerts.replaceCondition(without)).toBe('done');
      expect(await alerts.removeChannel({ ...channel, revision: 7 })).toBe('stale');
      expect(await alerts.removeChannel(channel)).toBe('done');
      expect(await alerts.removeChannel(channel)).toBe('stale');
      expect(await alerts.replaceCondition({ ...condition, revision: 3 })).toBe('missing');
      expect(await alerts.addCondition(newCondition(fixture, { channelIds: [channel.id] }))).toBe('missing');
      expect(await alerts.listConditions(fixture.partition)).toEqual([without]);
    });
  });

  describe('an alert condition', () => {
    test('is read back with every field', async () => {
      const fixture = await suite.fixture();
      const { alerts } = fixture.store;
      const conditions = [
        await addCondition(fixture),
        await addCondition(fixture, {
          kind: 'deliveries_failed',
          threshold: 1_000_000,
          windowMinutes: 1_440,
        }),
        await addCondition(fixture, { kind: 'occurrences_skipped', enabled: false }),
      ];
      expect(await alerts.listConditions(fixture.partition)).toEqual(conditions);
      expect(await alerts.listConditions(fixture.neighbour)).toEqual([]);
      const [first] = conditions;
      if (first === undefined) throw new Error('There is a condition.');
      expect(await alerts.findCondition(fixture.partition, first.id)).toEqual(first);
      expect(await alerts.findCondition(fixture.neighbour, first.id)).toBeNull();
      expect(await alerts.removeCondition(first, fixture.now)).toBe('done');
      expect(await alerts.removeCondition(first, fixture.now)).toBe('stale');
      expect(await alerts.listConditions(fixture.partition)).toEqual(conditions.slice(1));
    });

    test('is one of 20 at most', async () => {
      const fixture = await suite.fixture();
      const { id } = await addChannel(fixture);
      for (let each = 0; each < ALERT_CONDITIONS_MAX; each++)
        await addCondition(fixture, { channelIds: [id] });
      expect(await fixture.store.alerts.addCondition(newCondition(fixture, { channelIds: [id] }))).toBe(
        'full',
      );
    });

    test('makes its partition one of those that are watched', async () => {
      const fixture = await suite.fixture();
      const others = [await suite.fixture(), await suite.fixture()];
      for (const one of [fixture, ...others]) for (const _ of [1, 2]) await addCondition(one);
      const own = [fixture, ...others].map(({ partition }) => partition);
      const watched = await pages(2, (after, limit) =>
        fixture.store.alerts.listPartitionsWithConditions(after, limit),
      );
      expect(watched).toEqual(expect.arrayContaining(own));
      expect(new Set(watched).size).toBe(watched.length);
      expect(watched).not.toContain(fixture.neighbour);
    });
  });

  describe('an incident', () => {
    test('is added with its messages, and read back with every field', async () => {
      const fixture = await suite.fixture();
      const { condition, incident, messages } = await opened(fixture);
      const { alerts } = fixture.store;
      expect(await alerts.findIncident(fixture.partition, incident.id)).toEqual(incident);
      expect(await alerts.findIncident(fixture.neighbour, incident.id)).toBeNull();
      expect(await alerts.listOpenIncidents(fixture.partition)).toEqual([incident]);
      expect(await alerts.listMessages(fixture.partition, incident.id, 10)).toEqual(messages.toReversed());
      const [message] = messages;
      if (message === undefined) throw new Error('There is a message.');
      expect(await alerts.findMessage(fixture.partition, message.id)).toEqual(message);
      expect(await alerts.findMessage(fixture.neighbour, message.id)).toBeNull();
      const reminded = {
        ...incident,
        quietSince: fixture.tick(),
        remindedAt: fixture.tick(),
        revision: 2,
      };
      const reminder = newMessage(fixture, incident, { kind: 'reminder' });
      const write = { condition, incident: reminded, messages: [reminder] };
      expect(await alerts.replaceIncident(write)).toBe('done');
      expect(await alerts.findIncident(fixture.partition, incident.id)).toEqual(reminded);
      expect(await alerts.listMessages(fixture.partition, incident.id, 1)).toEqual([reminder]);
    });

    test('is open once for a condition and endpoint, also when two nodes add it at the same time', async () => {
      const fixture = await suite.fixture();
      const condition = await addCondition(fixture);
      const { alerts } = fixture.store;
      const add = (endpoint: EndpointKey | null) => {
        const incident = newIncident(fixture, condition, endpoint);
        return alerts.addIncident({ condition, incident, messages: [newMessage(fixture, incident)] });
      };
      expect((await Promise.all([add(ENDPOINT), add(ENDPOINT), add(ENDPOINT)])).toSorted()).toEqual([
        'done',
        'stale',
        'stale',
      ]);
      expect(await add(null)).toBe('done');
      expect(await add(null)).toBe('stale');
      expect(await add(`${ENDPOINT}/other` as EndpointKey)).toBe('done');
      const open = await alerts.listOpenIncidents(fixture.partition);
      expect(open).toHaveLength(3);
      const counts = open.map(async ({ id }) => (await alerts.listMessages(fixture.partition, id, 9)).length);
      expect(await Promise.all(counts)).toEqual([1, 1, 1]);
      const [first] = open;
      if (first === undefined) throw new Error('There is an incident.');
      const ended = { ...first, endedAt: fixture.now, revision: 2 };
      expect(await alerts.replaceIncident({ condition, incident: ended, messages: [] })).toBe('done');
      expect(await add(ENDPOINT)).toBe('done');
    });

    test('changes only as it was read, on the condition that was read', async () => {
      const fixture = await suite.fixture();
      const { condition, incident } = await opened(fixture);
      const { alerts } = fixture.store;
      const next = { ...incident, endedAt: fixture.now, revision: 2 };
      const messages = () => [newMessage(fixture, incident, { kind: 'closed' })];
      const answers = await Promise.all([
        alerts.replaceIncident({ condition, incident: next, messages: messages() }),
        alerts.replaceIncident({ condition, incident: next, messages: messages() }),
      ]);
      expect(answers.toSorted()).toEqual(['done', 'stale']);
      expect(await alerts.listMessages(fixture.partition, incident.id, 10)).toHaveLength(3);
      const changed = { ...condition, revision: 2 };
      expect(await alerts.replaceCondition(changed)).toBe('done');
      const again = newIncident(fixture, condition, ENDPOINT);
      expect(await alerts.addIncident({ condition, incident: again, messages: [] })).toBe('stale');
      expect(await alerts.addIncident({ condition: changed, incident: again, messages: [] })).toBe('done');
    });

    test('ends with its condition, or when that is disabled', async () => {
      const fixture = await suite.fixture();
      const { condition, incident } = await opened(fixture);
      const other = await opened(fixture);
      const { alerts } = fixture.store;
      const disabled = { ...condition, enabled: false, updatedAt: fixture.tick(), revision: 2 };
      expect(await alerts.replaceCondition(disabled)).toBe('done');
      expect(await alerts.findIncident(fixture.partition, incident.id)).toEqual({
        ...incident,
        endedAt: disabled.updatedAt,
        revision: 2,
      });
      expect(await alerts.listOpenIncidents(fixture.partition)).toEqual([other.incident]);
      expect(await alerts.removeCondition(other.condition, fixture.tick())).toBe('done');
      expect(await alerts.listOpenIncidents(fixture.partition)).toEqual([]);
    });

    test('is listed newest first, page by page', async () => {
      const fixture = await suite.fixture();
      const condition = await addCondition(fixture);
      const { alerts } = fixture.store;
      const incidents: AlertIncident[] = [];
      for (const name of ['a', 'b', 'c']) {
        const incident = newIncident(fixture, condition, `https://${name}.example/` as EndpointKey);
        expect(await alerts.addIncident({ condition, incident, messages: [] })).toBe('done');
        incidents.unshift(incident);
      }
      expect(await alerts.listIncidents(fixture.partition, null, 2)).toEqual(incidents.slice(0, 2));
      const last = incidents[1]?.id ?? null;
      expect(await alerts.listIncidents(fixture.partition, last, 2)).toEqual(incidents.slice(2));
      expect(await alerts.listIncidents(fixture.neighbour, null, 2)).toEqual([]);
    });
  });

  describe('messages', () => {
    test('are listed for each partition while they wait and are due, and change as they were read', async () => {
      const fixture = await suite.fixture();
      const { incident, messages } = await opened(fixture);
      const { alerts } = fixture.store;
      const [first, second] = messages;
      if (first === undefined || second === undefined) throw new Error('There are two messages.');
      const due = (now: Instant) => alerts.listDueMessages(fixture.partition, now);
      expect(await due(instant(first.createdAt - 1))).toEqual([]);
      expect(await due(fixture.now)).toEqual(messages);
      expect(await alerts.listDueMessages(fixture.neighbour, fixture.now)).toEqual([]);
      const retried = afterAttempt(first, FAILURE, fixture.tick());
      const answers = await Promise.all([alerts.replaceMessage(retried), alerts.replaceMessage(retried)]);
      expect(answers.toSorted()).toEqual(['done', 'stale']);
      expect(await alerts.findMessage(fixture.partition, first.id)).toEqual(retried);
      expect(await due(fixture.now)).toEqual([second]);
      expect(await alerts.replaceMessage(afterAttempt(second, REDIRECT, fixture.tick()))).toBe('done');
      expect(await partitionsDue(fixture, fixture.now)).not.toContain(fixture.partition);
      const later = instant(fixture.now + MINUTE_MS);
      expect(await due(later)).toEqual([retried]);
      expect(await partitionsDue(fixture, later)).toContain(fixture.partition);
      expect(await alerts.replaceMessage(afterAttempt(retried, SUCCESS, later))).toBe('done');
      expect(await due(later)).toEqual([]);
      const ended = await alerts.listMessages(fixture.partition, incident.id, 10);
      expect(ended.map(({ status }) => status)).toEqual(['failed', 'delivered']);
    });

    test('are due one for each channel, and behind earlier ones of their incident', async () => {
      const fixture = await suite.fixture();
      const { id: channelId } = await addChannel(fixture);
      const condition = await addCondition(fixture, { channelIds: [channelId] });
      const { alerts } = fixture.store;
      const incidents = ['https://a.example/', 'https://b.example/'].map((endpoint) =>
        newIncident(fixture, condition, endpoint as EndpointKey),
      );
      const messages = incidents.map((incident) => newMessage(fixture, incident, { channelId }));
      for (const [index, incident] of incidents.entries()) {
        const write = { condition, incident, messages: messages.slice(index, index + 1) };
        expect(await alerts.addIncident(write)).toBe('done');
      }
      const [[incident], [first, second]] = [incidents, messages];
      if (first === undefined || second === undefined || incident === undefined)
        throw new Error('There are two.');
      const due = async (now = fixture.now) =>
        (await alerts.listDueMessages(fixture.partition, now)).map(({ id }) => id);
      expect(await due()).toEqual([first.id]);
      // The channel is down when the incident begins, and works when it ends.
      const retried = afterAttempt(first, FAILURE, fixture.now);
      expect(await alerts.replaceMessage(retried)).toBe('done');
      const last = newMessage(fixture, incident, { channelId, kind: 'closed' });
      const ended = { ...incident, endedAt: fixture.now, revision: 2 };
      expect(await alerts.replaceIncident({ condition, incident: ended, messages: [last] })).toBe('done');
      expect(await due()).toEqual([second.id]);
      expect(await alerts.replaceMessage(afterAttempt(second, SUCCESS, fixture.now))).toBe('done');
      expect(await due()).toEqual([]);
      const again = instant(retried.dueAt ?? 0);
      expect(await due(again)).toEqual([first.id]);
      const failed = afterAttempt(retried, FAILURE, again);
      expect(await alerts.replaceMessage(failed)).toBe('done');
      expect(await due(again)).toEqual([]);
      const delivered = afterAttempt(failed, SUCCESS, instant(failed.dueAt ?? 0));
      expect(await due(instant(failed.dueAt ?? 0))).toEqual([first.id]);
      expect(await alerts.replaceMessage(delivered)).toBe('done');
      expect(await due(instant(failed.dueAt ?? 0))).toEqual([last.id]);
    });

    test.each(['disabled', 'removed'] as const)(
      'about open incidents are dropped when their condition is %s',
      async (how) => {
        const fixture = await suite.fixture();
        const { condition, incident, messages } = await opened(fixture);
        const other = await opened(fixture);
        const { alerts } = fixture.store;
        const now = fixture.tick();
        const change =
          how === 'removed'
            ? alerts.removeCondition(condition, now)
            : alerts.replaceCondition({ ...condition, enabled: false, updatedAt: now, revision: 2 });
        expect(await change).toBe('done');
        const dropped = await alerts.listMessages(fixture.partition, incident.id, 10);
        expect(dropped.map(({ status, error, dueAt, endedAt }) => [status, error, dueAt, endedAt])).toEqual(
          messages.map(() => ['failed', 'the condition was switched off', null, now]),
        );
        expect(await alerts.listDueMessages(fixture.partition, fixture.now)).toEqual(other.messages);
      },
    );

    test('to test a channel are added one at a time, while the channel exists', async () => {
      const fixture = await suite.fixture();
      const channel = await addChannel(fixture);
      const { alerts } = fixture.store;
      const test = () => newMessage(fixture, null, { kind: 'test', channelId: channel.id });
      const answers = await Promise.all([alerts.addTestMessage(test()), alerts.addTestMessage(test())]);
      expect(answers.toSorted()).toEqual(['done', 'in_use']);
      const [waiting] = await alerts.listDueMessages(fixture.partition, fixture.now);
      if (waiting === undefined) throw new Error('There is a message.');
      expect(await alerts.replaceMessage(afterAttempt(waiting, SUCCESS, fixture.now))).toBe('done');
      expect(await alerts.addTestMessage(test())).toBe('done');
      expect(await alerts.removeChannel(channel)).toBe('done');
      expect(await alerts.addTestMessage(test())).toBe('missing');
    });

    test('and incidents are unchanged after reopening', async () => {
      const fixture = await suite.fixture();
      const { incident, messages } = await opened(fixture);
      await fixture.reopen();
      expect(await fixture.store.alerts.listOpenIncidents(fixture.partition)).toEqual([incident]);
      expect(await fixture.store.alerts.listDueMessages(fixture.partition, fixture.now)).toEqual(messages);
    });
  });

  describe('ended messages and incidents', () => {
    const own = ownSuite(suite);

    test('are removed when they are old; others stay', async () => {
      const fixture = await own.fixture();
      const old = await opened(fixture);
      const open = await opened(fixture);
      const { alerts } = fixture.store;
      const endedAt = fixture.tick();
      for (const message of old.messages) {
        expect(await alerts.replaceMessage(afterAttempt(message, SUCCESS, endedAt))).toBe('done');
      }
      const ended = { ...old.incident, endedAt, revision: 2 };
      expect(await alerts.replaceIncident({ ...old, incident: ended, messages: [] })).toBe('done');
      expect(await alerts.prune(endedAt, 10)).toBe(0);
      const after = instant(endedAt + 1);
      expect(await alerts.prune(after, 1)).toBe(1);
      expect(await alerts.prune(after, 10)).toBe(2);
      expect(await alerts.prune(after, 10)).toBe(0);
      expect(await alerts.listIncidents(fixture.partition, null, 10)).toEqual([open.incident]);
      expect(await alerts.listDueMessages(fixture.partition, fixture.now)).toEqual(open.messages);
    });
  });

  describe('under a fence', () => {
    const own = ownSuite(suite);

    test('only the owner of the upkeep slot changes incidents', async () => {
      const fixture = await own.fixture();
      const nodes = new Nodes(own.store);
      const fence = await nodes.take('a', [UPKEEP_SLOT]);
      const condition = await addCondition(fixture);
      const { alerts } = own.store;
      const incident = newIncident(fixture, condition, null);
      const write = { condition, incident, messages: [newMessage(fixture, incident)] };
      const another = { node: 'b', epochs: fence.epochs };
      expect(await alerts.addIncident(write, another)).toBe('stale');
      expect(await alerts.addIncident(write, { node: 'a', epochs: new Map() })).toBe('stale');
      expect(await alerts.listOpenIncidents(fixture.partition)).toEqual([]);
      expect(await alerts.addIncident(write, fence)).toBe('done');
      await own.store.releaseSlots(fence);
      const next = { ...write, incident: { ...incident, endedAt: fixture.now, revision: 2 }, messages: [] };
      expect(await alerts.replaceIncident(next, fence)).toBe('stale');
      expect(await alerts.replaceIncident(next, await nodes.take('a', [UPKEEP_SLOT]))).toBe('done');
      await own.store.leave('a');
    });
  });

  test('breakers that are not closed are listed', async () => {
    const fixture = await suite.fixture();
    const open = { ...CLOSED, failures: 5, openUntil: instant(fixture.now + 1), windowMs: 1 };
    for (const [name, breaker] of [
      ['a', open],
      ['b', CLOSED],
      ['c', { ...open, openUntil: instant(0) }],
    ] as const) {
      const gate = { ...NEW_GATE, breaker };
      await fixture.store.saveGates([fixture.gate(`https://${name}.example/` as EndpointKey, { gate })]);
    }
    const { insight } = fixture.store;
    const list = (limit: number, after = instant(0)) =>
      insight.listOpenBreakers(fixture.partition, after, limit);
    expect((await list(10)).toSorted()).toEqual(['https://a.example/', 'https://c.example/']);
    expect(await list(1)).toHaveLength(1);
    expect(await list(10, fixture.now)).toEqual([]);
    expect(await insight.listOpenBreakers(fixture.neighbour, instant(0), 10)).toEqual([]);
  });
}

/** SQLite returns a buffer, which is another class. */
function comparable(channel: AlertChannel) {
  return { ...channel, sealedUrl: expect.toSatisfy((bytes) => Buffer.from(bytes).equals(channel.sealedUrl)) };
}

/** A condition with an open incident and two messages. */
async function opened(fixture: Fixture) {
  const condition = await addCondition(fixture);
  const incident = newIncident(fixture, condition, ENDPOINT);
  const messages = [newMessage(fixture, incident), newMessage(fixture, incident)];
  expect(await fixture.store.alerts.addIncident({ condition, incident, messages })).toBe('done');
  return { condition, incident, messages };
}

function partitionsDue(fixture: Fixture, now: Instant): Promise<readonly Partition[]> {
  return pages(3, (after, limit) => fixture.store.alerts.listPartitionsWithMessages(after, now, limit));
}

async function pages(
  limit: number,
  list: (after: Partition | null, limit: number) => Promise<readonly Partition[]>,
): Promise<readonly Partition[]> {
  const all: Partition[] = [];
  for (;;) {
    const page = await list(all.at(-1) ?? null, limit);
    expect(page.length).toBeLessThanOrEqual(limit);
    all.push(...page);
    if (page.length < limit) return all;
  }
}
