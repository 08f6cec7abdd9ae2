import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Answer, Caller } from '#src/control/http/route.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import { Refusal } from '#src/domain/errors.ts';
import { IdMint } from '#src/domain/id.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { systemTimers } from '#src/system/timers.ts';
import { STREAMS_MAX, STREAMS_PER_OWNER_MAX } from '#src/web/event-streams.ts';
import { callerOf } from '#test/control/data-harness.ts';
import { SILENT } from '#test/process/control-harness.ts';
import { seededBytes } from '#test/store-contract/builders.ts';
import { LiveStreams, WATCHES_MAX } from './live-streams.ts';

const ids = new IdMint(seededBytes(7));

/** Live pages over real sockets. The test sets the answers and moves the time. */
class LiveHarness {
  readonly live: LiveStreams;
  readonly polled: string[] = [];
  answer: (path: string) => Promise<Answer> = async (path) => ({ status: 200, body: `{"path":"${path}"}` });
  /** The user of the stream, and the result of the next session check. */
  caller: Caller = callerOf(ids, 'viewer');
  recheck: () => Promise<Caller> = async () => this.caller;
  admit: (response: ServerResponse, open: () => void) => void = (_response, open) => open();
  nowMs = 0;
  readonly #timers: { readonly at: number; readonly act: () => void }[] = [];
  readonly #server: Server;
  readonly #requests: ReturnType<typeof request>[] = [];

