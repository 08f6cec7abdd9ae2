/** Alerts as an operator sets them up on the command line, and as a real receiver gets them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verify as verifyBySdk } from '#sdk/index.ts';
import { readControlSettings } from '#src/app/config.ts';
import { withControl } from '#src/app/control-session.ts';
import type {
  AlertChannelInfo,
  AlertConditionInfo,
  AlertIncidentInfo,
  AlertMessageInfo,
} from '#src/control/http/alert-contract.ts';
import { runPiped } from '#test/cli/command.ts';
import { Api } from '#test/e2e/client.ts';
import { created } from '#test/e2e/expectations.ts';
import { type RunningService, startCheapest } from '#test/process/run-command.ts';
import { storeSettings } from '#test/process/store-in-use.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { headerOf, type Receiver, startReceiver, valuesOf } from '#test/receiver/receiver.ts';
import { verify } from '#test/receiver/verify.ts';
import { expectNoSecrets, SETTINGS, SIGNING_SECRET, TEST_KEY } from './harness.ts';

const PUBLIC_URL = 'https://sched.example.com';
const OF_TEST = ['--mode', 'test'];

/** Paths of the URLs of channels, which are credentials. */
const paths: string[] = [];
let running: { readonly sched: RunningService; readonly receiver: Receiver };

beforeAll(async () => {
  const env = { ...SETTINGS, SCHED_PUBLIC_URL: PUBLIC_URL };
  running = { receiver: await startReceiver(), sched: await startCheapest({ env }) };
});
afterAll(async () => {
  await running.sched.stop();
  await running.receiver[Symbol.asyncDispose]();
  expectNoSecrets(running.sched.output, [SIGNING_SECRET, ...paths]);
});

/** Runs `sched alert …` beside the service. */
async function alert(args: readonly string[], input?: string) {
  const env = { ...(await storeSettings(running.sched.dataDir)), SCHED_PUBLIC_URL: PUBLIC_URL };
  return runPiped(['alert', ...args], { env, ...(input !== undefined && { input }) });
}

async function json<T>(args: readonly string[], input?: string): Promise<T> {
  const { code, stdout, stderr } = await alert([...args, '--json'], input);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

function newChannel(name: string, url: string, kind = 'webhook'): Promise<AlertChannelInfo> {
  paths.push(new URL(url).pathname);
  return json(['channel', 'create', ...OF_TEST, '--kind', kind, '--name', name], `${url}\n`);
}

test('failed deliveries raise one alert, which is signed and is no delivery', async () => {
  const { receiver, sched } = running;
  const [failing, hook] = [receiver.hook(answer(301)), receiver.hook(answer(500), answer(200))];
  const channel = await newChannel('failures', hook.url);
  expect(channel).toMatchObject({ kind: 'webhook', name: 'failures', url: `${new URL(hook.url).origin}/…` });
  const about = ['--kind', 'deliveries_failed', '--channels', 'failures'];
  const terms = ['--threshold', '2', '--window-minutes', '5'];
  const create = ['condition', 'create', ...OF_TEST, ...about, ...terms];
  const condition = await json<AlertConditionInfo>(create);
  expect(condition).toMatchObject({
    threshold: 2,
    window_minutes: 5,
    channel_ids: [channel.id],
    enabled: true,
  });
  const api = Api.at(() => sched.url).as(TEST_KEY);
  const failures = Array.from({ length: 5 }, () => created(api, { endpoint: failing.url, delay: '1s' }));
  await Promise.all(failures);

  // The first attempt is answered with 500.
  const request = await hook.arrived(2);
  expect(verify(request, SIGNING_SECRET)).toBe('verified');
  const { method, path, headers } = request;
  const received = { method, url: path, headers: Object.fromEntries(headers), body: request.body };
  expect(await verifyBySdk(received, SIGNING_SECRET)).toMatchObject({ ok: true });
  const body = JSON.parse(request.body.toString());
  expect(body).toMatchObject({
    type: 'alert.opened',
    id: headerOf(request, 'Sched-Delivery-Id'),
    data: {
      title: 'Deliveries fail: more than 2 in 5 minutes',
      project: 'default',
      mode: 'test',
      incident: { condition_id: condition.id, kind: 'deliveries_failed', endpoint: null, closed_at: null },
    },
  });
  expect(body.data.url).toBe(`${PUBLIC_URL}/dashboard/p/default/test/alerts/${body.data.incident.id}`);
  expect(headerOf(request, 'Sched-Attempt')).toBe('2');
  expect(headerOf(request, 'Idempotency-Key')).toBe(body.id);

  expect((await api.get(`/v1/deliveries/${body.id}`)).status).toBe(404);
  const { json: listed } = await api.get<{ data: { id: string }[] }>('/v1/deliveries?limit=100');
  expect(listed.data.map(({ id }) => id)).not.toContain(body.id);

  const incidents = await json<AlertIncidentInfo[]>(['incident', 'list', ...OF_TEST]);
  expect(incidents).toMatchObject([{ id: body.data.incident.id, closed_at: null, title: body.data.title }]);
  await expect
    .poll(async () => {
      const shown = ['incident', 'show', body.data.incident.id, ...OF_TEST];
      return (await json<{ messages: AlertMessageInfo[] }>(shown)).messages;
    })
    .toMatchObject([{ id: body.id, status: 'delivered', attempt_count: 2, last_status_code: 200 }]);
  expect(hook.requests).toHaveLength(2);
  expect(await json(['incident', 'list', '--mode', 'live'])).toEqual([]);
}, 60_000);

test('a channel is tested: a message arrives, or the reason is shown', async () => {
  const { receiver } = running;
  const hook = receiver.hook(answer(200));
  await newChannel('team', hook.url, 'slack');
  const tested = await json<AlertMessageInfo>(['channel', 'test', 'team', ...OF_TEST]);
  expect(tested).toMatchObject({ kind: 'test', status: 'delivered', incident_id: null });
  const [request] = hook.requests;
  if (request === undefined) throw new Error('The message arrived.');
  expect(JSON.parse(request.body.toString())).toMatchObject({
    text: expect.stringContaining('Test of an alert channel'),
    blocks: [{ type: 'header' }, { type: 'section' }, { type: 'context' }],
  });
  expect(valuesOf(request, 'Sched-Signature')).toEqual([]);

  await newChannel('gone', receiver.hook(answer(302)).url);
  expect(await alert(['channel', 'test', 'gone', ...OF_TEST])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'sched: The test message was not delivered: redirect (HTTP 302).\n',
  });
}, 60_000);

