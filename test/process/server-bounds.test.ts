/** The server with its limits. The test moves the time. */
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ARRIVAL_MS_MAX, ARRIVING_BYTES_MAX, BODY_BYTES_MAX } from '#src/api/body-budget.ts';
import { WAIT_MS_MAX } from '#src/api/byte-budget.ts';
import { CHECK_MS } from '#src/api/send-timeout.ts';
import { buildServer } from '#src/api/server.ts';
import { createProject } from '#src/control/bootstrap.ts';
import { createKey } from '#src/control/keys.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { prometheusMetrics } from '#src/system/metrics.ts';
import { systemTimers } from '#src/system/timers.ts';
import { openControlHarness } from './control-harness.ts';

const PATIENCE = { timeout: 30_000, interval: 5 };
const ALL = ARRIVING_BYTES_MAX / BODY_BYTES_MAX;
/** One project may use two thirds. */
const SHARE = Math.ceil(ALL * (2 / 3));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function openServer() {
  const harness = await openControlHarness();
  closing.push(() => harness[Symbol.asyncDispose]());
  await createProject(harness, 'shop');
  const keys = [
    (await createKey(harness, 'shop', 'test')).text,
    (await createKey(harness, 'shop', 'live')).text,
  ] as const;
  const set = new Map<() => void, number>();
  const timers: Timers & Stopwatch = {
    elapsed: () => 0,
    after(ms, act) {
      if (ms === 0) return systemTimers.after(ms, act);
      set.set(act, ms);
      return () => void set.delete(act);
    },
  };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const server = buildServer({
    ...harness,
    timers,
    log,
    metrics: prometheusMetrics(),
    hints: { due: () => {}, rescan: () => {} },
    isFiring: () => true,
    servesApi: true,
    httpAllowed: false,
  });
  closing.push(() => server.close());
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  /** A request whose body never ends. */
  const create = (key: string, ...lines: readonly string[]): Socket => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    const head = ['POST /v1/schedules HTTP/1.1', 'Host: a', `Authorization: Bearer ${key}`];
    socket.write([...head, ...lines].join('\r\n'));
    closing.push(() => socket.destroy());
    return socket;
  };
  const timersOf = (ms: number) => [...set.values()].filter((each) => each === ms).length;
  return { keys, create, timersOf };
}

test('both modes of a project share one budget for large requests', async () => {
  const { keys, create, timersOf } = await openServer();
  for (const key of keys) {
    for (let n = 0; n < ALL; n++) create(key, `Content-Length: ${BODY_BYTES_MAX}`, '', '{');
  }
  // Every request that was not admitted waits with a timer.
  await expect.poll(() => timersOf(ARRIVAL_MS_MAX) + timersOf(WAIT_MS_MAX), PATIENCE).toBe(2 * ALL);
  expect(timersOf(ARRIVAL_MS_MAX)).toBe(SHARE);
});

test('a body in chunks has to arrive in time once it is large, and connections are checked', async () => {
  const { keys, create, timersOf } = await openServer();
  const chunk = 'x'.repeat(20_000);
  create(keys[0], 'Transfer-Encoding: chunked', '', chunk.length.toString(16), chunk, '');
  await expect.poll(() => timersOf(ARRIVAL_MS_MAX), PATIENCE).toBe(1);
  expect(timersOf(CHECK_MS)).toBe(1);
});
