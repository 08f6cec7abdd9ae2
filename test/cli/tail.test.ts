/** `sched tail` with a real service that sends to a real receiver. */
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Sched, type Schedule } from '#sdk/index.ts';
import { SETTINGS, TEST_KEY } from '#test/delivery/harness.ts';
import { startInThread } from '#test/process/run-command.ts';
import { startSched, temporaryDirectory } from '#test/process/sched-process.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { startAtTerminal, startPiped, withoutColours } from './command.ts';
import { useService } from './service.ts';

const { receiver, client, env } = useService();

interface Line {
  readonly type: 'attempt' | 'end';
  readonly delivery: { readonly schedule_id: string; readonly status: string };
  readonly attempt?: { readonly attempt_no: number; readonly outcome: string; readonly status_code: number };
}

const WATCHING = /Watching \d+ waiting deliver/;
const QUICK_RETRIES = { base: '100ms', factor: 1, max: '100ms' };

/** The events of one schedule in the output, such as `1 retryable 500` and `end succeeded`. */
function eventsOf(stdout: string, { id }: Schedule): readonly string[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines
    .map((line) => JSON.parse(line) as Line)
    .filter(({ delivery }) => delivery.schedule_id === id)
    .map(({ type, delivery, attempt }) =>
      type === 'end'
        ? `end ${delivery.status}`
        : `${attempt?.attempt_no} ${attempt?.outcome} ${attempt?.status_code}`,
    );
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

// This test takes longest, so it comes first and the others run beside it.
test.concurrent('tail waits for a service that stopped, says so once, and continues', async () => {
  const settings = { dataDir: temporaryDirectory(), env: { ...SETTINGS, SCHED_PORT: await freePort() } };
  const first = await startSched(settings);
  const tail = startPiped(['tail'], { env: { SCHED_URL: first.url, SCHED_API_KEY: TEST_KEY } });
  await tail.waitForText(WATCHING);
  await first.kill();
  await tail.waitForText(/The service does not answer: .+ Waiting for it\./);
  await using second = await startInThread(settings);
  await tail.waitForText(/The service answers again\./);
  const there = new Sched({ url: second.url, apiKey: TEST_KEY });
  const { id } = await there.schedules.create({ endpoint: receiver().hook().url, delay: '1s' });
  await tail.waitForText(new RegExp(`${id}.+succeeded`));
  tail.child.kill('SIGINT');
  const { code, stderr } = await tail.ended;
  expect(code).toBe(0);
  expect(stderr.split('\n')).toHaveLength(4);
});

test.concurrent('tail reports every attempt and every end, of earlier and of later deliveries', async () => {
  const failsFirst = receiver().hook(answer(500), answer(200));
  const body = { retry_policy: QUICK_RETRIES };
  const before = await client().schedules.create({ ...body, endpoint: failsFirst.url, delay: '24h' });
  const canceled = await client().schedules.create({ endpoint: failsFirst.url, delay: '24h' });
  const tail = startPiped(['tail', '--json'], { env: env() });
  await tail.waitForText(WATCHING);
  const redirects = receiver().hook(answer(302));
  await client().schedules.reschedule(before.id, { delay: '1s' });
  const after = await client().schedules.create({ endpoint: redirects.url, delay: '1s' });
  const ended = (schedule: Schedule) =>
    tail.waitForText(new RegExp(`"type":"end".+"schedule_id":"${schedule.id}"`));
  await ended(after);
  await client().schedules.cancel(canceled.id);
  await Promise.all([ended(before), ended(canceled)]);
  // A replay is due at once. It may end before a list first shows it.
  const [delivery] = (await client().schedules.deliveries(before.id).page()).data;
  const replay = await client().deliveries.replay(delivery?.id ?? '');
  await tail.waitForText(new RegExp(`"type":"end".+"id":"${replay.id}"`));
  tail.child.kill('SIGINT');
  const { code, stdout, stderr } = await tail.ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/^sched: Watching \d+ waiting deliver(y|ies) and new ones\. Stop with Ctrl-C\.\n$/);
  expect(eventsOf(stdout, before)).toEqual([
    '1 retryable 500',
    '2 success 200',
    'end succeeded',
    '1 success 200',
    'end succeeded',
  ]);
  expect(eventsOf(stdout, after)).toEqual(['1 terminal 302', 'end dead_letter']);
  expect(eventsOf(stdout, canceled)).toEqual(['end canceled']);
});

