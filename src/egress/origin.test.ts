/** Which request gets which lane, and when another is opened. Whatever happens, nobody is left waiting. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ScriptedTimers } from '#test/egress/rig.ts';
import { LATE_MS } from './openings.ts';
import { type Openable, Origin, type Passenger } from './origin.ts';
import { FREED_MOVING, FREED_PLENTY, OPENED_FIRST, OPENED_MAX, WINDOW_MS } from './pace.ts';
import { TRIAL_MS } from './trust.ts';

const REFUSED = new Error('refused');

/** What was there before what. */
let order = 0;

/** A lane that opens when the test says so. */
class ScriptedLane implements Openable {
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

class Request implements Passenger<ScriptedLane> {
  readonly order = ++order;
  lane: ScriptedLane | null = null;
  error: Error | null = null;

  board(lane: ScriptedLane): void {
    if (this.lane !== null || this.error !== null) throw new Error('It was answered before.');
    this.lane = lane;
  }

  strand(error: Error): void {
    if (this.lane !== null || this.error !== null) throw new Error('It was answered before.');
    this.error = error;
  }
}

class Station {
  readonly timers = new ScriptedTimers();
  readonly lanes = new Set<ScriptedLane>();
  readonly opening = new Set<ScriptedLane>();
  readonly idle = new Set<ScriptedLane>();
  mayOpenAhead = true;
  created = 0;
  readonly origin: Origin<ScriptedLane> = new Origin<ScriptedLane>({
    timers: this.timers,
    create: () => {
      const lane = new ScriptedLane();
      this.created += 1;
      this.lanes.add(lane);
      this.opening.add(lane);
      return lane;
    },
    opened: (lane) => this.opening.delete(lane),
    drop: (lane) => this.drop(lane),
    keepIdle: (lane) => this.idle.add(lane),
    useIdle: (lane) => this.idle.delete(lane),
    mayOpenAhead: () => this.mayOpenAhead,
  });

  drop(lane: ScriptedLane): void {
    this.lanes.delete(lane);
    this.idle.delete(lane);
    this.origin.remove(lane);
  }

  send(): Request {
    const request = new Request();
    const lane = this.origin.takeIdle();
    if (lane === undefined) this.origin.wait(request);
    else request.board(lane);
    return request;
  }

  free(lane: ScriptedLane | null): void {
    if (lane !== null) this.origin.free(lane);
  }

  break(lane: ScriptedLane | null): void {
    if (lane === null) return;
    this.origin.broke(lane);
    this.drop(lane);
  }

  /** Late ones too, but not those that never open. */
  unopened(): readonly ScriptedLane[] {
    return [...this.lanes].filter(({ onEnd, isStuck }) => onEnd !== null && !isStuck);
  }

  openAll(): void {
    for (const lane of this.unopened()) lane.end(null);
  }

  pass(ms = WINDOW_MS): void {
    this.timers.pass(ms);
    this.timers.pass(0);
  }