  constructor() {
    this.live = new LiveStreams({
      log: SILENT,
      timers: {
        elapsed: () => this.nowMs,
        after: (ms, act) => {
          if (ms === 0) return systemTimers.after(0, act);
          const timer = { at: this.nowMs + ms, act };
          this.#timers.push(timer);
          return () => {
            const index = this.#timers.indexOf(timer);
            if (index >= 0) this.#timers.splice(index, 1);
          };
        },
      },
      get: async (_caller, path) => {
        this.polled.push(path);
        return this.answer(path);
      },
    });
    this.#server = createServer((incoming, response) => {
      try {
        const query = new URL(incoming.url ?? '', 'http://localhost').searchParams;
        const { caller, recheck } = this;
        const headers = { 'x-frame-options': 'DENY' };
        this.admit(response, () => this.live.open({ caller, recheck, query, headers, response }));
      } catch {
        response.writeHead(400).end();
      }
    });
  }

  /** Moves the time and runs everything that becomes due. */
  async pass(ms: number): Promise<void> {
    const until = this.nowMs + ms;
    for (;;) {
      const next = this.#timers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > until) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.nowMs = next.at;
      next.act();
      await settled();
    }
    this.nowMs = until;
  }

  get waiting(): number {
    return this.#timers.length;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async open(...watches: readonly string[]): Promise<Page> {
    const { port } = this.#server.address() as AddressInfo;
    const query = new URLSearchParams(watches.map((watch): [string, string] => ['watch', watch]));
    const outgoing = request({ port, host: '127.0.0.1', path: `/live?${query.toString()}`, agent: false });
    this.#requests.push(outgoing);
    outgoing.on('error', () => {});
    const response = await new Promise<IncomingMessage>((resolve) => outgoing.on('response', resolve).end());
    return new Page(response, () => outgoing.destroy());
  }

  leaveAll(): void {
    for (const outgoing of this.#requests) outgoing.destroy();
  }

  async close(): Promise<void> {
    this.live.end();
    this.leaveAll();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

class Page {
  readonly response: IncomingMessage;
  readonly leave: () => void;
  readonly #parts: string[] = [];
  #onEvent: () => void = () => {};
  isEnded = false;

  constructor(response: IncomingMessage, leave: () => void) {
    this.response = response;
    this.leave = leave;
    response.setEncoding('utf8');
    response.on('error', () => {});
    response.on('data', (text: string) => this.#note(text));
    response.on('end', () => {
      this.isEnded = true;
      this.#onEvent();
    });
  }

  #note(text: string): void {
    this.#parts.push(text);
    this.#onEvent();
  }

  get text(): string {
    return this.#parts.join('');
  }

  get events(): readonly unknown[] {
    return [...this.text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => (this.#onEvent = resolve));
  }
}

/** Resolves when all pending work has run that needs no network. */
function settled(): Promise<void> {
  return new Promise((resolve) => void systemTimers.after(0, resolve));
}

let harness = new LiveHarness();

afterEach(() => harness.close());

async function openHarness(): Promise<LiveHarness> {
  harness = new LiveHarness();
  await harness.start();
  return harness;
}

describe('a watched path', () => {
  test('is sent at the start and when it changes, and not otherwise', async () => {
    await openHarness();
    let count = 1;
    harness.answer = async () => ({ status: 200, body: `{"count":${count}}` });
    const page = await harness.open('p/shop/test/overview');
    expect(page.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'x-frame-options': 'DENY',
    });
    await page.until(() => page.events.length === 1);
    await harness.pass(2_000);
    expect(harness.polled.length).toBeGreaterThan(3);
    count = 2;
    await harness.pass(400);
    await page.until(() => page.events.length === 2);
    expect(page.text).toContain('retry: 1000');
    expect(page.events).toEqual([
      { event: 'data', watch: 'p/shop/test/overview', body: { count: 1 } },
      { event: 'data', watch: 'p/shop/test/overview', body: { count: 2 } },
    ]);
  });

  test('that changes only in its time is sent every 10 seconds', async () => {
    await openHarness();
    harness.answer = async () => ({ status: 200, body: `{"now":${harness.nowMs}}`, comparedBody: 'same' });
    const page = await harness.open('overview');
    await page.until(() => page.events.length === 1);
    await harness.pass(9_000);
    expect(page.events).toHaveLength(1);
    await harness.pass(1_500);
    await page.until(() => page.events.length === 2);
  });

  test('is polled once for all users who see the same, and separately for others', async () => {
    await openHarness();
    const pages = [await harness.open('same'), await harness.open('same')];
    harness.caller = callerOf(ids, 'admin');
    pages.push(await harness.open('same'));
    harness.caller = callerOf(ids, 'viewer', { projects: [ids.mint('prj', harness.caller.user.createdAt)] });
    pages.push(await harness.open('same'));
    for (const page of pages) await page.until(() => page.events.length === 1);
    expect(harness.polled).toHaveLength(3);
  });

  test.each([
    { tookMs: 5, restMs: 300 },
    { tookMs: 20, restMs: 400 },
    { tookMs: 200, restMs: 600 },
  ])('that takes $tookMs ms is polled again $restMs ms later', async ({ tookMs, restMs }) => {
    await openHarness();
    harness.answer = async () => {
      harness.nowMs += tookMs;
      return { status: 200, body: '{}' };
    };
    const page = await harness.open('overview');
    await page.until(() => page.events.length === 1);
    await harness.pass(restMs - 1);
    expect(harness.polled).toHaveLength(1);
    await harness.pass(1);
    expect(harness.polled).toHaveLength(2);
  });

  test('that is refused ends, and the other watches continue', async () => {
    await openHarness();
    harness.answer = async (path) => {
      if (path === 'gone') throw new Refusal('not_found');
      return { status: 200, body: '{}' };
    };
    const page = await harness.open('gone', 'there');
    await page.until(() => page.events.length === 2);
    expect(page.events).toContainEqual({ event: 'refused', watch: 'gone', status: 404, code: 'not_found' });
    await harness.pass(1_000);
    expect(harness.polled.filter((path) => path === 'gone')).toHaveLength(1);
    expect(page.isEnded).toBe(false);
  });

  test('stays open while the store is unavailable', async () => {
    await openHarness();
    let isAway = true;
    harness.answer = async () => {
      if (isAway) throw new StoreUnavailable('away');
      return { status: 200, body: '{}' };
    };
    const page = await harness.open('overview');
    await settled();
    isAway = false;
    await harness.pass(2_500);
    await page.until(() => page.events.length === 1);
    expect(page.events).toMatchObject([{ event: 'data' }]);
  });
});

describe('a stream', () => {
  test.each([
    ['is signed out', async () => Promise.reject(new ControlRefusal('not_signed_in'))],
    [
      'has another role',
      async () => ({ ...harness.caller, user: { ...harness.caller.user, role: 'admin' as const } }),
    ],
    [
      'sees other projects',
      async () => ({ ...harness.caller, user: { ...harness.caller.user, projects: [] } }),
    ],
  ] as const)('ends within a second when the user %s', async (_, recheck) => {
    await openHarness();
    let isChanged = false;
    harness.recheck = async () => (isChanged ? recheck() : harness.caller);
    const page = await harness.open('overview');
    await page.until(() => page.events.length === 1);
    await harness.pass(1_000);
    expect(page.isEnded).toBe(false);
    isChanged = true;
    await harness.pass(1_000);
    await page.until(() => page.isEnded);
    expect(page.events.at(-1)).toEqual({
      event: 'refused',
      watch: 'overview',
      status: 401,
      code: 'not_signed_in',
    });
    expect(harness.waiting).toBe(0);
  });

  test('sends heartbeats, so that a broken connection is noticed', async () => {
    await openHarness();
    const page = await harness.open('overview');
    await harness.pass(15_000);
    await page.until(() => page.text.includes('\n:\n\n'));
  });

  test('leaves no timers behind when the page disconnects', async () => {
    await openHarness();
    const page = await harness.open('overview');
    await page.until(() => page.events.length === 1);
    page.leave();
    while (harness.waiting > 0) await settled();
    expect(harness.waiting).toBe(0);
  });

  test('is closed if the page does not read it', async () => {
    await openHarness();
    let count = 0;
    harness.answer = async () => ({
      status: 200,
      body: JSON.stringify(`${count++}${'x'.repeat(1_000_000)}`),
    });
    const page = await harness.open('large');
    page.response.pause();
    for (let passed = 0; passed < 60 && harness.waiting > 0; passed++) await harness.pass(400);
    expect(harness.waiting).toBe(0);
  });

  test('is not opened if the page disconnected before', async () => {
    await openHarness();
    const left = new Promise<void>((resolve) => {
      // The page disconnects while its session is read.
      harness.admit = (response, open) => {
        response.once('close', () => {
          open();
          resolve();
        });
        harness.leaveAll();
      };
    });
    void harness.open('overview');
    await left;
    expect(harness.waiting).toBe(0);
    expect(harness.polled).toEqual([]);
  });

  test('ends when the server closes', async () => {
    await openHarness();
    const page = await harness.open('overview');
    harness.live.end();
    await page.until(() => page.isEnded);
    expect(harness.waiting).toBe(0);
  });

  test.each([
    ['none', []],
    ['too many', Array.from({ length: WATCHES_MAX + 1 }, (_, index) => `path-${index}`)],
    ['an empty one', ['']],
    ['a long one', ['x'.repeat(2_049)]],
  ])('with watches is refused: %s', async (_, watches) => {
    await openHarness();
    expect((await harness.open(...watches)).response.statusCode).toBe(400);
  });

  test('beyond the limit of a user or node is closed with a later reconnect', async () => {
    await openHarness();
    for (let opened = 0; opened < STREAMS_PER_OWNER_MAX; opened++) await harness.open('overview');
    const ninth = await harness.open('overview');
    await ninth.until(() => ninth.isEnded);
    expect(ninth.text).toMatch(/^retry: 5000\nevent: full\n/);
    for (let opened = STREAMS_PER_OWNER_MAX; opened < STREAMS_MAX; opened++) {
      harness.caller = callerOf(ids, 'viewer');
      await harness.open('overview');
    }
    harness.caller = callerOf(ids, 'viewer');
    const last = await harness.open('overview');
    await last.until(() => last.isEnded);
  });
});
