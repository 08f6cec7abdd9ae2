import { describe, expect, test } from 'vitest';
import { createChannel, createCondition, testChannel } from '#src/control/alerts.ts';
import { beginIncident } from '#src/domain/alert-incident.ts';
import { afterAttempt, createMessage } from '#src/domain/alert-message.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { Refusal } from '#src/domain/errors.ts';
import { type AlertChannelId, parseId } from '#src/domain/id.ts';
import { type DataHarness, useDataHarness } from '#test/control/data-harness.ts';
import { FAILURE, START } from '#test/store-contract/builders.ts';

const open = useDataHarness();

const URL = 'https://hooks.example.com/services/T0/B0/hidden?key=hidden';
const CHANNEL = { kind: 'slack', name: 'ops', url: URL };

async function channel(harness: DataHarness, name = 'ops'): Promise<AlertChannelId> {
  const { status, body } = await harness.post('alerts/channels', { ...CHANNEL, name }, 'admin');
  expect(status).toBe(201);
  return body.id;
}

async function expectError(answer: Promise<{ status: number; body: { error: object } }>, error: object) {
  const { status, body } = await answer;
  expect({ status, ...body.error }).toMatchObject(error);
}

describe('a channel', () => {
  test('shows the origin of its URL, and an admin reveals the rest', async () => {
    const harness = await open();
    const id = await channel(harness);
    const shown = { id, kind: 'slack', name: 'ops', url: 'https://hooks.example.com/…' };
    for (const role of ['viewer', 'operator', 'admin'] as const) {
      const { body } = await harness.get('alerts/channels', role);
      expect(body.data).toMatchObject([shown]);
      expect(JSON.stringify(body)).not.toContain('hidden');
    }
    for (const role of ['viewer', 'operator'] as const) {
      expect((await harness.post(`alerts/channels/${id}/reveal`, {}, role)).status).toBe(403);
    }
    const revealed = await harness.post(`alerts/channels/${id}/reveal`, {}, 'admin');
    expect(revealed).toEqual({ status: 200, body: { url: URL } });
    expect(harness.audit.map(({ action, subject }) => [action, subject])).toEqual([
      ['alert_channel.create', id],
      ['alert_channel.reveal', id],
    ]);
    expect(JSON.stringify(harness.audit)).not.toMatch(/hidden|hooks\.example/);
  });

  test.each([
    [{ url: 'http://hooks.example.com/hidden' }, { status: 422, code: 'invalid_channel_url', param: 'url' }],
    [{ url: 'https://hidden:hidden@a.example/' }, { status: 422, code: 'invalid_channel_url', param: 'url' }],
    [{ url: 'hidden' }, { status: 422, code: 'invalid_channel_url' }],
    [{ url: `https://a.example/${'hidden'.repeat(400)}` }, { status: 400, code: 'invalid_request' }],
    [{ url: 17 }, { status: 400, code: 'invalid_request', param: 'url' }],
    [{ name: ' ops' }, { status: 422, code: 'invalid_channel_name', param: 'name' }],
    [{ kind: 'email' }, { status: 400, code: 'invalid_request', param: 'kind' }],
  ])('%# with a fault is refused, and its URL is not repeated', async (fault, error) => {
    const harness = await open();
    const answer = await harness.post('alerts/channels', { ...CHANNEL, ...fault }, 'admin');
    await expectError(Promise.resolve(answer), error);
    expect(JSON.stringify(answer.body)).not.toContain('hidden');
    expect((await harness.get('alerts/channels')).body.data).toEqual([]);
  });

  test('is renamed and removed, unless the name is taken or a condition uses it', async () => {
    const harness = await open();
    const [id] = [await channel(harness), await channel(harness, 'dev')];
    const rename = (name: string) => harness.patch(`alerts/channels/${id}`, { name }, 'admin');
    await expectError(rename('dev'), { status: 409, code: 'channel_name_taken', param: 'name' });
    expect((await rename('on-call')).body).toMatchObject({ id, name: 'on-call' });
    const condition = await harness.post(
      'alerts/conditions',
      { kind: 'breaker_opened', channel_ids: [id] },
      'admin',
    );
    const remove = () => harness.post(`alerts/channels/${id}/remove`, {}, 'admin');
    await expectError(remove(), { status: 409, code: 'channel_in_use' });
    await harness.post(`alerts/conditions/${condition.body.id}/remove`, {}, 'admin');
    expect((await remove()).status).toBe(200);
    await expectError(remove(), { status: 404, code: 'unknown_alert_channel' });
  });

  test('is tested by an operator; the message is polled', async () => {
    const harness = await open();
    const id = await channel(harness);
    const path = `alerts/channels/${id}/test`;
    expect((await harness.post(path, {}, 'viewer')).status).toBe(403);
    const { status, body } = await harness.post(path, {}, 'operator');
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'test', channel_id: id, status: 'waiting', incident_id: null });
    expect(harness.wakes).toHaveLength(1);
    await expectError(harness.post(path, {}, 'operator'), { status: 409, code: 'channel_test_waits' });
    const { alerts } = harness.control.store;
    const { partitions } = harness.project;
    const message = await alerts.findMessage(partitions.test, body.id);
    if (message === null) throw new Error('There is a message.');
    await alerts.replaceMessage(afterAttempt(message, FAILURE, START));
    expect((await harness.get(`alerts/messages/${body.id}`)).body).toMatchObject({
      status: 'failed',
      attempt_count: 1,
      last_status_code: 503,
      error: 'HTTP 503',
      next_attempt_at: null,
    });
  });
});

