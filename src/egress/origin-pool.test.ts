/** Tests which request gets which connection, and when one is opened. No request is left waiting forever. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ScriptedTimers } from '#test/egress/harness.ts';
import {
  OPENED_PER_WINDOW_MAX,
  OPENED_PER_WINDOW_MIN,
  RELEASED_PER_WINDOW_MOVING,
  RELEASED_PER_WINDOW_SATURATED,
  WINDOW_MS,
} from './connection-pacer.ts';
import { type Openable, OriginPool, type Waiter } from './origin-pool.ts';
import { SLOW_AFTER_MS } from './pending-connections.ts';
import { TRIAL_MS } from './reuse-policy.ts';

const REFUSED = new Error('refused');

/** Numbers connections and requests in the order in which they were created. */
let order = 0;

/** A connection that opens when the test says so. */
class ScriptedConnection implements Openable {
  readonly order = ++order;
  isStuck = false;
  onEnd: ((error: Error | null) => void) | null = null;

  open(onEnd: (error: Error | null) => void): void {
    this.onEnd = onEnd;
  }

  end(error: Error | null): void {
    const { onEnd } = this;
    this.onEnd = null;
    onEnd?.(error);
  }
}

class Request implements Waiter<ScriptedConnection> {
  readonly isOverdue: boolean;
  readonly order = ++order;
  connection: ScriptedConnection | null = null;
  error: Error | null = null;

  constructor(isOverdue: boolean) {
    this.isOverdue = isOverdue;
  }

  connect(connection: ScriptedConnection): void {
    if (this.connection !== null || this.error !== null)
      throw new Error('The request was connected or failed before.');
    this.connection = connection;
  }

  fail(error: Error): void {
    if (this.connection !== null || this.error !== null)
      throw new Error('The request was connected or failed before.');
    this.error = error;
  }
}

class PoolHarness {
  readonly timers = new ScriptedTimers();
  readonly connections = new Set<ScriptedConnection>();
  readonly opening = new Set<ScriptedConnection>();
  readonly idle = new Set<ScriptedConnection>();
  canWarm = true;
  created = 0;
  readonly pool: OriginPool<ScriptedConnection> = new OriginPool<ScriptedConnection>({
    timers: this.timers,
    create: () => {
      const connection = new ScriptedConnection();
      this.created += 1;
      this.connections.add(connection);
      this.opening.add(connection);
      return connection;
    },
    onOpeningEnded: (connection) => this.opening.delete(connection),
    discard: (connection) => this.discard(connection),
    onIdle: (connection) => this.idle.add(connection),
    onIdleTaken: (connection) => this.idle.delete(connection),
    canWarm: () => this.canWarm,
  });

  discard(connection: ScriptedConnection): void {
    this.connections.delete(connection);
    this.idle.delete(connection);
    this.pool.remove(connection);
  }

  send(isOverdue = false): Request {
    const request = new Request(isOverdue);
    const connection = this.pool.takeIdle();
    if (connection === undefined) this.pool.enqueue(request);
    else request.connect(connection);
    return request;
  }

  release(connection: ScriptedConnection | null): void {
    if (connection !== null) this.pool.release(connection);
  }

  break(connection: ScriptedConnection | null): void {
    if (connection === null) return;
    this.pool.noteBroken(connection);
    this.discard(connection);
  }

  /** Includes slow connections, but not those that never open. */
  unopened(): readonly ScriptedConnection[] {
    return [...this.connections].filter(({ onEnd, isStuck }) => onEnd !== null && !isStuck);
  }

  openAll(): void {
    for (const connection of this.unopened()) connection.end(null);
  }

  advance(ms = WINDOW_MS): void {
    this.timers.fire(ms);
    this.timers.fire(0);
  }

  /** Two requests on one connection show that the origin keeps connections open. */
  allowReuse(): void {
    const first = this.send();
    this.openAll();
    this.release(first.connection);
    this.release(this.send().connection);
  }
}

function sending(count: number, harness = new PoolHarness()) {
  const requests = Array.from({ length: count }, () => harness.send());
  return { harness, requests };
}

function served(requests: readonly Request[]): number {
  return requests.filter(({ connection }) => connection !== null).length;
}