  /** Two requests on one lane: the origin keeps its connections. */
  earnTrust(): void {
    const first = this.send();
    this.openAll();
    this.free(first.lane);
    this.free(this.send().lane);
  }
}

function sending(count: number, station = new Station()) {
  const requests = Array.from({ length: count }, () => station.send());
  return { station, requests };
}

function served(requests: readonly Request[]): number {
  return requests.filter(({ lane }) => lane !== null).length;
}

describe('a request', () => {
  test('has a lane opened for it, and fails if that fails', () => {
    const { station, requests } = sending(2);
    const [first, second] = [...station.opening];
    first?.end(REFUSED);
    second?.end(null);
    expect(requests.map(({ lane, error }) => [lane, error])).toEqual([
      [null, REFUSED],
      [second, null],
    ]);
    expect(station.lanes).toEqual(new Set([second]));
    expect(station.timers.waiting()).toEqual([]);
  });

  test('takes the lane that comes free first; its own becomes idle', () => {
    const station = new Station();
    station.earnTrust();
    const earlier = station.send();
    const request = station.send();
    station.free(earlier.lane);
    expect(request.lane).toBe(earlier.lane);
    station.openAll();
    const [idle] = station.idle;
    expect(station.send().lane).toBe(idle);
    expect(station.idle.size).toBe(0);
  });

  test('that ends before it is served ends what is opened for it', () => {
    const { station, requests } = sending(1);
    for (const request of requests) station.origin.leave(request);
    expect(station.lanes.size).toBe(0);
    expect(station.origin.isEmpty).toBe(true);
    expect(station.timers.waiting()).toEqual([]);
  });
});

describe('many at once', () => {
  test('have few lanes opened for them, and more with time', () => {
    const { station } = sending(100);
    expect(station.created).toBe(OPENED_FIRST);
    station.pass();
    expect(station.created).toBe(2 * OPENED_FIRST);
  });

  test('that hang once they have their lanes hold up the next ones less and less', () => {
    const { station, requests } = sending(2_000);
    const created: number[] = [];
    while (served(requests) < requests.length) {
      created.push(station.unopened().length);
      station.openAll();
      station.pass();
    }
    expect(created.slice(0, 6)).toEqual([16, 16, 32, 64, 128, OPENED_MAX]);
  });

  test('are not held up by lanes that hang while they open', () => {
    const station = new Station();
    station.earnTrust();
    station.origin.takeIdle();
    const { requests } = sending(100, station);
    for (const lane of station.opening) lane.isStuck = true;
    for (let window = 0; window < 100; window += 1) {
      station.pass();
      station.openAll();
    }
    expect(served(requests)).toBe(100 - OPENED_FIRST);
    // And those for whom they were opened take the next that comes free.
    for (const { lane } of requests.slice(-OPENED_FIRST)) station.free(lane);
    expect(served(requests)).toBe(100);
  });

  /** So many are waiting, and so many lanes come free within a window: how many are opened in the next? */
  function openedAfter(freed: number, waiting: number): number {
    const station = new Station();
    station.earnTrust();
    const busy = station.origin.takeIdle() ?? null;
    const { requests } = sending(waiting + freed + OPENED_FIRST, station);
    station.openAll();
    for (let n = 0; n < freed; n += 1) station.free(busy);
    expect(served(requests)).toBe(OPENED_FIRST + freed);
    const before = station.created;
    station.pass();
    return station.created - before;
  }

  test('are served in turn by lanes that come free, and none is opened while the queue moves', () => {
    expect(openedAfter(FREED_MOVING, 5 * FREED_MOVING)).toBe(0);
    expect(openedAfter(FREED_MOVING - 1, 5 * FREED_MOVING)).toBe(OPENED_FIRST);
    // It moves, but too many wait; unless it could not move faster.
    expect(openedAfter(FREED_MOVING, 5 * FREED_MOVING + 1)).toBe(OPENED_FIRST);
    expect(openedAfter(FREED_PLENTY, 5_000)).toBe(0);
  });

  test('are served by lanes whose answers came while this process was busy: none is opened before', () => {
    const station = new Station();
    station.earnTrust();
    const busy = station.origin.takeIdle() ?? null;
    sending(5 * FREED_MOVING + OPENED_FIRST, station);
    station.openAll();
    const before = station.created;
    // The window is over before the process has come to read the answers.
    station.timers.pass(WINDOW_MS);
    for (let n = 0; n < FREED_MOVING; n += 1) station.free(busy);
    station.timers.pass(0);
    expect(station.created).toBe(before);
  });

  test('hear at once that nobody is there', () => {
    const { station, requests } = sending(100);
    while (station.opening.size > 0) for (const lane of station.opening) lane.end(REFUSED);
    expect(requests.every(({ error }) => error === REFUSED)).toBe(true);
    expect(station.origin.isEmpty).toBe(true);
  });
});

describe('a lane just answered', () => {
  /** One in use, and one who waits while its own is being opened. */
  function waiting() {
    const station = new Station();
    const first = station.send();
    station.openAll();
    return { station, first, second: station.send() };
  }

  test('is not passed on before it is known that the origin keeps it', () => {
    const { station, first, second } = waiting();
    station.free(first.lane);
    expect([second.lane, station.idle.size]).toEqual([null, 1]);
    station.openAll();
    expect(second.lane).not.toBe(first.lane);
  });

  test('is passed on once it has stayed open for a while', () => {
    const { station, first, second } = waiting();
    station.free(first.lane);
    station.pass(TRIAL_MS);
    expect([second.lane, station.idle.size]).toEqual([first.lane, 0]);
  });

  test('shows nothing where it is closed, and leaves no timer behind', () => {
    const { station, first, second } = waiting();
    station.free(first.lane);
    if (first.lane !== null) station.drop(first.lane);
    expect(station.timers.waiting()).not.toContain(TRIAL_MS);
    station.openAll();
    expect(second.lane).not.toBe(null);
  });

  test('is passed on with all that are idle once one has served twice', () => {
    const { station, requests } = sending(40);
    station.openAll();
    for (const { lane } of requests.slice(0, 3)) station.free(lane);
    const again = station.send();
    expect([served(requests), station.idle.size]).toEqual([OPENED_FIRST, 2]);
    station.free(again.lane);
    expect([served(requests), station.idle.size]).toEqual([OPENED_FIRST + 3, 0]);
  });

  test('is no longer passed on after one broke that was used again', () => {
    const station = new Station();
    station.earnTrust();
    const [again, fresh, second, third] = [1, 2, 3, 4].map(() => station.send());
    station.openAll();
    const later = [station.send(), station.send()];
    station.break(fresh?.lane ?? null);
    station.free(second?.lane ?? null);
    expect(served(later)).toBe(1);
    station.break(again?.lane ?? null);
    station.free(third?.lane ?? null);
    expect(served(later)).toBe(1);
  });
});

describe('a lane that does not open', () => {
  function stuckAhead(lanes: number) {
    const station = new Station();
    station.origin.openAhead(lanes);
    for (const lane of station.opening) lane.isStuck = true;
    return station;
  }

  test('ends after a while where it is for nobody', () => {
    const station = stuckAhead(4);
    station.pass(LATE_MS);
    expect(station.origin.isEmpty).toBe(true);
    expect([station.opening.size, station.lanes.size]).toEqual([0, 0]);
    const request = station.send();
    station.openAll();
    expect(request.lane).not.toBe(null);
  });

  test('is replaced where it was not opened for who waits for it', () => {
    const station = stuckAhead(2);
    const requests = [station.send(), station.send()];
    expect(station.created).toBe(2);
    station.pass(LATE_MS);
    station.openAll();
    expect([served(requests), station.lanes.size]).toEqual([2, 2]);
  });

  test('stays with whom it was opened for, and goes to nobody else', () => {
    const station = new Station();
    station.earnTrust();
    const [busy, first] = [station.send(), station.send()];
    const [stuck] = station.opening;
    station.pass(LATE_MS);
    expect([stuck !== undefined && station.lanes.has(stuck), station.opening.size]).toEqual([true, 0]);
    const second = station.send();
    station.free(busy.lane);
    expect([first.lane, stuck !== undefined && station.lanes.has(stuck)]).toEqual([busy.lane, false]);
    station.openAll();
    expect(second.lane).not.toBe(null);
  });
});

describe('ahead of time', () => {
  test('so many are opened, counting those that are there', () => {
    const station = new Station();
    const request = station.send();
    station.openAll();
    station.free(request.lane);
    station.origin.openAhead(3);
    expect(station.created).toBe(3);
    station.origin.openAhead(3);
    station.openAll();
    station.origin.openAhead(3);
    expect([station.created, station.idle.size]).toEqual([3, 3]);
  });

  test('they are opened no faster than others, nor beyond what is allowed', () => {
    const station = new Station();
    station.origin.openAhead(3 * OPENED_FIRST);
    expect(station.created).toBe(OPENED_FIRST);
    station.pass();
    station.mayOpenAhead = false;
    station.pass();
    station.mayOpenAhead = true;
    station.pass();
    expect(station.created).toBe(2 * OPENED_FIRST);
  });

  test('those that fail are not tried again, and nobody hears of it', () => {
    const station = new Station();
    station.origin.openAhead(3 * OPENED_FIRST);
    for (const lane of station.opening) lane.end(REFUSED);
    station.pass();
    expect(station.created).toBe(OPENED_FIRST);
    expect(station.origin.isEmpty).toBe(true);
  });

  test('a request that comes meanwhile takes the first that opens', () => {
    const station = new Station();
    station.origin.openAhead(2);
    const request = station.send();
    expect(station.created).toBe(2);
    station.openAll();
    expect([request.lane !== null, station.idle.size]).toEqual([true, 1]);
  });
});

type Step = 'send' | 'leave' | 'opens' | 'sticks' | 'fails' | 'frees' | 'breaks' | 'ahead' | 'time' | 'late';
const STEPS: readonly Step[] = [
  'send',
  'send',
  'send',
  'leave',
  'opens',
  'opens',
  'sticks',
  'fails',
  'frees',
  'frees',
  'breaks',
  'ahead',
  'time',
  'late',
];

test('whatever happens, every request is served, fails or leaves, and nothing stays behind', () => {
  const step = fc.tuple(fc.constantFrom(...STEPS), fc.nat());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400, size: 'max' }), fc.boolean(), (steps, isClosed) => {
      const station = new Station();
      const requests = new Set<Request>();
      const pick = <T>(from: Iterable<T>, at: number): T | undefined => {
        const all = [...from];
        return all[at % Math.max(1, all.length)];
      };
      const using = () => [...requests].filter(({ lane }) => lane !== null);
      const waiting = () => [...requests].filter(({ lane, error }) => lane === null && error === null);
      const end = (request: Request | undefined, isFree: boolean) => {
        if (request === undefined || request.lane === null) return;
        requests.delete(request);
        if (isFree) station.free(request.lane);
        else station.break(request.lane);
      };
      const take: Readonly<Record<Step, (at: number) => void>> = {
        send: () => requests.add(station.send()),
        leave: (at) => {
          const request = pick(waiting(), at);
          if (request === undefined) return;
          requests.delete(request);
          station.origin.leave(request);
        },
        opens: (at) => pick(station.unopened(), at)?.end(null),
        sticks: (at) => {
          const lane = pick(station.unopened(), at);
          if (lane !== undefined) lane.isStuck = true;
        },
        fails: (at) => pick(station.unopened(), at)?.end(REFUSED),
        frees: (at) => end(pick(using(), at), true),
        breaks: (at) => end(pick(using(), at), false),
        ahead: (at) => station.origin.openAhead(at % 40),
        time: (at) => station.pass(at % 2 === 0 ? WINDOW_MS : TRIAL_MS),
        late: () => station.pass(LATE_MS),
      };
      for (const [what, at] of steps) {
        take[what](at);
        // Who waits has something to wait for: a lane being opened, or the end of the window.
        const unopened = [...station.lanes].filter(({ onEnd }) => onEnd !== null).length;
        if (waiting().length > unopened) expect(station.timers.waiting()).toContain(WINDOW_MS);
      }
      if (isClosed) station.origin.close(REFUSED);
      for (let round = 0; round < 100; round += 1) {
        station.pass();
        station.pass(LATE_MS);
        station.openAll();
      }
      // Who waits still came before the lane that never opens, and each such lane holds up one alone.
      const stuck = [...station.lanes].filter(({ isStuck }) => isStuck);
      expect(stuck).toHaveLength(waiting().length);
      expect(station.opening.size).toBe(0);
      for (const { order: since } of waiting())
        expect(stuck.filter((lane) => lane.order > since).length).toBeGreaterThanOrEqual(
          waiting().filter((request) => request.order >= since).length,
        );
      for (const request of waiting()) station.origin.leave(request);
      for (const request of using()) end(request, false);
      station.openAll();
      for (const lane of station.lanes) station.drop(lane);
      station.pass();
      expect(station.origin.isEmpty).toBe(true);
      expect(station.timers.waiting()).toEqual([]);
    }),
  );
});
