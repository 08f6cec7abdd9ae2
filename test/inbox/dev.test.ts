/** Tests `sched dev` as a process: what it prints, what it refuses, what it leaves behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn as spawnPty } from '@lydell/node-pty';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DEV_LIVE_KEY, DEV_SIGNING_SECRET, DEV_TEST_KEY } from '#src/app/dev/keys.ts';
import { runCommand, startInThread } from '#test/process/run-command.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { startDevInThread } from './dev-in-thread.ts';
import { type DevOptions, type DevProcess, launchDev, startDev } from './dev-process.ts';
import { openStream } from './event-stream.ts';

/** Such a test has the process to itself. */
const SEQUENTIAL = { concurrent: false } as const;
const LOG_MS_MAX = 60_000;
const MAIN = join(import.meta.dirname, '../../bin/sched.js');

/** Lists the temporary directories of `sched dev` in `directory`. */
function leftovers(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => name.startsWith('sched-dev-'));
}

/** Expects a start that fails with exactly one line, and returns the line. */
async function failedStart(code: number, options: DevOptions): Promise<string> {
  const TMPDIR = temporaryDirectory();
  const { output, exited } = launchDev({ ...options, env: { TMPDIR, ...options.env } });
  expect(await exited).toEqual({ code, signal: null });
  expect(output.stderr).toMatch(/^sched: .+\n$/);
  expect(output.stdout).toBe('');
  expect(leftovers(TMPDIR)).toEqual([]);
  return output.stderr;
}

async function startReceiver(
  host: string,
  handle: RequestListener = (_request, response) => void response.end(),
) {
  const paths: string[] = [];
  const asked = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    asked.resolve();
    handle(request, response);
  }).listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    paths,
    asked: asked.promise,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function setAnswer(dev: DevProcess, answer: string, times: number | null): Promise<Response> {
  return fetch(`${dev.url}/inbox/answer`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ answer, times }),
  });
}