describe('a request', () => {
  test('gets a connection opened for it, and fails if that fails', () => {
    const { harness, requests } = sending(2);
    const [first, second] = [...harness.opening];
    first?.end(REFUSED);
    second?.end(null);
    expect(requests.map(({ connection, error }) => [connection, error])).toEqual([
      [null, REFUSED],
      [second, null],
    ]);
    expect(harness.connections).toEqual(new Set([second]));
    expect(harness.timers.pending()).toEqual([]);
  });

  test('takes a connection that is released first, and its own becomes idle', () => {
    const harness = new PoolHarness();
    harness.allowReuse();
    const earlier = harness.send();
    const request = harness.send();
    harness.release(earlier.connection);
    expect(request.connection).toBe(earlier.connection);
    harness.openAll();
    const [idle] = harness.idle;
    expect(harness.send().connection).toBe(idle);
    expect(harness.idle.size).toBe(0);
  });

  test('that is cancelled abandons the connection that is opened for it', () => {
    const { harness, requests } = sending(1);
    for (const request of requests) harness.pool.cancel(request);
    expect(harness.connections.size).toBe(0);
    expect(harness.pool.isEmpty).toBe(true);
    expect(harness.timers.pending()).toEqual([]);
  });
});

describe('many requests at once', () => {
  test('get a few connections opened for them, and more in each window', () => {
    const { harness } = sending(100);
    expect(harness.created).toBe(OPENED_PER_WINDOW_MIN);
    harness.advance();
    expect(harness.created).toBe(2 * OPENED_PER_WINDOW_MIN);
  });

  test('that hang on their connections delay the next ones less and less', () => {
    const { harness, requests } = sending(2_000);
    const created: number[] = [];
    while (served(requests) < requests.length) {
      created.push(harness.unopened().length);
      harness.openAll();
      harness.advance();
    }
    expect(created.slice(0, 6)).toEqual([16, 16, 32, 64, 128, OPENED_PER_WINDOW_MAX]);
  });

  test('are not delayed by connections that never open', () => {
    const harness = new PoolHarness();
    harness.allowReuse();
    harness.pool.takeIdle();
    const { requests } = sending(100, harness);
    for (const connection of harness.opening) connection.isStuck = true;
    for (let window = 0; window < 100; window += 1) {
      harness.advance();
      harness.openAll();
    }
    expect(served(requests)).toBe(100 - OPENED_PER_WINDOW_MIN);
    // The requests that own such a connection take the next one that is released.
    for (const { connection } of requests.slice(-OPENED_PER_WINDOW_MIN)) harness.release(connection);
    expect(served(requests)).toBe(100);
  });

  /** Returns how many connections are opened in the window after `released` were released while `waiting` waited. */
  function openedAfter(released: number, waiting: number): number {
    const harness = new PoolHarness();
    harness.allowReuse();
    const busy = harness.pool.takeIdle() ?? null;
    const { requests } = sending(waiting + released + OPENED_PER_WINDOW_MIN, harness);
    harness.openAll();
    for (let n = 0; n < released; n += 1) harness.release(busy);
    expect(served(requests)).toBe(OPENED_PER_WINDOW_MIN + released);
    const before = harness.created;
    harness.advance();
    return harness.created - before;
  }

  test('share released connections, and none is opened while the queue moves', () => {
    expect(openedAfter(RELEASED_PER_WINDOW_MOVING, 5 * RELEASED_PER_WINDOW_MOVING)).toBe(0);
    expect(openedAfter(RELEASED_PER_WINDOW_MOVING - 1, 5 * RELEASED_PER_WINDOW_MOVING)).toBe(
      OPENED_PER_WINDOW_MIN,
    );
    // The queue moves, but too many requests wait. It cannot move faster at the saturated rate.
    expect(openedAfter(RELEASED_PER_WINDOW_MOVING, 5 * RELEASED_PER_WINDOW_MOVING + 1)).toBe(
      OPENED_PER_WINDOW_MIN,
    );
    expect(openedAfter(RELEASED_PER_WINDOW_SATURATED, 5_000)).toBe(0);
  });

  test('use connections whose answers arrived while this process was busy before new ones are opened', () => {
    const harness = new PoolHarness();
    harness.allowReuse();
    const busy = harness.pool.takeIdle() ?? null;
    sending(5 * RELEASED_PER_WINDOW_MOVING + OPENED_PER_WINDOW_MIN, harness);
    harness.openAll();
    const before = harness.created;
    // The window ends before the process has read the answers.
    harness.timers.fire(WINDOW_MS);
    for (let n = 0; n < RELEASED_PER_WINDOW_MOVING; n += 1) harness.release(busy);
    harness.timers.fire(0);
    expect(harness.created).toBe(before);
  });

  test('all fail at once if the destination refuses connections', () => {
    const { harness, requests } = sending(100);
    while (harness.opening.size > 0) for (const connection of harness.opening) connection.end(REFUSED);
    expect(requests.every(({ error }) => error === REFUSED)).toBe(true);
    expect(harness.pool.isEmpty).toBe(true);
  });
});