test('channels and conditions are listed, changed and removed, and the audit log has no URL', async () => {
  const url = 'https://hooks.example.com/services/T0/B0/credential?key=credential';
  const { id } = await newChannel('on-call', url);
  const refused = await alert(
    ['channel', 'create', ...OF_TEST, '--kind', 'slack', '--name', 'on-call'],
    'https://hooks.example.com/services/other',
  );
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('already exists') });
  const wrong = await alert(
    ['channel', 'create', ...OF_TEST, '--kind', 'slack', '--name', 'x'],
    'http://hooks.example.com/services/credential',
  );
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).not.toContain('credential');
  const listed = await alert(['channel', 'list', ...OF_TEST]);
  expect(listed.stdout).toMatch(
    new RegExp(`^on-call +${id} +webhook +https://hooks\\.example\\.com/… `, 'm'),
  );
  expect(listed.stdout).not.toContain('credential');
  expect(await json(['channel', 'reveal', 'on-call', ...OF_TEST])).toEqual({ id, url });

  const create = ['condition', 'create', ...OF_TEST, '--kind', 'breaker_opened', '--channels', `on-call`];
  const condition = await json<AlertConditionInfo>(create);
  const missing = await alert([
    'condition',
    'create',
    ...OF_TEST,
    '--kind',
    'deliveries_failed',
    '--channels',
    id,
  ]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('needs a threshold') });
  const update = ['condition', 'update', condition.id, ...OF_TEST];
  expect(await json([...update, '--enabled', 'false'])).toMatchObject({ enabled: false });
  expect(await alert([...update, '--threshold', '5'])).toMatchObject({ code: 2 });
  expect(await alert(['channel', 'remove', 'on-call', ...OF_TEST])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Take it out of the condition'),
  });
  await json(['channel', 'rename', id, ...OF_TEST, '--name', 'night shift']);
  const conditions = await alert(['condition', 'list', ...OF_TEST]);
  expect(conditions.stdout).toMatch(new RegExp(`^${condition.id} +breaker_opened +- +night shift +no$`, 'm'));
  await json(['condition', 'remove', condition.id, ...OF_TEST]);
  expect(await json(['channel', 'remove', 'night shift', ...OF_TEST])).toEqual({
    id,
    name: 'night shift',
    removed: true,
  });
  const unknown = await alert(['channel', 'test', 'night shift', ...OF_TEST]);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no alert channel') });

  const settings = readControlSettings({ flags: {}, env: await storeSettings(running.sched.dataDir) });
  const filter = { userId: null, projectId: null, action: null };
  const entries = await withControl(settings, ({ store }) => store.people.listAudit(filter, null, 99));
  const actions = entries.map(({ action, subject, code }) => [action, subject, code]);
  expect(actions).toEqual(
    expect.arrayContaining([
      ['alert_channel.create', id, null],
      ['alert_channel.reveal', id, null],
      ['alert_channel.rename', id, null],
      ['alert_channel.remove', id, null],
      ['alert_condition.create', condition.id, null],
      ['alert_condition.update', condition.id, 'invalid_threshold'],
      ['alert_condition.remove', condition.id, null],
    ]),
  );
  const details = entries.map(({ action, code, detail }) => ({ action, code, detail }));
  for (const [action, detail] of [
    ['alert_condition.create', { kind: 'breaker_opened', channel_ids: 'on-call' }],
    ['alert_condition.update', { enabled: 'false' }],
    ['alert_channel.rename', { name: 'night shift' }],
  ] as const) {
    const recorded = { action, code: null, detail: expect.objectContaining(detail) };
    expect(details).toContainEqual(recorded);
  }
  expect(JSON.stringify(entries)).not.toMatch(/credential|hooks\.example/);
}, 60_000);