describe('a condition', () => {
  test('is created, changed and removed', async () => {
    const harness = await open();
    const id = await channel(harness);
    const given = { kind: 'deliveries_failed', threshold: 10, window_minutes: 5, channel_ids: [id] };
    const { status, body } = await harness.post('alerts/conditions', given, 'admin');
    expect(status).toBe(201);
    expect(body).toMatchObject({ ...given, enabled: true });
    const change = (fields: object) => harness.patch(`alerts/conditions/${body.id}`, { ...fields }, 'admin');
    expect((await change({ threshold: 0, enabled: false })).body).toMatchObject({
      threshold: 0,
      window_minutes: 5,
      enabled: false,
    });
    expect((await harness.get('alerts/conditions')).body.data).toHaveLength(1);
    expect(harness.audit.slice(1).map(({ action, detail }) => [action, detail])).toEqual([
      [
        'alert_condition.create',
        { kind: 'deliveries_failed', threshold: 10, window_minutes: 5, channel_ids: id },
      ],
      ['alert_condition.update', { threshold: 0, enabled: false }],
    ]);
    expect((await harness.post(`alerts/conditions/${body.id}/remove`, {}, 'admin')).status).toBe(200);
    await expectError(change({ enabled: true }), { status: 404, code: 'unknown_alert_condition' });
  });

  test.each([
    [{ threshold: null }, 'invalid_threshold', 'threshold'],
    [{ threshold: -1 }, 'invalid_threshold', 'threshold'],
    [{ threshold: 1_000_001 }, 'invalid_threshold', 'threshold'],
    [{ window_minutes: 0 }, 'invalid_window', 'window_minutes'],
    [{ window_minutes: 1_441 }, 'invalid_window', 'window_minutes'],
    [{ kind: 'breaker_opened' }, 'invalid_threshold', 'threshold'],
    [{ kind: 'occurrences_skipped', threshold: null }, 'invalid_window', 'window_minutes'],
    [{ channel_ids: [] }, 'invalid_channels', 'channel_ids'],
    [{ channel_ids: ['chn_00000000000000000000000000'] }, 'invalid_channels', 'channel_ids'],
  ])('with %j is refused', async (fault, code, param) => {
    const harness = await open();
    const terms = { kind: 'deliveries_failed', threshold: 10, window_minutes: 5 };
    const given = { ...terms, channel_ids: [await channel(harness)], ...fault };
    await expectError(harness.post('alerts/conditions', given, 'admin'), { status: 422, code, param });
    expect((await harness.get('alerts/conditions')).body.data).toEqual([]);
  });
});

