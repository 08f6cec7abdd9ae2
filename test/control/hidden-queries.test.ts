/**
 * The queries of destinations often contain credentials. A viewer sees none of them, on any route or live page, and
 * cannot search by them. An operator can.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Listed } from '#src/control/http/contract.ts';
import { beginIncident } from '#src/domain/alert-incident.ts';
import { CLOSED } from '#src/domain/breaker.ts';
import { type EndpointKey, endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { IdMint, parseId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { NO_STATS } from '#src/domain/stats.ts';
import { Builders, HOURLY, seededBytes } from '#test/store-contract/builders.ts';
import { useDashboard } from './harness.ts';

const dashboard = useDashboard();

const MARKER = 'SECRET-MARKER';
const INLINE = `https://inline.example/hook?token=${MARKER}`;
/** A customer may store a URL like this, with a space and a quote in it. */
const ODD = `https://odd.example/a hook?a="b" c=${MARKER}`;
const PROFILE = `https://profile.example/hook?token=${MARKER}`;
const LABEL = 'https://label.example/?shown=to-everybody';
/** No error contains a URL today. */
const FAILURE_WITH_URL = { outcome: 'retryable', statusCode: 503, error: `${INLINE} failed` } as const;
const PLACE = 'p/shop/test';

interface Ids {
  readonly schedules: string;
  readonly deliveries: string;
  readonly endpoints: string;
  readonly replays: string;
  readonly attempts: string;
  readonly incidents: string;
  readonly messages: string;
}
let ids: Ids;

/** Creates everything that pages show: inline and profile destinations, all states, replays, breakers and counts. */
beforeAll(async () => {
  const { operator, store } = dashboard();
  const create = async (path: string, body: object) => {
    const { status, json } = await operator.post<{ readonly id: string }>(`${PLACE}/${path}`, body);
    expect(status).toBe(201);
    return json.id;
  };
  const endpoint = await create('endpoints', { url: PROFILE, metadata: { page: LABEL } });
  await create('schedules', { endpoint_id: endpoint, delay: '5m' });
  await create('schedules', { endpoint: ODD, cron: '*/5 * * * *', timezone: 'UTC' });
  const schedule = await create('schedules', { endpoint: INLINE, delay: '5m', metadata: { page: LABEL } });

  const partition = (await store.findProject('shop'))?.partitions.test;
  if (partition === undefined) throw new Error('There is no such project.');
  const build = new Builders(partition, new IdMint(seededBytes(5)));
  const destination = { kind: 'inline', url: INLINE, method: 'POST' } as const;
  const { schedule: failing, pending } = build.schedule({ destination, timing: HOURLY });
  await store.addSchedule({ schedule: failing, pending, payload: null, profile: null, receipt: null });
  const claimed = build.claim(pending, { schedule: failing, profile: null });
  await store.claim([claimed]);
  await store.settle([build.settle(claimed, failing, FAILURE_WITH_URL)]);

  const endpoints = [endpointKeyOf(pending.target), endpointKeyOf({ endpointId: null, url: ODD }), endpoint];
  const openUntil = instant(build.now + 30_000);
  const breaker = { ...CLOSED, failures: 5, openUntil, windowMs: 30_000 };
  const gate = { breaker, budget: null, rateLimiters: {} };
  await store.saveGates(endpoints.map((key) => build.gate(key as EndpointKey, { gate })));
  const stats = { ...NO_STATS, fired: 3 };
  await store.insight.saveStats(
    'a',
    [],
    endpoints.map((key) => ({ partition, endpoint: key as EndpointKey, at: build.now, stats })),
  );
  const job = await create('replays', { status: 'dead_letter', expected: 1 });
  const attempts = claimed.delivery.claim.attemptId;
  const alerts = await addAlerts(partition, build);
  ids = {
    schedules: schedule,
    deliveries: pending.id,
    endpoints: endpoint,
    replays: job,
    attempts,
    ...alerts,
  };
});

/** A channel whose URL nobody sees, and an incident of an endpoint. */
async function addAlerts(
  partition: Partition,
  build: Builders,
): Promise<Pick<Ids, 'incidents' | 'messages'>> {
  const { admin, store } = dashboard();
  const create = async (path: string, body: object) =>
    (await admin.post<{ readonly id: string }>(`${PLACE}/alerts/${path}`, body)).json.id;
  const url = `https://alerts.example/${MARKER}?token=${MARKER}`;
  const channel = await create('channels', { kind: 'webhook', name: 'ops', url });
  const id = parseId('alc', await create('conditions', { kind: 'breaker_opened', channel_ids: [channel] }));
  const condition = id && (await store.alerts.findCondition(partition, id));
  if (condition === null) throw new Error('There is no such condition.');
  const incidents = build.ids.mint('inc', build.now);
  const finding = { endpoint: endpointKeyOf({ endpointId: null, url: INLINE }), count: null };
  const incident = beginIncident(condition, incidents, finding, null, build.now);
  await store.alerts.addIncident({ condition, incident, messages: [] });
  return { incidents, messages: await create(`channels/${channel}/test`, {}) };
}