describe('a connection that was just answered', () => {
  /** One request is in flight, and another waits while its connection is opening. */
  function waiting() {
    const harness = new PoolHarness();
    const first = harness.send();
    harness.openAll();
    return { harness, first, second: harness.send() };
  }

  test('is not reused before the origin has shown that it keeps connections open', () => {
    const { harness, first, second } = waiting();
    harness.release(first.connection);
    expect([second.connection, harness.idle.size]).toEqual([null, 1]);
    harness.openAll();
    expect(second.connection).not.toBe(first.connection);
  });

  test('is reused when it has stayed open for a while', () => {
    const { harness, first, second } = waiting();
    harness.release(first.connection);
    harness.advance(TRIAL_MS);
    expect([second.connection, harness.idle.size]).toEqual([first.connection, 0]);
  });

  test('proves nothing if it is closed, and leaves no timer behind', () => {
    const { harness, first, second } = waiting();
    harness.release(first.connection);
    if (first.connection !== null) harness.discard(first.connection);
    expect(harness.timers.pending()).not.toContain(TRIAL_MS);
    harness.openAll();
    expect(second.connection).not.toBe(null);
  });

  test('is reused, with all idle ones, when one connection has served twice', () => {
    const { harness, requests } = sending(40);
    harness.openAll();
    for (const { connection } of requests.slice(0, 3)) harness.release(connection);
    const again = harness.send();
    expect([served(requests), harness.idle.size]).toEqual([OPENED_PER_WINDOW_MIN, 2]);
    harness.release(again.connection);
    expect([served(requests), harness.idle.size]).toEqual([OPENED_PER_WINDOW_MIN + 3, 0]);
  });

  test('is no longer reused after a reused connection broke', () => {
    const harness = new PoolHarness();
    harness.allowReuse();
    const [again, fresh, second, third] = [1, 2, 3, 4].map(() => harness.send());
    harness.openAll();
    const later = [harness.send(), harness.send()];
    harness.break(fresh?.connection ?? null);
    harness.release(second?.connection ?? null);
    expect(served(later)).toBe(1);
    harness.break(again?.connection ?? null);
    harness.release(third?.connection ?? null);
    expect(served(later)).toBe(1);
  });
});

describe('a connection that does not open', () => {
  function stuckAhead(connections: number) {
    const harness = new PoolHarness();
    harness.pool.warm(connections);
    for (const connection of harness.opening) connection.isStuck = true;
    return harness;
  }

  test('is discarded after a while if no request owns it', () => {
    const harness = stuckAhead(4);
    harness.advance(SLOW_AFTER_MS);
    expect(harness.pool.isEmpty).toBe(true);
    expect([harness.opening.size, harness.connections.size]).toEqual([0, 0]);
    const request = harness.send();
    harness.openAll();
    expect(request.connection).not.toBe(null);
  });

  test('is replaced if its request inherited it', () => {
    const harness = stuckAhead(2);
    const requests = [harness.send(), harness.send()];
    expect(harness.created).toBe(2);
    harness.advance(SLOW_AFTER_MS);
    harness.openAll();
    expect([served(requests), harness.connections.size]).toEqual([2, 2]);
  });

  test('stays with the request it was opened for, and is never reassigned', () => {
    const harness = new PoolHarness();
    harness.allowReuse();
    const [busy, first] = [harness.send(), harness.send()];
    const [stuck] = harness.opening;
    harness.advance(SLOW_AFTER_MS);
    expect([stuck !== undefined && harness.connections.has(stuck), harness.opening.size]).toEqual([true, 0]);
    const second = harness.send();
    harness.release(busy.connection);
    expect([first.connection, stuck !== undefined && harness.connections.has(stuck)]).toEqual([
      busy.connection,
      false,
    ]);
    harness.openAll();
    expect(second.connection).not.toBe(null);
  });
});

describe('ahead of time, connections', () => {
  test('are opened up to a number that includes the idle ones', () => {
    const harness = new PoolHarness();
    const request = harness.send();
    harness.openAll();
    harness.release(request.connection);
    harness.pool.warm(3);
    expect(harness.created).toBe(3);
    harness.pool.warm(3);
    harness.openAll();
    harness.pool.warm(3);
    expect([harness.created, harness.idle.size]).toEqual([3, 3]);
  });

  test('are opened no faster than others, and not beyond the limit', () => {
    const harness = new PoolHarness();
    harness.pool.warm(3 * OPENED_PER_WINDOW_MIN);
    expect(harness.created).toBe(OPENED_PER_WINDOW_MIN);
    harness.advance();
    harness.canWarm = false;
    harness.advance();
    harness.canWarm = true;
    harness.advance();
    expect(harness.created).toBe(2 * OPENED_PER_WINDOW_MIN);
  });

  test('that fail are not opened again, and no error is reported', () => {
    const harness = new PoolHarness();
    harness.pool.warm(3 * OPENED_PER_WINDOW_MIN);
    for (const connection of harness.opening) connection.end(REFUSED);
    harness.advance();
    expect(harness.created).toBe(OPENED_PER_WINDOW_MIN);
    expect(harness.pool.isEmpty).toBe(true);
  });

  test('that are still opening serve the next request', () => {
    const harness = new PoolHarness();
    harness.pool.warm(2);
    const request = harness.send();
    expect(harness.created).toBe(2);
    harness.openAll();
    expect([request.connection !== null, harness.idle.size]).toEqual([true, 1]);
  });
});