test('incidents are listed page by page, with their messages', async () => {
  const harness = await open();
  const { store } = harness.control;
  const { test: partition } = harness.project.partitions;
  const ids = [await channel(harness)];
  const made = await harness.post('alerts/conditions', { kind: 'breaker_opened', channel_ids: ids }, 'admin');
  const conditionId = parseId('alc', made.body.id);
  const condition = conditionId && (await store.alerts.findCondition(partition, conditionId));
  if (condition === null) throw new Error('There is a condition.');
  for (const name of ['a', 'b', 'c']) {
    const now = harness.build.tick(1_000);
    const finding = { endpoint: `https://${name}.example/` as EndpointKey, count: null };
    const incident = beginIncident(condition, harness.build.ids.mint('inc', now), finding, null, now);
    const content = {
      title: name,
      text: name,
      url: null,
      project: 'p',
      mode: 'test',
      incident: null,
    } as const;
    const about = { partition, id: harness.build.ids.mint('dlv', now), incidentId: incident.id } as const;
    const message = createMessage(
      { ...about, channelId: condition.channelIds[0] as AlertChannelId, kind: 'opened', content },
      now,
    );
    expect(await store.alerts.addIncident({ condition, incident, messages: [message] })).toBe('done');
  }
  const first = (await harness.get('alerts/incidents?limit=2')).body;
  expect(first.data.map(({ title }: { title: string }) => title)).toEqual([
    'Breaker open: https://c.example/',
    'Breaker open: https://b.example/',
  ]);
  const rest = (await harness.get(`alerts/incidents?limit=2&cursor=${first.next_cursor}`)).body;
  expect(rest).toMatchObject({ data: [{ endpoint: 'https://a.example/' }], next_cursor: null });
  const { id } = rest.data[0];
  expect((await harness.get(`alerts/incidents/${id}`)).body).toEqual(rest.data[0]);
  const messages = (await harness.get(`alerts/incidents/${id}/messages`)).body.data;
  expect(messages).toMatchObject([{ incident_id: id, kind: 'opened', title: 'a', status: 'waiting' }]);
  await expectError(harness.get('alerts/incidents/inc_00000000000000000000000000/messages'), {
    status: 404,
    code: 'unknown_incident',
  });
});

test('while an older node lives, nothing is created', async () => {
  const harness = await open();
  const { store, clock, ids, vault } = harness.control;
  const { test: partition } = harness.project.partitions;
  const id = await channel(harness);
  const upgrade = {
    requireSince: async (since: string) => {
      throw new Refusal('unavailable', null, `needs ${since}`);
    },
  };
  const commands = { alerts: store.alerts, clock, ids, vault, upgrade, httpAllowed: false };
  const condition = {
    kind: 'breaker_opened',
    threshold: null,
    windowMinutes: null,
    channelIds: [id],
    enabled: true,
  } as const;
  const place = { project: 'p', mode: 'test', dashboard: null } as const;
  for (const created of [
    createChannel(commands, partition, { kind: 'slack', name: 'late', url: URL }),
    createCondition(commands, partition, condition),
    testChannel(commands, partition, id, place),
  ]) {
    await expect(created).rejects.toMatchObject({ code: 'unavailable', message: 'needs 0.3.0' });
  }
  expect(await store.alerts.listChannels(partition)).toHaveLength(1);
  expect(await store.alerts.listConditions(partition)).toEqual([]);
  expect(await store.alerts.listDueMessages(partition, clock.now())).toEqual([]);
});