describe.concurrent('in a shell with the settings of a service, sched dev', () => {
  const dataDir = temporaryDirectory();
  const TMPDIR = temporaryDirectory();
  let dev: DevProcess;

  beforeAll(async () => {
    const service = {
      SCHED_DATABASE_URL: 'postgres://u:hidden@db/x',
      SCHED_DATA_DIR: dataDir,
      SCHED_ROLE: 'api',
    };
    dev = await startDev({ env: { ...service, TMPDIR } });
  });
  afterAll(() => dev[Symbol.asyncDispose]());

  test('prints its addresses and keys, and which settings it ignores', () => {
    const { stdout } = dev.output;
    for (const text of [`${dev.url}/inbox`, dev.hook, DEV_TEST_KEY, DEV_LIVE_KEY, DEV_SIGNING_SECRET]) {
      expect(stdout).toContain(text);
    }
    expect(stdout).toContain(
      'These settings are ignored by sched dev: SCHED_DATABASE_URL, SCHED_DATA_DIR, SCHED_ROLE\n',
    );
    expect(stdout).not.toContain('hidden');
    expect(stdout).not.toContain('\u001b');
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test('prints a line for each attempt, with what comes next', async () => {
    await setAnswer(dev, '500', 1);
    const endpoint = `${dev.hook}/told?secret=s3cret`;
    await dev.create({ endpoint, delay: '1s', retry_policy: { base: '200ms', factor: 1 } });
    const time = String.raw`\d\d:\d\d:\d\d\.\d{3}`;
    const line = (end: string) =>
      new RegExp(`^${time}  POST ${new URL(dev.url).host}/inbox/hook/told  ${end}$`, 'm');
    await dev.waitForOutput(line(`500  attempt 1  started \\d+ ms late  next in 0\\.\\d s \\(${time}\\)`));
    await dev.waitForOutput(line('200  attempt 2  started \\d+ ms late  succeeded'));
    expect(dev.output.stdout).not.toContain('s3cret');
  });

  test('prints a line for a delivery that a breaker defers', async () => {
    let port: number;
    {
      using gone = await startReceiver('127.0.0.1');
      ({ port } = gone);
    }
    const { id } = await dev.call<{ readonly id: string }>('POST', '/v1/endpoints', {
      url: `http://127.0.0.1:${port}/x`,
      breaker_policy: { threshold: 1, base_open: '1h', max_open: '1h', probe_timeout: '1s' },
    });
    await dev.create({ endpoint_id: id, delay: '1s', retry_policy: { base: '100ms', factor: 1 } });
    await dev.waitForOutput(/connection refused {2}attempt 1 .* next in/);
    await dev.waitForOutput(/deferred by breaker, budget or rate {2}next in 3\d{3}\.\d s/);
  });

  test('reaches names of this machine over plain HTTP, but not private networks', async () => {
    using four = await startReceiver('127.0.0.1');
    using six = await startReceiver('::1');
    await dev.create({ endpoint: `http://localhost:${four.port}/by-name`, delay: '1s' });
    await dev.create({ endpoint: `http://shop.localhost:${six.port}/by-ipv6`, delay: '1s' });
    await dev.create({ endpoint: `http://10.255.255.1:${six.port}/private`, delay: '1s' });
    await dev.waitForOutput(/\/by-name {2}200 .* succeeded/);
    await dev.waitForOutput(/\/by-ipv6 {2}200 .* succeeded/);
    await dev.waitForOutput(/\/private {2}address is not allowed .* dead_letter/);
    expect([four.paths, six.paths]).toEqual([['/by-name'], ['/by-ipv6']]);
  });

  // The last test, because it ends the process.
  test(
    'ends by Ctrl-C and leaves no files, even while a page is open and requests hang',
    SEQUENTIAL,
    async () => {
      using hanging = await startReceiver('127.0.0.1', () => {});
      using stream = await openStream(dev.url);
      await setAnswer(dev, 'hang', null);
      await dev.create({ endpoint: `${dev.hook}/hangs`, delay: '1s' });
      await dev.create({ endpoint: `http://127.0.0.1:${hanging.port}/`, delay: '1s' });
      await Promise.all([stream.arrival('/inbox/hook/hangs'), hanging.asked]);
      expect(leftovers(TMPDIR)).toHaveLength(1);
      dev.signal('SIGINT');
      expect(await dev.exited).toEqual({ code: 0, signal: null });
      await stream.ended;
      // A request to the inbox is answered at once. One to another receiver is aborted after the grace.
      expect(dev.output.stdout).toMatch(/\/hangs {2}500 {2}attempt 1/);
      expect(dev.output.stdout).toMatch(/interrupted {2}attempt 1/);
      expect(leftovers(TMPDIR)).toEqual([]);
      expect(dev.output.stderr).toBe('');
    },
  );
});

test.concurrent('its data directory can be reused, is refused by a service, and a rotated secret is used', async () => {
  const dataDir = temporaryDirectory();
  const args = ['--data-dir', dataDir];
  let id: string;
  {
    await using dev = await startDev({ args });
    id = await dev.create({ endpoint: `${dev.hook}/kept`, delay: '24h' });
    dev.signal('SIGTERM');
    expect(await dev.exited).toEqual({ code: 0, signal: null });
  }
  const elsewhere = { SCHED_DATABASE_URL: 'postgres://127.0.0.1:1/sched' };
  const [served, moved, rotated] = await Promise.all([
    runCommand(['serve', '--port', '0', ...args]),
    runCommand(['move', ...args], { env: elsewhere }),
    runCommand(['secret', 'rotate', '--mode', 'test', '--overlap', '0s', ...args]),
  ]);
  const refused = { code: 1, stdout: '', stderr: expect.stringContaining('belongs to `sched dev`') };
  expect([served, moved]).toMatchObject([refused, refused]);
  expect(rotated.code).toBe(0);
  await using dev = await startDevInThread({ '--data-dir': dataDir });
  expect(await dev.call('GET', `/v1/schedules/${id}`)).toMatchObject({ state: 'active' });
  using stream = await openStream(dev.url);
  await dev.create({ endpoint: `${dev.hook}/rotated`, delay: '1s' });
  expect(await stream.arrival('/inbox/hook/rotated')).toMatchObject({ signature: { verified: true } });
});

describe.concurrent('sched dev does not start', () => {
  test('on an address that others can reach', async () => {
    expect(await failedStart(2, { args: ['--host', '0.0.0.0'] })).toContain('known to everyone');
  });

  test('on a port that is taken', async () => {
    using other = await startReceiver('127.0.0.1');
    expect(await failedStart(1, { args: ['--port', String(other.port)] })).toContain('SCHED_PORT');
  });

  test('on the data of a service', async () => {
    const dataDir = temporaryDirectory();
    expect((await runCommand(['migrate', '--data-dir', dataDir])).code).toBe(0);
    expect(await failedStart(1, { args: ['--data-dir', dataDir] })).toContain('belongs to a service');
  });
});

describe.concurrent('sched dev ends', () => {
  test('with its terminal, which has colours, and leaves no files', async () => {
    const TMPDIR = temporaryDirectory();
    const pty = spawnPty(process.execPath, [MAIN, 'dev', '--port', '0', '--host', '::1'], {
      cols: 100,
      env: { PATH: process.env.PATH ?? '', TERM: 'xterm', TMPDIR },
    });
    let text = '';
    const ready = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    pty.onData((data) => {
      text += data;
      if (text.includes('Ctrl-C')) ready.resolve();
    });
    pty.onExit(() => ended.resolve());
    await ready.promise;
    expect(text).toContain("\u001b[36mcurl 'http://[::1]:");
    expect(leftovers(TMPDIR)).toHaveLength(1);
    pty.kill('SIGHUP');
    await ended.promise;
    expect(leftovers(TMPDIR)).toEqual([]);
  });

  test('when the shell between it and npx has ended', async () => {
    const command = `"${process.execPath}" "${MAIN}" dev --port 0 & echo "pid $!"; wait`;
    const shell = spawn('sh', ['-c', command], {
      env: { ...process.env, npm_lifecycle_event: 'npx' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const closed = once(shell.stdout, 'close');
    let text = '';
    shell.stdout.on('data', (chunk: Buffer) => {
      text += String(chunk);
    });
    while (!text.includes('Ctrl-C')) await once(shell.stdout, 'data');
    const pid = Number(/^pid (\d+)$/m.exec(text)?.[1]);
    // The shell ends without signalling its child. The pipe closes when the last process that holds it ends.
    shell.kill('SIGKILL');
    const outcome = await Promise.race([closed.then(() => 'ended'), sleep(10_000, 'lives on')]);
    if (outcome !== 'ended') process.kill(pid, 'SIGKILL');
    expect(outcome).toBe('ended');
  });
});

test.concurrent('`sched serve` does not reach names of this machine, even if loopback is allowed', async () => {
  using own = await startReceiver('127.0.0.1');
  await using sched = await startInThread({
    env: {
      SCHED_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
      SCHED_EGRESS_ALLOW_HTTP: 'true',
      SCHED_BOOTSTRAP_TEST_KEY: DEV_TEST_KEY,
    },
  });
  await fetch(`${sched.url}/v1/schedules`, {
    method: 'POST',
    headers: { authorization: `Bearer ${DEV_TEST_KEY}` },
    body: JSON.stringify({ endpoint: `http://localhost:${own.port}/by-name`, delay: '1s' }),
  });
  const refused = /"error":"localhost is not allowed".*"delivery_status":"dead_letter"/;
  // `expect.poll` does not work in concurrent tests.
  await vi.waitFor(() => expect(sched.output.stderr).toMatch(refused), LOG_MS_MAX);
  expect(own.paths).toEqual([]);
});