/** Every path that a viewer may GET, with ids that exist. */
function paths(): readonly string[] {
  const shown = dashboard().routes.flatMap((route) =>
    route.access !== 'public' && route.method === 'GET' && route.needs === 'viewer' ? [route.path] : [],
  );
  return [
    ...shown.map((pattern) => {
      const path = pattern.replace('p/:project/:mode/', '');
      const [, kind = ''] = /(\w+)\/:id/.exec(path) ?? [];
      return path === pattern ? path : `${PLACE}/${path.replace(':id', ids[kind as keyof Ids])}`;
    }),
    `${PLACE}/endpoints?include_archived=true`,
    `${PLACE}/upcoming?until=2026-11-16T08:00:00Z`,
    `${PLACE}/search/schedules?q=hook`,
    `${PLACE}/search/schedules?q=${ids.endpoints}`,
    `${PLACE}/search/schedules?q=${ids.deliveries}`,
  ];
}

/** The routes that contain a destination. The test fails if another route contains one. */
const WITH_DESTINATIONS = [
  'schedules',
  'schedules/:id',
  'schedules/:id/deliveries',
  'deliveries',
  'deliveries/:id',
  'deliveries/:id/attempts',
  'deliveries/:id/details',
  'endpoints',
  'endpoints/:id',
  'overview',
  'upcoming',
  'destinations',
  'search/schedules',
  'search/deliveries',
  'attempts',
];

describe('the query of a destination', () => {
  test('is on no route for a viewer', async () => {
    const { viewer } = dashboard();
    expect(paths().length).toBeGreaterThan(20);
    for (const path of paths()) {
      const { status, text } = await viewer.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect([path, text.includes(MARKER)]).toEqual([path, false]);
    }
  });

  test('is on each route with destinations for an operator', async () => {
    const { operator } = dashboard();
    const shown: string[] = [];
    for (const path of paths().filter((path) => path.startsWith(PLACE) && !path.includes('?'))) {
      if ((await operator.get(path)).text.includes(MARKER)) {
        const of = Object.values(ids).reduce((left: string, id: string) => left.replace(id, ':id'), path);
        shown.push(of.slice(PLACE.length + 1));
      }
    }
    expect(shown.toSorted()).toEqual(WITH_DESTINATIONS.toSorted());
  });

  test('is not on a live page of a viewer, even if an operator watches the same path', async () => {
    const { viewer, operator } = dashboard();
    const all = paths();
    for (let at = 0; at < all.length; at += 6) {
      const watches = all.slice(at, at + 6);
      await operator.watch(watches);
      const events = await viewer.watch(watches);
      expect(events.map(({ event }) => event)).toEqual(watches.map(() => 'data'));
      expect(JSON.stringify(events)).not.toContain(MARKER);
    }
    const [event] = await operator.watch([`${PLACE}/overview`]);
    expect(JSON.stringify(event)).toContain(MARKER);
  });

  test('is shown as hidden, and metadata is not changed', async () => {
    const { json, text } = await dashboard().viewer.get<{ readonly endpoint: string }>(
      `${PLACE}/schedules/${ids.schedules}`,
    );
    expect(json.endpoint).toBe('https://inline.example/hook?…');
    expect(text).toContain(LABEL);
  });
});

describe('a search of a viewer', () => {
  const find = async (who: 'viewer' | 'operator', q: string) => {
    const path = `${PLACE}/search/schedules?${new URLSearchParams({ q }).toString()}`;
    return (await dashboard()[who].get<Listed<{ readonly id: string }>>(path)).json.data.length;
  };

  test.each([MARKER, MARKER.slice(0, 3), '?token', INLINE, `hook?token=${MARKER}`])(
    'finds nothing by a query: %s',
    async (q) => {
      expect(await find('operator', q)).toBeGreaterThan(0);
      expect(await find('viewer', q)).toBe(0);
    },
  );

  test('finds destinations by their visible part, as the links of a page do', async () => {
    expect(await find('viewer', 'hook')).toBe(await find('operator', 'hook'));
    expect(await find('viewer', 'https://inline.example/hook?…')).toBe(2);
    expect(await find('viewer', 'https://profile.example/hook?…')).toBe(1);
    expect(await find('viewer', ids.endpoints)).toBe(1);
  });
});