type Step =
  | 'send'
  | 'cancel'
  | 'opens'
  | 'sticks'
  | 'fails'
  | 'releases'
  | 'breaks'
  | 'warm'
  | 'time'
  | 'slow';
const STEPS: readonly Step[] = [
  'send',
  'send',
  'send',
  'cancel',
  'opens',
  'opens',
  'sticks',
  'fails',
  'releases',
  'releases',
  'breaks',
  'warm',
  'time',
  'slow',
];

test('in any order of events every request is served, fails or is cancelled, and nothing stays behind', () => {
  const step = fc.tuple(fc.constantFrom(...STEPS), fc.nat());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400, size: 'max' }), fc.boolean(), (steps, isClosed) => {
      const harness = new PoolHarness();
      const requests = new Set<Request>();
      const pick = <T>(from: Iterable<T>, at: number): T | undefined => {
        const all = [...from];
        return all[at % Math.max(1, all.length)];
      };
      const using = () => [...requests].filter(({ connection }) => connection !== null);
      const waiting = () =>
        [...requests].filter(({ connection, error }) => connection === null && error === null);
      const end = (request: Request | undefined, isReleased: boolean) => {
        if (request === undefined || request.connection === null) return;
        requests.delete(request);
        if (isReleased) harness.release(request.connection);
        else harness.break(request.connection);
      };
      const take: Readonly<Record<Step, (at: number) => void>> = {
        send: () => requests.add(harness.send()),
        cancel: (at) => {
          const request = pick(waiting(), at);
          if (request === undefined) return;
          requests.delete(request);
          harness.pool.cancel(request);
        },
        opens: (at) => pick(harness.unopened(), at)?.end(null),
        sticks: (at) => {
          const connection = pick(harness.unopened(), at);
          if (connection !== undefined) connection.isStuck = true;
        },
        fails: (at) => pick(harness.unopened(), at)?.end(REFUSED),
        releases: (at) => end(pick(using(), at), true),
        breaks: (at) => end(pick(using(), at), false),
        warm: (at) => harness.pool.warm(at % 40),
        time: (at) => harness.advance(at % 2 === 0 ? WINDOW_MS : TRIAL_MS),
        slow: () => harness.advance(SLOW_AFTER_MS),
      };
      for (const [what, at] of steps) {
        take[what](at);
        // Each waiting request has a connection that is opening, or waits for the end of the window.
        const unopened = [...harness.connections].filter(({ onEnd }) => onEnd !== null).length;
        if (waiting().length > unopened) expect(harness.timers.pending()).toContain(WINDOW_MS);
      }
      if (isClosed) harness.pool.close(REFUSED);
      for (let round = 0; round < 100; round += 1) {
        harness.advance();
        harness.advance(SLOW_AFTER_MS);
        harness.openAll();
      }
      // A request that still waits came before its stuck connection, and each such connection delays only one.
      const stuck = [...harness.connections].filter(({ isStuck }) => isStuck);
      expect(stuck).toHaveLength(waiting().length);
      expect(harness.opening.size).toBe(0);
      for (const { order: since } of waiting())
        expect(stuck.filter((connection) => connection.order > since).length).toBeGreaterThanOrEqual(
          waiting().filter((request) => request.order >= since).length,
        );
      for (const request of waiting()) harness.pool.cancel(request);
      for (const request of using()) end(request, false);
      harness.openAll();
      for (const connection of harness.connections) harness.discard(connection);
      harness.advance();
      expect(harness.pool.isEmpty).toBe(true);
      expect(harness.timers.pending()).toEqual([]);
    }),
  );
});

describe('a request in time', () => {
  test('takes the first connection that opens for an overdue one, which gets another', () => {
    const harness = new PoolHarness();
    const overdue = Array.from({ length: 40 }, () => harness.send(true));
    const fresh = harness.send();
    harness.openAll();
    expect(fresh.connection).not.toBeNull();
    for (let windows = 0; windows < 10; windows++) {
      harness.advance();
      harness.openAll();
    }
    expect(overdue.filter(({ connection }) => connection === null)).toEqual([]);
  });

  test('gets the next connection that is released, whatever waits longer', () => {
    const harness = new PoolHarness();
    harness.allowReuse();
    const first = harness.send();
    for (let n = 0; n < 100; n++) harness.send(true);
    const fresh = harness.send();
    harness.release(first.connection);
    expect(fresh.connection).toBe(first.connection);
  });
});