test.concurrent('--schedule and --status limit the output to one schedule and status, over several runs', async () => {
  const hook = receiver().hook(answer(302));
  const name = 'tail-yearly';
  const recurring = await client().schedules.put(name, { endpoint: hook.url, cron: '0 0 1 1 *' });
  const other = await client().schedules.create({ endpoint: receiver().hook().url, delay: '2s' });
  const args = ['tail', '--schedule', name, '--status', 'dead_letter', '--for', '15s'];
  const tail = startPiped(args, { env: env() });
  await tail.waitForText(WATCHING);
  for (const run of [1, 2]) {
    await client().schedules.reschedule(recurring.id, { delay: '1s' });
    await tail.waitForText(new RegExp(`(?:dlv_.+attempt 1.+dead_letter.*\\n[^]*){${run}}`));
  }
  tail.child.kill('SIGTERM');
  const { code, stdout } = await tail.ended;
  expect(code).toBe(0);
  expect(stdout).not.toContain(other.id);
  expect(stdout.split('\n').slice(0, -1)).toEqual(
    Array.from({ length: 2 }, () =>
      expect.stringMatching(
        /^\S+Z {2}dlv_\w+ {2}sch_\w+ {2}attempt 1 {3}terminal {3}302 {2}\d+ ms late +POST \S+ +→ dead_letter: .+$/,
      ),
    ),
  );
});

test.concurrent.each([80, 100])(
  'at a terminal with %i columns, lines fit and have colours, and Ctrl-C ends with exit code 0',
  async (columns) => {
    await using terminal = startAtTerminal(['tail'], { env: env(), columns });
    await terminal.waitForText(WATCHING);
    const retry_policy = { base: '10s', factor: 1, max: '10s', jitter: false };
    const fails = { endpoint: receiver().hook(answer(500)).url, delay: '1s', retry_policy };
    await client().schedules.create({ endpoint: receiver().hook().url, delay: '1s' });
    await client().schedules.create(fails);
    await terminal.waitForText(/\[33m→ retry in 10 s/);
    await terminal.waitForText(/\[32m→ succeeded/);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(0);
    for (const line of withoutColours(terminal.screen).split('\r\n'))
      expect(line.replace('^C', '').length).toBeLessThanOrEqual(columns);
  },
);

test.concurrent('tail reports a delivery that was resumed after its instant', async () => {
  const { url: endpoint } = receiver().hook();
  // The instant is moved near only after the pause, so that nothing is sent before, however slow the machine is.
  const pausedSchedule = async () => {
    const { id } = await client().schedules.create({ endpoint, delay: '24h' });
    await client().schedules.pause(id);
    return client().schedules.reschedule(id, { delay: '1s' });
  };
  const before = await pausedSchedule();
  const tail = startPiped(['tail', '--json'], { env: env() });
  await tail.waitForText(WATCHING);
  const after = await pausedSchedule();
  await delay(1_500);
  for (const { id } of [before, after]) await client().schedules.resume(id);
  for (const { id } of [before, after])
    await tail.waitForText(new RegExp(`"type":"end".+"schedule_id":"${id}"`));
  tail.child.kill('SIGINT');
  const { stdout } = await tail.ended;
  for (const each of [before, after])
    expect(eventsOf(stdout, each)).toEqual(['1 success 200', 'end succeeded']);
});

test.concurrent('a closed pipe ends the command', async () => {
  const tail = startPiped(['tail', '--json'], { env: env() });
  await tail.waitForText(WATCHING);
  tail.child.stdout.destroy();
  await client().schedules.create({ endpoint: receiver().hook().url, delay: '1s' });
  expect(await tail.ended).toMatchObject({ code: 0 });
});

test.concurrent('--for ends the command after the given time', async () => {
  const { id } = await client().schedules.create({ endpoint: 'https://example.com/', delay: '24h' });
  const { code, stdout } = await startPiped(['tail', '--for', '1s', '--schedule', id], { env: env() }).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
});

test.concurrent.each([
  [['--schedule', 'sch_nope'], 3, '404 not_found'],
  [['--schedule', ''], 2, 'must not be empty'],
  [['--status', 'scheduled'], 2, 'succeeded, retry_scheduled, dead_letter, expired, canceled'],
])('%j ends the command at once', async (args, exit, why) => {
  const { code, stdout, stderr } = await startPiped(['tail', ...args], { env: env() }).ended;
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
  expect(stderr).toContain(why);
});

test.concurrent('an API key that is not accepted ends the command with exit code 4', async () => {
  const wrong = { ...env(), SCHED_API_KEY: 'sk_test_wrongWRONG0123456789' };
  expect(await startPiped(['tail'], { env: wrong }).ended).toMatchObject({ code: 4, stdout: '' });
});
