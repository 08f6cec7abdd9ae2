import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { AccessRefusal } from '#src/control/http/errors.ts';
import type { Answer, Caller } from '#src/control/http/route.ts';
import { Refusal } from '#src/domain/errors.ts';
import { IdMint } from '#src/domain/id.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { seededBytes } from '#src/store/contract/builders.ts';
import { systemTimers } from '#src/system/timers.ts';
import { callerOf } from '#test/control/data-harness.ts';
import { SILENT } from '#test/process/control-harness.ts';
import { LiveStreams, STREAMS_MAX, STREAMS_PER_USER_MAX, WATCHES_MAX } from './live-streams.ts';

const ids = new IdMint(seededBytes(7));

/** Live pages over real sockets; `answer` is what a path answers, and time is told by the test. */
class Bench {
  readonly live: LiveStreams;
  readonly asked: string[] = [];
  answer: (path: string) => Promise<Answer> = async (path) => ({ status: 200, body: `{"path":"${path}"}` });
  /** Who is looking, and who they turn out to be when it is looked up again. */
  caller: Caller = callerOf(ids, 'viewer');
  lookUp: () => Promise<Caller> = async () => this.caller;
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
            const place = this.#timers.indexOf(timer);
            if (place >= 0) this.#timers.splice(place, 1);
          };
        },
      },
      get: async (_caller, path) => {
        this.asked.push(path);
        return this.answer(path);
      },
    });
    this.#server = createServer((asked, response) => {
      try {
        const query = new URL(asked.url ?? '', 'http://localhost').searchParams;
        const { caller, lookUp } = this;
        const headers = { 'x-frame-options': 'DENY' };
        this.admit(response, () => this.live.open({ caller, recheck: lookUp, query, headers, response }));
      } catch {
        response.writeHead(400).end();
      }
    });
  }

  /** Lets time pass, and everything that it sets off. */
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
    const asked = request({ port, host: '127.0.0.1', path: `/live?${query.toString()}`, agent: false });
    this.#requests.push(asked);
    asked.on('error', () => {});
    const response = await new Promise<IncomingMessage>((resolve) => asked.on('response', resolve).end());
    return new Page(response, () => asked.destroy());
  }

  leaveAll(): void {
    for (const asked of this.#requests) asked.destroy();
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
  #told: () => void = () => {};
  isEnded = false;

  constructor(response: IncomingMessage, leave: () => void) {
    this.response = response;
    this.leave = leave;
    response.setEncoding('utf8');
    response.on('error', () => {});
    response.on('data', (text: string) => this.#note(text));
    response.on('end', () => {
      this.isEnded = true;
      this.#told();
    });
  }

  #note(text: string): void {
    this.#parts.push(text);
    this.#told();
  }

  get text(): string {
    return this.#parts.join('');
  }

  get events(): readonly unknown[] {
    return [...this.text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => (this.#told = resolve));
  }
}

/** What was set off has run as far as it goes without the network. */
function settled(): Promise<void> {
  return new Promise((resolve) => void systemTimers.after(0, resolve));
}

let bench = new Bench();

afterEach(() => bench.close());

async function openBench(): Promise<Bench> {
  bench = new Bench();
  await bench.start();
  return bench;
}

describe('a watched path', () => {
  test('is told at the start and when it changes, not when it stays', async () => {
    await openBench();
    let count = 1;
    bench.answer = async () => ({ status: 200, body: `{"count":${count}}` });
    const page = await bench.open('p/shop/test/overview');
    expect(page.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'x-frame-options': 'DENY',
    });
    await page.until(() => page.events.length === 1);
    await bench.pass(2_000);
    expect(bench.asked.length).toBeGreaterThan(3);
    count = 2;
    await bench.pass(400);
    await page.until(() => page.events.length === 2);
    expect(page.text).toContain('retry: 1000');
    expect(page.events).toEqual([
      { event: 'data', watch: 'p/shop/test/overview', body: { count: 1 } },
      { event: 'data', watch: 'p/shop/test/overview', body: { count: 2 } },
    ]);
  });

  test('with nothing new in it but the time is told now and then', async () => {
    await openBench();
    bench.answer = async () => ({ status: 200, body: `{"now":${bench.nowMs}}`, comparedBody: 'same' });
    const page = await bench.open('overview');
    await page.until(() => page.events.length === 1);
    await bench.pass(9_000);
    expect(page.events).toHaveLength(1);
    await bench.pass(1_500);
    await page.until(() => page.events.length === 2);
  });

  test('is asked once for all who see the same, and apart for others', async () => {
    await openBench();
    const pages = [await bench.open('same'), await bench.open('same')];
    bench.caller = callerOf(ids, 'admin');
    pages.push(await bench.open('same'));
    bench.caller = callerOf(ids, 'viewer', { projects: [ids.mint('prj', bench.caller.user.createdAt)] });
    pages.push(await bench.open('same'));
    for (const page of pages) await page.until(() => page.events.length === 1);
    expect(bench.asked).toHaveLength(3);
  });

  test.each([
    { tookMs: 5, restMs: 300 },
    { tookMs: 20, restMs: 400 },
    { tookMs: 200, restMs: 600 },
  ])('that takes $tookMs ms is asked again $restMs ms later', async ({ tookMs, restMs }) => {
    await openBench();
    bench.answer = async () => {
      bench.nowMs += tookMs;
      return { status: 200, body: '{}' };
    };
    const page = await bench.open('overview');
    await page.until(() => page.events.length === 1);
    await bench.pass(restMs - 1);
    expect(bench.asked).toHaveLength(1);
    await bench.pass(1);
    expect(bench.asked).toHaveLength(2);
  });

  test('that cannot be had any more is refused, and the others go on', async () => {
    await openBench();
    bench.answer = async (path) => {
      if (path === 'gone') throw new Refusal('not_found');
      return { status: 200, body: '{}' };
    };
    const page = await bench.open('gone', 'there');
    await page.until(() => page.events.length === 2);
    expect(page.events).toContainEqual({ event: 'refused', watch: 'gone', status: 404, code: 'not_found' });
    await bench.pass(1_000);
    expect(bench.asked.filter((path) => path === 'gone')).toHaveLength(1);
    expect(page.isEnded).toBe(false);
  });

  test('is waited for while the store is away', async () => {
    await openBench();
    let isAway = true;
    bench.answer = async () => {
      if (isAway) throw new StoreUnavailable('away');
      return { status: 200, body: '{}' };
    };
    const page = await bench.open('overview');
    await settled();
    isAway = false;
    await bench.pass(2_500);
    await page.until(() => page.events.length === 1);
    expect(page.events).toMatchObject([{ event: 'data' }]);
  });
});

describe('a stream', () => {
  test.each([
    ['is signed out', async () => Promise.reject(new AccessRefusal('not_signed_in'))],
    [
      'has another role',
      async () => ({ ...bench.caller, user: { ...bench.caller.user, role: 'admin' as const } }),
    ],
    ['sees other projects', async () => ({ ...bench.caller, user: { ...bench.caller.user, projects: [] } })],
  ] as const)('ends within a second when the person %s', async (_, lookUp) => {
    await openBench();
    let isChanged = false;
    bench.lookUp = async () => (isChanged ? lookUp() : bench.caller);
    const page = await bench.open('overview');
    await page.until(() => page.events.length === 1);
    await bench.pass(1_000);
    expect(page.isEnded).toBe(false);
    isChanged = true;
    await bench.pass(1_000);
    await page.until(() => page.isEnded);
    expect(page.events.at(-1)).toEqual({
      event: 'refused',
      watch: 'overview',
      status: 401,
      code: 'not_signed_in',
    });
    expect(bench.waiting).toBe(0);
  });

  test('beats, so that a cut is noticed', async () => {
    await openBench();
    const page = await bench.open('overview');
    await bench.pass(15_000);
    await page.until(() => page.text.includes('\n:\n\n'));
  });

  test('that is left leaves nothing behind', async () => {
    await openBench();
    const page = await bench.open('overview');
    await page.until(() => page.events.length === 1);
    page.leave();
    while (bench.waiting > 0) await settled();
    expect(bench.waiting).toBe(0);
  });

  test('that is not read is dropped', async () => {
    await openBench();
    let count = 0;
    bench.answer = async () => ({ status: 200, body: JSON.stringify(`${count++}${'x'.repeat(1_000_000)}`) });
    const page = await bench.open('large');
    page.response.pause();
    for (let passed = 0; passed < 60 && bench.waiting > 0; passed++) await bench.pass(400);
    expect(bench.waiting).toBe(0);
  });

  test('of a page that left before it began is not begun', async () => {
    await openBench();
    const left = new Promise<void>((resolve) => {
      // Who they are is still looked up when they leave.
      bench.admit = (response, open) => {
        response.once('close', () => {
          open();
          resolve();
        });
        bench.leaveAll();
      };
    });
    void bench.open('overview');
    await left;
    expect(bench.waiting).toBe(0);
    expect(bench.asked).toEqual([]);
  });

  test('ends when the server does', async () => {
    await openBench();
    const page = await bench.open('overview');
    bench.live.end();
    await page.until(() => page.isEnded);
    expect(bench.waiting).toBe(0);
  });

  test.each([
    ['none', []],
    ['too many', Array.from({ length: WATCHES_MAX + 1 }, (_, index) => `path-${index}`)],
    ['an empty one', ['']],
    ['a long one', ['x'.repeat(2_049)]],
  ])('with watches: %s is refused', async (_, watches) => {
    await openBench();
    expect((await bench.open(...watches)).response.statusCode).toBe(400);
  });

  test('beyond what one person or this node may have is sent away to come back later', async () => {
    await openBench();
    for (let opened = 0; opened < STREAMS_PER_USER_MAX; opened++) await bench.open('overview');
    const ninth = await bench.open('overview');
    await ninth.until(() => ninth.isEnded);
    expect(ninth.text).toBe('retry: 5000\n\n');
    for (let opened = STREAMS_PER_USER_MAX; opened < STREAMS_MAX; opened++) {
      bench.caller = callerOf(ids, 'viewer');
      await bench.open('overview');
    }
    bench.caller = callerOf(ids, 'viewer');
    const last = await bench.open('overview');
    await last.until(() => last.isEnded);
  });
});
