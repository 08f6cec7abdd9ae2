import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startInThread } from './run-command.ts';
import { startSched, temporaryDirectory } from './sched-process.ts';

const BODY = JSON.stringify({ endpoint: 'https://example.com/hook', delay: '1h' });
const STOPPING = /"msg":"stopping"/;

interface OpenRequest extends Disposable {
  readonly socket: Socket;
  /** Sends the rest and returns the whole answer. */
  finish(): Promise<string>;
}

/** A request that the service has begun to read and that is not complete. */
async function openRequest(sched: { readonly url: string; readonly testKey: string }): Promise<OpenRequest> {
  const { hostname, port } = new URL(sched.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  // The service closes the connection, which some tests expect.
  socket.on('error', () => {});
  const head = [
    'POST /v1/schedules HTTP/1.1',
    'Host: sched',
    `Authorization: Bearer ${sched.testKey}`,
    `Content-Length: ${BODY.length}`,
    'Expect: 100-continue',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  // The service answers this once it has seen the request.
  while (!answer.includes('100 Continue')) await once(socket, 'data');
  socket.write(BODY.slice(0, 10));
  return {
    socket,
    async finish() {
      socket.write(BODY.slice(10));
      await once(socket, 'close');
      return answer;
    },
    [Symbol.dispose]: () => socket.destroy(),
  };
}

describe('SIGTERM and SIGINT', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends an idle service with exit code 0, and an idle connection does not delay the end',
    async (signal) => {
      await using sched = await startSched({ env: { SCHED_SHUTDOWN_GRACE: '1h' } });
      // fetch keeps its connection open for the next request.
      expect((await fetch(`${sched.url}/healthz`)).status).toBe(200);
      sched.signal(signal);
      expect(await sched.exited).toEqual({ code: 0, signal: null });
      expect(sched.output.stderr).toMatch(/"msg":"stopped"\}\n$/);
    },
  );

  test('a request in flight is finished and stored, and new connections are refused', async () => {
    const dataDir = temporaryDirectory();
    await using sched = await startSched({ dataDir, env: { SCHED_SHUTDOWN_GRACE: '1h' } });
    using request = await openRequest(sched);
    sched.signal('SIGTERM');
    await sched.said(STOPPING);
    await expect(fetch(`${sched.url}/healthz`)).rejects.toThrow('fetch failed');
    const answer = await request.finish();
    expect(answer).toContain('HTTP/1.1 201 Created');
    expect(await sched.exited).toEqual({ code: 0, signal: null });

    await using next = await startInThread({ dataDir });
    const id = /sch_\w{26}/.exec(answer)?.[0];
    const headers = { authorization: `Bearer ${sched.testKey}` };
    expect((await fetch(`${next.url}/v1/schedules/${id}`, { headers })).status).toBe(200);
  });

  test('a request that does not end within the grace period is cut off', async () => {
    await using sched = await startInThread({ env: { SCHED_SHUTDOWN_GRACE: '200ms' } });
    using request = await openRequest(sched);
    const cut = once(request.socket, 'close');
    expect(await sched.stop()).toMatchObject({ code: 0 });
    await cut;
  });

  test('a second signal ends the service at once with exit code 1', async () => {
    await using sched = await startSched({ env: { SCHED_SHUTDOWN_GRACE: '1h' } });
    using request = await openRequest(sched);
    sched.signal('SIGTERM');
    await sched.said(STOPPING);
    // This is longer than the distance between two copies of one signal.
    await sleep(400);
    expect(request.socket.closed).toBe(false);
    sched.signal('SIGINT');
    expect(await sched.exited).toEqual({ code: 1, signal: null });
  });

  test('one Ctrl-C that arrives twice, as under npm, counts as one signal', async () => {
    await using sched = await startSched({ env: { SCHED_SHUTDOWN_GRACE: '1h' } });
    using request = await openRequest(sched);
    sched.signal('SIGINT');
    await sched.said(STOPPING);
    sched.signal('SIGINT');
    expect(await request.finish()).toContain('HTTP/1.1 201 Created');
    expect(await sched.exited).toEqual({ code: 0, signal: null });
  });
});

describe('under npm', () => {
  test('a SIGTERM to npm stops the service too, although it reaches only the shell in between', async () => {
    const env = {
      ...process.env,
      SCHED_PORT: '0',
      SCHED_DATA_DIR: temporaryDirectory(),
      SCHED_LOG_LEVEL: 'info',
    };
    const npm = spawn('npm', ['start'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    npm.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const closed = once(npm.stderr, 'close');
    while (!log.includes('"msg":"started"')) await once(npm.stderr, 'data');
    const pid = Number(/"pid":(\d+)/.exec(log)?.[1]);
    try {
      npm.kill('SIGTERM');
      // The output closes when npm, the shell and the service have all ended.
      await Promise.race([closed, sleep(20_000)]);
      expect(log).toContain('"msg":"stopped"');
    } finally {
      endIfAlive(pid);
    }
  });
});

function endIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended as expected.
  }
}

describe('an uncaught fault', () => {
  test.each([
    ['an exception', `throw new Error('a fault')`, 'uncaught exception'],
    ['a rejection', `Promise.reject(new Error('a fault'))`, 'unhandled rejection'],
  ])('%s is logged and ends the process with exit code 1', async (_, fault, message) => {
    const module = encodeURIComponent(`process.on('SIGUSR2', () => { ${fault} })`);
    await using sched = await startSched({
      env: { NODE_OPTIONS: `--import=data:text/javascript,${module}` },
    });
    sched.signal('SIGUSR2');
    expect(await sched.exited).toEqual({ code: 1, signal: null });
    const lines = sched.output.stderr
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toContainEqual(expect.objectContaining({ level: 'error', msg: message, error: 'a fault' }));
  });
});
