/** The commands for schedules, deliveries and endpoint profiles, run through pipes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { headerOf } from '#test/receiver/receiver.ts';
import { MAIN, startPiped } from './command.ts';
import { useService } from './service.ts';

const { sched, json, receiver, client, env } = useService();

const FAR = { endpoint: 'https://example.com/hook', delay: '24h' };

interface Shown {
  readonly id: string;
}

describe.concurrent('schedules', () => {
  test.concurrent('flags create a schedule, and its request arrives with them', async () => {
    const hook = receiver().hook();
    const flags = ['--endpoint', hook.url, '--delay', '1s', '--method', 'PUT', '--idempotency-key', 'k-1'];
    const { stdout } = await sched(
      ['schedules', 'create', ...flags, '--header', 'X-Tenant: acme', '--body', '-', '--metadata', 'a=b'],
      { input: '{"from":"stdin"}' },
    );
    expect(stdout).toMatch(/^Schedule +sch_\w{26}\nMode +test\nState +active\n/);
    expect(stdout).toMatch(/^Next +\S+ \S+Z \((?:in 1 s|now)\)$/m);
    const request = await hook.arrived();
    expect(request.method).toBe('PUT');
    expect(request.body.toString()).toBe('{"from":"stdin"}');
    expect([headerOf(request, 'x-tenant'), headerOf(request, 'idempotency-key')]).toEqual(['acme', 'k-1']);
  });

  test.concurrent('--data reads a file, a flag overrides its field, and a repeated request key has no effect', async () => {
    const path = join(temporaryDirectory(), 'schedule.json');
    writeFileSync(path, JSON.stringify({ endpoint: 'https://example.com/', delay: '1h', ttl: '2h' }));
    const args = ['--data', `@${path}`, '--ttl', '3h', '--request-key', 'once'];
    const first = await json<Shown & { readonly ttl: string }>('schedules', 'create', ...args);
    expect(first.ttl).toBe('3h');
    expect(await json('schedules', 'create', ...args)).toEqual(first);
  });

  test.concurrent('show prints the next runs with notes on clock changes', async () => {
    const recurring = { cron: '30 2 28 3 *', timezone: 'Europe/Berlin' };
    const { id } = await client().schedules.create({ endpoint: 'https://e.com', ...recurring });
    const { stdout } = await sched(['schedules', 'show', id]);
    expect(stdout).toMatch(/^Timing +30 2 28 3 \* Europe\/Berlin$/m);
    expect(stdout).toMatch(/LOCAL \(Europe\/Berlin\) +UTC +WHEN/);
    expect(stdout).toContain('02:30 does not exist on 2027-03-28, fires 03:00');
    expect(await json('schedules', 'show', id)).toMatchObject({ id, next_runs: { length: 5 } });
  });

  test.concurrent('create notes a wall-clock time that does not exist', async () => {
    const local = ['--local', '2027-03-28T02:30:00', '--tz', 'Europe/Berlin'];
    const { stdout } = await sched(['schedules', 'create', '--endpoint', 'https://e.com', ...local]);
    expect(stdout).toContain('02:30 does not exist on 2027-03-28, fires 03:30');
  });

  test.concurrent('a schedule is paused, resumed, updated, rescheduled and canceled', async () => {
    const { id } = await client().schedules.create({ ...FAR, metadata: { a: 'b' } });
    expect(await json('schedules', 'pause', id)).toMatchObject({ id, state: 'paused' });
    expect(await json('schedules', 'resume', id)).toMatchObject({ state: 'active' });
    expect(await json('schedules', 'update', id, '--ttl', '5m', '--max-attempts', '2')).toMatchObject({
      ttl: '5m',
      retry_policy: { max_attempts: 2, base: '5s' },
      metadata: { a: 'b' },
    });
    expect(await json('schedules', 'reschedule', id, '--cron', '0 9 * * *')).toMatchObject({
      cron: '0 9 * * *',
    });
    expect(await json('schedules', 'deliveries', id)).toMatchObject([
      { schedule_id: id, status: 'scheduled' },
    ]);
    const { code, stdout } = await sched(['schedules', 'cancel', id]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^State +canceled$/m) });
  });

  test.concurrent('list reads several pages up to the limit, and filters', async () => {
    const label = ['--metadata', 'list=pages'];
    const body = { ...FAR, metadata: { list: 'pages' } };
    await Promise.all(Array.from({ length: 130 }, () => client().schedules.create(body)));
    const all = await json<readonly Shown[]>('schedules', 'list', '--all', ...label);
    expect(all).toHaveLength(130);
    expect(new Set(all.map(({ id }) => id)).size).toBe(130);
    expect(await json('schedules', 'list', '--limit', '105', ...label)).toEqual(all.slice(0, 105));
    expect(await json('schedules', 'list', '--state', 'paused', ...label)).toEqual([]);
    const { stdout } = await sched(['schedules', 'list', '--limit', '2', ...label]);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/)[0])).toEqual([
      'ID',
      all[0]?.id,
      all[1]?.id,
      '',
    ]);
  });
});

describe.concurrent('schedules with a name', () => {
  const nightly = [
    '--endpoint',
    'https://example.com/report',
    '--cron',
    '0 3 * * *',
    '--tz',
    'Europe/Berlin',
  ];

  test.concurrent('put creates, changes nothing, or changes, and says which', async () => {
    const put = (...flags: string[]) => sched(['schedules', 'put', 'put-report', ...nightly, ...flags]);
    const [made, same, changed] = [await put(), await put(), await put('--ttl', '1h')];
    expect(made.stdout).toMatch(/^Created put-report\.\n\nSchedule +sch_\w{26}\nName +put-report\n/);
    expect(same.stdout).toMatch(/^put-report is unchanged\.\n\n/);
    expect(changed.stdout).toMatch(/^Changed put-report\.\n(?:.*\n)+TTL +1h\n/);
    expect([made, same, changed].every(({ code, stderr }) => code === 0 && stderr === '')).toBe(true);
    expect(await json('schedules', 'put', 'put-report', ...nightly, '--ttl', '1h')).toMatchObject({
      name: 'put-report',
      put_result: 'unchanged',
    });
  });

  test.concurrent('a dry run prints what would happen, and writes nothing', async () => {
    const put = (...flags: string[]) => sched(['schedules', 'put', 'dry-report', ...nightly, ...flags]);
    expect((await put('--dry-run')).stdout).toMatch(/^Would create dry-report\. Fields: .*\bcron\b.*\.\n$/);
    expect((await sched(['schedules', 'show', 'dry-report'])).code).toBe(3);
    await put();
    expect((await put('--dry-run')).stdout).toBe('dry-report would not change.\n');
    expect((await put('--ttl', '1h', '--dry-run')).stdout).toBe('Would change dry-report. Fields: ttl.\n');
    expect(await json('schedules', 'put', 'dry-report', ...nightly, '--ttl', '1h', '--dry-run')).toEqual({
      object: 'plan',
      action: 'change',
      fields: ['ttl'],
    });
    expect((await client().schedules.getNamed('dry-report')).ttl).toBeNull();
  });

  test.concurrent('a name works where an id does, and what begins with sch_ is an id', async () => {
    const made = await json<Shown>('schedules', 'create', ...nightly, '--name', 'by-name');
    expect(await json('schedules', 'show', 'by-name')).toMatchObject({ id: made.id, name: 'by-name' });
    expect(await json('schedules', 'update', 'by-name', '--ttl', '5m')).toMatchObject({ ttl: '5m' });
    expect(await json('schedules', 'reschedule', 'by-name', '--cron', '0 4 * * *')).toMatchObject({
      cron: '0 4 * * *',
    });
    expect(await json('schedules', 'pause', 'by-name')).toMatchObject({ state: 'paused' });
    expect(await json('schedules', 'resume', 'by-name')).toMatchObject({ state: 'active' });
    expect(await json('schedules', 'deliveries', 'by-name')).toMatchObject([{ schedule_id: made.id }]);
    expect(await json('deliveries', 'list', '--schedule', 'by-name')).toMatchObject([
      { schedule_id: made.id },
    ]);
    expect(await json('schedules', 'update', 'by-name', '--name', 'renamed')).toMatchObject({
      name: 'renamed',
    });
    expect(await json('schedules', 'cancel', 'renamed')).toMatchObject({ state: 'canceled' });
    await json('schedules', 'create', ...nightly, '--name', 'sch_mine');
    expect((await sched(['schedules', 'show', 'sch_mine'])).stderr).toContain('404 not_found');
  });

  test.concurrent('trigger sends a request now, beside the recurrence', async () => {
    const hook = receiver().hook();
    const schedule = ['--endpoint', hook.url, '--cron', '0 3 * * *', '--body', 'now'];
    const { id } = await json<Shown>('schedules', 'put', 'trigger-report', ...schedule);
    const { stdout } = await sched(['schedules', 'trigger', 'trigger-report']);
    expect(stdout).toMatch(/^Delivery +dlv_\w{26}$/m);
    expect(stdout).toContain(`POST ${hook.url}`);
    expect(stdout).toMatch(/^Occurrence +none: it was triggered$/m);
    expect((await hook.arrived()).body.toString()).toBe('now');
    expect((await client().schedules.get(id)).state).toBe('active');
  });

  test.concurrent('a delay is refused, because it names no fixed instant', async () => {
    const { code, stderr } = await sched(['schedules', 'put', 'a', '--delay', '5m']);
    expect(code).toBe(2);
    expect(stderr).toContain('There is no option --delay. A delay means another instant each time.');
  });
});

test.concurrent('endpoint profiles are put, and used by their names', async () => {
  const put = (timeout: string) =>
    json<Shown>('endpoints', 'put', 'cli-hooks', '--endpoint', 'https://e.com/hook', '--timeout', timeout);
  const made = await put('5s');
  expect(made).toMatchObject({ name: 'cli-hooks', put_result: 'created', version: 1 });
  expect(await put('5s')).toMatchObject({ put_result: 'unchanged', version: 1 });
  expect(await put('7s')).toMatchObject({ put_result: 'changed', version: 2 });
  const { stdout } = await sched([
    'endpoints',
    'put',
    'cli-hooks',
    '--endpoint',
    'https://e.com/',
    '--dry-run',
  ]);
  expect(stdout).toMatch(/^Would change cli-hooks\. Fields: /);
  expect(await json('endpoints', 'show', 'cli-hooks')).toMatchObject({ id: made.id });
  expect(
    await json('schedules', 'create', '--endpoint-id', 'cli-hooks', '--cron', '0 3 * * *'),
  ).toMatchObject({ endpoint_id: made.id });
  expect((await sched(['endpoints', 'archive', 'cli-hooks'])).stderr).toContain('409 profile_in_use');
});

test.concurrent('lists are filtered by profile, name, destination and replayed delivery', async () => {
  const profile = await json<Shown>('endpoints', 'put', 'filtered', '--endpoint', 'https://e.com/filtered');
  const schedule = ['--endpoint-id', 'filtered', '--cron', '0 3 * * *', '--name', 'filtered-report'];
  const { id } = await json<Shown>('schedules', 'create', ...schedule);
  const made = [expect.objectContaining({ id, endpoint_id: profile.id })];
  expect(await json('schedules', 'list', '--endpoint', 'filtered')).toEqual(made);
  expect(await json('schedules', 'list', '--name', 'filtered-report')).toEqual(made);
  expect(await json('schedules', 'list', '--search', 'e.com/filt')).toEqual(made);
  expect(await json('schedules', 'list', '--search', 'nowhere')).toEqual([]);
  expect(await json('deliveries', 'list', '--endpoint', 'filtered')).toMatchObject([{ schedule_id: id }]);
  expect(await json('deliveries', 'list', '--replay-of', 'dlv_0')).toEqual([]);
  expect(await json('deliveries', 'list', '--notification-of', 'dlv_0')).toEqual([]);
  expect((await sched(['deliveries', 'list', '--endpoint', 'nobody'])).code).toBe(3);
});

describe.concurrent('deliveries', () => {
  test.concurrent('attempts of all deliveries are listed with their destinations', async () => {
    const hook = receiver().hook();
    const profile = await json<Shown>('endpoints', 'create', '--endpoint', hook.url);
    const { id } = await json<Shown>('schedules', 'create', '--endpoint-id', profile.id, '--delay', '24h');
    await json('schedules', 'trigger', id);
    await hook.arrived();
    const list = ['attempts', 'list', '--endpoint', profile.id, '--outcome', 'success'];
    const isListed = async () => (await json<readonly unknown[]>(...list)).length === 1;
    await vi.waitUntil(isListed, { timeout: 10_000 });
    expect((await sched(list)).stdout).toMatch(/^DELIVERY .+\n.+ success +200 .+ POST +http:\/\/.+ sch_\w+/);
    expect(await json(...list.slice(0, -1), 'terminal')).toEqual([]);
  });

  test.concurrent('a delivery that waits for a retry is canceled', async () => {
    const hook = receiver().hook(answer(500));
    const schedule = ['--endpoint', hook.url, '--cron', '0 3 * * *', '--retry-base', '1h'];
    const { id } = await json<Shown>('schedules', 'create', ...schedule);
    const delivery = await json<Shown>('schedules', 'trigger', id);
    await hook.arrived();
    const isWaiting = async () => (await client().deliveries.get(delivery.id)).status === 'retry_scheduled';
    await vi.waitUntil(isWaiting, { timeout: 10_000 });
    expect(await json('deliveries', 'cancel', delivery.id)).toMatchObject({ status: 'canceled' });
    const { code, stderr } = await sched(['deliveries', 'cancel', delivery.id]);
    expect(code).toBe(1);
    expect(stderr).toContain('409 not_cancelable');
  });

  test.concurrent('a delivery is listed, shown with its attempts, and replayed', async () => {
    const hook = receiver().hook();
    const schedule = await client().schedules.create({ endpoint: hook.url, delay: '1s' });
    await hook.arrived();
    const isDone = async () => (await client().schedules.get(schedule.id)).state === 'completed';
    await vi.waitUntil(isDone, { timeout: 10_000 });
    const list = ['deliveries', 'list', '--schedule', schedule.id, '--status', 'succeeded'];
    const [{ id: delivery } = { id: '' }] = await json<readonly Shown[]>(...list);
    const { stdout } = await sched(['deliveries', 'show', delivery]);
    expect(stdout).toMatch(/^Status +succeeded$/m);
    expect(stdout).toMatch(
      /^ATTEMPT {2}OUTCOME {2}CODE {2}FIRED AT .+\n1 +success +200 +\S+ \S+Z +\d+ ms +\d+ ms +-$/m,
    );
    expect(await json('deliveries', 'attempts', delivery)).toMatchObject([
      { attempt_no: 1, outcome: 'success' },
    ]);
    expect(await json('deliveries', 'replay', delivery)).toMatchObject({ replay_of: delivery });
    await hook.arrived(2);
  });

  test.concurrent('a delivery that has not ended cannot be replayed', async () => {
    const { id } = await client().schedules.create(FAR);
    const [pending] = (await client().schedules.deliveries(id).page()).data;
    const delivery = pending?.id ?? '';
    const { code, stdout, stderr } = await sched(['deliveries', 'replay', delivery]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^sched: 409 not_replayable: .+ \[req_\w+\]\n$/);
  });
});

test.concurrent('an action on a schedule that has ended says so, and succeeds as in the API', async () => {
  const { id } = await client().schedules.create(FAR);
  const cancel = () => sched(['schedules', 'cancel', id]);
  expect([await cancel(), await cancel()]).toMatchObject([{ stderr: '' }, { stderr: '' }]);
  expect(await sched(['schedules', 'pause', id])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('canceled'),
    stderr: 'sched: This schedule is canceled, so there is nothing to pause.\n',
  });
  expect(await sched(['schedules', 'resume', id])).toMatchObject({
    code: 0,
    stderr: 'sched: This schedule is canceled. It sends no more requests.\n',
  });
});

test.concurrent('endpoint profiles are created, changed, listed and archived', async () => {
  const flags = ['--endpoint', 'https://example.com/hook', '--timeout', '5s', '--header', 'X-A: b'];
  const breaker = ['--breaker-threshold', '3', '--breaker-base-open', '1m', '--breaker-max-open', '1h'];
  const { id } = await json<Shown>(
    'endpoints',
    'create',
    ...flags,
    ...breaker,
    '--breaker-probe-timeout',
    '5s',
  );
  expect(await json('endpoints', 'update', id, '--timeout', '7s')).toMatchObject({
    version: 2,
    timeout: '7s',
  });
  const schedule = await client().schedules.create({ endpoint_id: id, delay: '24h' });
  expect((await sched(['endpoints', 'archive', id])).stderr).toContain('409 profile_in_use');
  await client().schedules.cancel(schedule.id);
  expect(await json('endpoints', 'archive', id)).toMatchObject({ id, archived: true });
  expect(await json('endpoints', 'list')).not.toContainEqual(expect.objectContaining({ id }));
  expect(await json('endpoints', 'list', '--include-archived')).toContainEqual(
    expect.objectContaining({ id }),
  );
  const { stdout } = await sched(['endpoints', 'show', id]);
  expect(stdout).toMatch(/^Breaker +opens after 3 failures, for 1m to 1h; probe timeout 5s$/m);
  expect(stdout).toMatch(/^Headers +X-A$/m);
});

describe.concurrent('a failed command has an exit code and one line that says why', () => {
  const wrongKey = { SCHED_API_KEY: 'sk_test_wrongWRONG0123456789' };
  test.concurrent.each<[string, readonly string[], Record<string, string>, number, RegExp]>([
    [
      'refused by the service',
      ['schedules', 'create', '--delay', '5m'],
      {},
      1,
      /^sched: 422 missing_endpoint.+\[req_\w+\]\n$/,
    ],
    [
      'refused, with the wrong field of --cron',
      ['schedules', 'create', '--endpoint', 'https://e.com', '--cron', '0 25 * * *'],
      {},
      1,
      /422 invalid_cron \(--cron\): cron "0 25 \* \* \*" is not valid: the hour has "25", but only 0 to 23 are allowed, as in "0 9 \* \* MON-FRI"\. \[req_\w+\]\n$/,
    ],
    [
      'refused, with the wrong --tz',
      ['schedules', 'create', '--endpoint', 'https://e.com', '--cron', '0 9 * * *', '--tz', 'Europe/Berln'],
      {},
      1,
      /422 invalid_cron \(timezone, --tz\): timezone "Europe\/Berln" is not an IANA time zone\. Did you mean "Europe\/Berlin"\? \[req_\w+\]\n$/,
    ],
    [
      'refused, with the wrong --notify-on',
      ['schedules', 'create', '--endpoint', 'https://e.com', '--delay', '1h', '--notify-on', 'failed'],
      {},
      1,
      /422 invalid_notify \(notify, --notify-on\): notify\.on must be a list of .+ its member 1 is "failed"\. \[req_\w+\]\n$/,
    ],
    [
      'refused, with the flags for the missing field',
      ['schedules', 'create', '--endpoint', 'https://e.com'],
      {},
      1,
      /422 missing_timing: .+ The flags are --delay, --at, --local and --cron\. \[req_\w+\]\n$/,
    ],
    [
      'wrong usage',
      ['schedules', 'create', '--max-attempts', 'x'],
      {},
      2,
      /--max-attempts must be a number such as 5, not "x"\./,
    ],
    [
      'refused, with the one flag of several that is wrong',
      [
        'schedules',
        'create',
        '--endpoint',
        'https://e.com',
        '--delay',
        '1h',
        '--max-attempts',
        '100',
        '--retry-base',
        '1s',
      ],
      {},
      1,
      /422 invalid_retry_policy \(retry_policy, --max-attempts\): retry_policy\.max_attempts .+ from 1 to 50/,
    ],
    [
      'refused, because a field of --data would be ignored',
      ['schedules', 'create', '--endpoint', 'https://e.com', '--delay', '1h', '--data', '{"timeout":"5s"}'],
      {},
      1,
      /^sched: 400 unknown_field \(timeout\): `timeout` belongs to an endpoint profile/,
    ],
    [
      'refused, because a change of the time is a reschedule',
      ['schedules', 'update', 'sch_nope', '--cron', '0 9 * * *'],
      {},
      2,
      /^sched: There is no option --cron\. "sched schedules reschedule" changes the time/,
    ],
    ['a change of nothing', ['schedules', 'update', 'sch_nope'], {}, 2, /Nothing to change was given/],
    [
      'JSON without its quotes',
      ['schedules', 'create', '--data', '{delay:5m}'],
      {},
      2,
      /^sched: --data is not valid JSON .+ Put it in single quotes/,
    ],
    [
      'a label of the wrong form',
      ['schedules', 'create', '--metadata', 'team'],
      {},
      2,
      /such as team=billing/,
    ],
    [
      'refused, without a flag for a cron expression in --data',
      ['schedules', 'create', '--endpoint', 'https://e.com', '--data', '{"cron":"0 25 * * *"}'],
      {},
      1,
      /422 invalid_cron \(cron\): .+ \[req_\w+\]\n$/,
    ],
    [
      'refused by the service, because --data is sent as it is, without what the SDK converts',
      ['schedules', 'create', '--endpoint', 'https://e.com', '--data', '{"delay":5000}'],
      {},
      1,
      /400 invalid_duration \(delay\): .+ \[req_\w+\]\n$/,
    ],
    ['an empty id', ['schedules', 'show', ''], {}, 2, /^sched: <schedule> must not be empty\.\n$/],
    ['not found', ['schedules', 'show', 'sch_nope'], {}, 3, /^sched: 404 not_found: .+\[req_\w+\]\n$/],
    [
      'API key not accepted',
      ['schedules', 'list'],
      wrongKey,
      4,
      /^sched: 401 invalid_api_key: .+ The API key came from SCHED_API_KEY\. \[req_\w+\]\n$/,
    ],
    [
      'no service at the address',
      ['schedules', 'list'],
      { SCHED_URL: 'http://127.0.0.1:9' },
      5,
      /was not answered.+ The address came from SCHED_URL\.\n$/,
    ],
  ])('%s', async (_, args, extra, exit, line) => {
    const { code, stdout, stderr } = await sched(args, { env: extra });
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toMatch(/^sched: [^\n]+\n$/);
    expect(stderr).toMatch(line);
    expect(stderr).not.toContain('WRONG');
  });

  test.concurrent('an address that is not a Sched service', async () => {
    const hook = receiver().hook();
    const { code, stderr } = await sched(['schedules', 'list'], { env: { SCHED_URL: hook.url } });
    expect(code).toBe(5);
    expect(stderr).toMatch(/unexpected_answer: .+ The address came from SCHED_URL/);
  });
});

test.concurrent('a closed pipe is not an error', async () => {
  const { child, ended } = startPiped(['schedules', 'list', '--json'], { env: env() });
  child.stdout.destroy();
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
});

test.runIf(existsSync('/dev/full')).concurrent('an answer that cannot be written is an error', async () => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [MAIN, 'preview', '0 9 * * *'], { stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  const [[exit], stderr] = await Promise.all([once(child, 'close'), text(child.stderr ?? Readable.from([]))]);
  expect(exit).toBe(1);
  expect(stderr).toMatch(/^sched: The answer cannot be written: ENOSPC.+\n$/);
});

test.concurrent('a mistyped command or flag gets a suggestion', async () => {
  expect((await sched(['schedule', 'list'])).stderr).toContain('Did you mean schedules?');
  expect((await sched(['schedules', 'lst'])).stderr).toContain('Did you mean list?');
  expect((await sched(['schedules', 'list', '--stat', 'active'])).stderr).toContain('Did you mean --state?');
});
