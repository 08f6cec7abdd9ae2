import { describe, expect, test } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { OWNS_EVERY_SLOT } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { CustomerCursor } from '#src/ports/store.ts';
import { pause } from '#src/ports/system.ts';
import { dueAt, EngineHarness, VirtualTime } from '#test/engine-harness.ts';
import { DueScanner } from './due-scanner.ts';

const PAGE_ROWS = 100;
const PAGES_BEHIND_MAX = 50;
const NOW = instant(1_000_000);
const OTHER = 2 as Partition;
const AHEAD_MS = 2_000;
const AHEAD_OF_SERVERS_MS = 4_000;

/** A store of due deliveries only, ordered by (dueAt, id). It records its calls. */
class DueStore {
  worksByCustomer = false;
  rows: DueDelivery[] = [];
  isAway = false;
  /** The customers of each visit. */
  readonly visits: (readonly Partition[])[] = [];
  readonly asked: (readonly [after: Instant | null, until: Instant])[] = [];

  listDue: EngineDependencies['store']['listDue'] = async (after, until, limit) => {
    this.asked.push([after?.dueAt ?? null, until]);
    if (this.isAway) throw new Error('The store is away.');
    const rows = this.rows.filter(({ dueAt: at }) => at <= until).toSorted(byPlace);
    return rows.filter((due) => after === null || byPlace(due, after) > 0).slice(0, limit);
  };

  readonly listWaitingCustomers: EngineDependencies['store']['listWaitingCustomers'] = async (
    after,
    _until,
    limit,
  ) => {
    const from = after?.partition ?? Number.NEGATIVE_INFINITY;
    const waiting = new Set(this.rows.map(({ partition }) => partition));
    const listed = [...waiting].filter((partition) => partition > from).toSorted((one, other) => one - other);
    return listed.slice(0, limit).map((partition) => ({ partition, slot: null, after: null }));
  };

  /** The rows of each customer in order. Rows are only added, so their number tells whether this is current. */
  #grouped = { count: 0, byCustomer: new Map<Partition, readonly DueDelivery[]>() };

  #byCustomer(): ReadonlyMap<Partition, readonly DueDelivery[]> {
    if (this.#grouped.count !== this.rows.length) {
      const byCustomer = Map.groupBy(this.rows.toSorted(byPlace), ({ partition }) => partition);
      this.#grouped = { count: this.rows.length, byCustomer };
    }
    return this.#grouped.byCustomer;
  }

  readonly listDueOfCustomers: EngineDependencies['store']['listDueOfCustomers'] = async (
    cursors,
    until,
    limitEach,
  ) => {
    this.visits.push(cursors.map(({ partition }) => partition));
    const byCustomer = this.#byCustomer();
    const due: DueDelivery[] = [];
    const unfinished: CustomerCursor[] = [];
    for (const cursor of cursors) {
      const rows = byCustomer.get(cursor.partition) ?? [];
      const isNext = (one: DueDelivery) => cursor.after === null || byPlace(one, cursor.after) > 0;
      const own = rows.filter((one) => one.dueAt <= until && isNext(one)).slice(0, limitEach);
      due.push(...own);
      if (own.length === limitEach) unfinished.push({ ...cursor, after: own.at(-1) ?? null });
    }
    return { due, unfinished };
  };
}

function byPlace(a: Pick<DueDelivery, 'dueAt' | 'id'>, b: Pick<DueDelivery, 'dueAt' | 'id'>): number {
  return a.dueAt === b.dueAt ? Number(a.id > b.id) - Number(a.id < b.id) : a.dueAt - b.dueAt;
}

/** A queue that keeps every delivery found, with the capacity that the test sets. */
class Found {
  readonly upcoming: DueDelivery[] = [];
  readonly overdue: DueDelivery[] = [];
  readonly #known = new Set<string>();
  readonly #upcomingSet = new Set<DueDelivery>();
  readonly #upcomingOf = new Map<Partition, number>();
  pages = 0;
  upcomingRoom = Number.POSITIVE_INFINITY;
  hasRoomForOverdue = true;
  isWanted: (due: DueDelivery) => boolean = () => true;

  hasRoomForUpcoming(partition: Partition): boolean {
    return (this.#upcomingOf.get(partition) ?? 0) < this.upcomingRoom;
  }

  addUpcoming(due: DueDelivery): boolean {
    if (this.#upcomingSet.has(due)) return true;
    if (!this.hasRoomForUpcoming(due.partition)) return false;
    this.upcoming.push(due);
    this.#upcomingSet.add(due);
    this.#upcomingOf.set(due.partition, (this.#upcomingOf.get(due.partition) ?? 0) + 1);
    return true;
  }

  /** Forgets all upcoming deliveries but the first. */
  keepUpcoming(count: number): void {
    const kept = this.upcoming.slice(0, count);
    this.upcoming.length = 0;
    this.#upcomingSet.clear();
    this.#upcomingOf.clear();
    for (const due of kept) this.addUpcoming(due);
  }

  addReady(due: DueDelivery): boolean {
    if (this.#known.has(due.id) || !this.isWanted(due)) return false;
    this.#known.add(due.id);
    this.overdue.push(due);
    return true;
  }

  wake(): void {
    this.pages++;
  }
}

function setUp(rows: readonly DueDelivery[], worksByCustomer = false) {
  const store = new DueStore();
  store.worksByCustomer = worksByCustomer;
  store.rows = [...rows];
  const time = new VirtualTime(NOW);
  const found = new Found();
  const harness = { store: store as unknown as EngineDependencies['store'], clock: time, timers: time };
  const scanner = new DueScanner(harness, OWNS_EVERY_SLOT, found);
  /** Scans, and lets only the time between pages pass. */
  const scan = async (where: 'upcoming' | 'remainingUpcoming' | 'overdue', betweenMs = 5) => {
    const state = { isOver: false };
    const scanned = scanner[where]().finally(() => {
      state.isOver = true;
    });
    while (!state.isOver) await time.advance(betweenMs);
    await scanned;
  };
  return { store, time, found, scanner, scan };
}

/** Makes `count` deliveries that are due from an instant on, `perInstant` at each millisecond. */
function many(count: number, from: number, perInstant = 1): readonly DueDelivery[] {
  return Array.from({ length: count }, (_, index) =>
    dueAt(from + Math.floor(index / perInstant), { name: `${from}-${String(index).padStart(6, '0')}` }),
  );
}

function idsOf(dues: readonly DueDelivery[]): readonly string[] {
  return dues.map(({ id }) => id);
}

describe('a scan of upcoming deliveries', () => {
  test('finds deliveries that come due within 2 s, and none that are due already or later', async () => {
    const { found, scan } = setUp([
      dueAt(NOW, { name: 'now' }),
      dueAt(NOW + 1, { name: 'next' }),
      dueAt(NOW + AHEAD_MS, { name: 'last' }),
      dueAt(NOW + AHEAD_MS + 1, { name: 'later' }),
    ]);
    await scan('upcoming');
    expect(idsOf(found.upcoming)).toEqual(['dlv_next', 'dlv_last']);
  });

  test('looks further ahead if the store asks many servers', async () => {
    const due = dueAt(NOW + AHEAD_OF_SERVERS_MS, { name: 'last' });
    const { found, scan } = setUp([due, dueAt(due.dueAt + 1, { name: 'later' })], true);
    await scan('upcoming');
    expect(idsOf(found.upcoming)).toEqual(['dlv_last']);
  });

  test('goes on where the last scan ended, however long ago that was', async () => {
    const { found, scan, store, time } = setUp([dueAt(NOW + AHEAD_MS, { name: 'seen' })]);
    await scan('upcoming');
    const later = time.now() + 2 * AHEAD_MS;
    store.rows.push(dueAt(NOW + AHEAD_MS + 10, { name: 'missed' }), dueAt(later, { name: 'next' }));
    await time.advance(2 * AHEAD_MS - 100);
    await scan('upcoming');
    expect(idsOf(found.upcoming)).toEqual(['dlv_seen', 'dlv_missed', 'dlv_next']);
  });

  test('begins no earlier than now when the clock was set back', async () => {
    const { found, scan, time } = setUp([
      dueAt(NOW - 5_000, { name: 'before' }),
      dueAt(NOW - 4_000, { name: 'next' }),
    ]);
    await scan('upcoming');
    time.setClock(NOW - 4_500 - time.now());
    await scan('upcoming');
    expect(idsOf(found.upcoming)).toEqual(['dlv_next']);
  });

  test('reads page by page, yields between pages, and misses no delivery', async () => {
    const rows = many(3 * PAGE_ROWS + 17, NOW + 1, 100);
    const { found, scanner, time } = setUp(rows);
    const scanned = scanner.upcoming();
    await time.settled();
    expect([found.pages, found.upcoming.length, time.pending]).toEqual([1, PAGE_ROWS, 1]);
    await time.advance(0);
    await scanned;
    expect(idsOf(found.upcoming)).toEqual(idsOf(rows));
    expect(found.pages).toBe(4);
  });

  test('goes on for the other customers when one customer has no room for more', async () => {
    const others = many(2 * PAGE_ROWS, NOW + 1_500).map((due) => ({ ...due, partition: OTHER }));
    const { found, scan, store } = setUp([...many(40 * PAGE_ROWS, NOW + 1, 100), ...others]);
    found.upcomingRoom = 3 * PAGE_ROWS;
    await scan('upcoming');
    expect(found.upcoming.filter(({ partition }) => partition === OTHER)).toEqual(others);
    expect(store.visits.flat()).toContain(OTHER);
    expect(new Set(store.visits.flat()).size).toBe(1);
    found.keepUpcoming(3 * PAGE_ROWS);
    store.asked.splice(0);
    store.visits.splice(0);
    await scan('upcoming');
    // There is still no room, so only the other customer is visited.
    expect(new Set(store.visits.flat())).toEqual(new Set([OTHER]));
    expect(store.asked).toEqual([]);
    found.keepUpcoming(0);
    await scan('upcoming');
    expect(found.upcoming.filter(({ partition }) => partition !== OTHER)).toHaveLength(3 * PAGE_ROWS);
  });

  test('finds the first deliveries of all customers before the remaining ones of any', async () => {
    const flood = many(70 * PAGE_ROWS, NOW + 1, 100);
    const others = many(30, NOW + 1_900).map((due) => ({ ...due, partition: OTHER }));
    const { found, scan, scanner } = setUp([...flood, ...others]);
    await scan('upcoming');
    const place = found.upcoming.findIndex(({ partition }) => partition === OTHER);
    expect(place).toBeLessThanOrEqual(500);
    expect(found.upcoming).toEqual(expect.arrayContaining(others));
    expect([found.upcoming.length < 1_000, scanner.hasMoreUpcoming]).toEqual([true, true]);
    for (let looks = 0; scanner.hasMoreUpcoming && looks < 10; looks++) await scan('remainingUpcoming');
    expect([found.upcoming.length, scanner.hasMoreUpcoming]).toEqual([flood.length + others.length, false]);
  });

  test('stops after a bounded number of visits, and goes on from there', async () => {
    const customers = 12_200;
    const flood = many(600, NOW + 1, 600);
    const others = many(customers, NOW + 1_000, 20).map((due, index) => ({
      ...due,
      partition: (100 + index) as Partition,
    }));
    const { found, scan } = setUp([...flood, ...others]);
    await scan('upcoming', 0);
    const visited = found.upcoming.filter(({ partition }) => partition >= 100).length;
    expect([visited > customers / 2, visited < customers]).toEqual([true, true]);
    await scan('upcoming', 0);
    expect(new Set(idsOf(found.upcoming))).toEqual(new Set(idsOf([...flood, ...others])));
  });

  test('does not read again what the scans of the remaining deliveries have found', async () => {
    const flood = many(70 * PAGE_ROWS, NOW + 1, 100);
    const { found, scan, scanner, store, time } = setUp(flood);
    const lookForAll = async () => {
      await scan('upcoming');
      for (let looks = 0; scanner.hasMoreUpcoming && looks < 10; looks++) await scan('remainingUpcoming');
    };
    await lookForAll();
    expect(found.upcoming).toHaveLength(flood.length);
    store.visits.splice(0);
    await lookForAll();
    expect(store.visits.length).toBeLessThan(10);
    const hidden = dueAt(NOW + AHEAD_MS + 900, { name: 'new' });
    store.rows.push(hidden);
    await time.advance(1_000);
    await lookForAll();
    expect(idsOf(found.upcoming)).toContain(hidden.id);
  });

  test('a scan of upcoming deliveries does not reset the scan of the remaining ones', async () => {
    const flood = many(70 * PAGE_ROWS, NOW + 1_000, 100);
    const { found, scan, scanner, store } = setUp([...flood, dueAt(NOW + 900, { name: 'other' })]);
    const { listDueOfCustomers } = store;
    const places: (number | undefined)[] = [];
    let isRest = false;
    const watched: typeof listDueOfCustomers = async (cursors, ...bounds) => {
      if (!isRest) return listDueOfCustomers(cursors, ...bounds);
      isRest = false;
      places.push(cursors[0]?.after?.dueAt);
      await scan('upcoming', 0);
      isRest = true;
      return listDueOfCustomers(cursors, ...bounds);
    };
    Object.assign(store, { listDueOfCustomers: watched });
    await scan('upcoming', 0);
    isRest = true;
    for (let looks = 0; scanner.hasMoreUpcoming && looks < 3; looks++) await scan('remainingUpcoming', 0);
    expect(found.upcoming).toHaveLength(flood.length + 1);
    expect(places).toEqual(places.toSorted((one = 0, other = 0) => one - other));
  });

  test('a full page is followed by one more', async () => {
    const { found, scan, store } = setUp(many(PAGE_ROWS, NOW + 1));
    await scan('upcoming');
    expect([found.upcoming.length, store.asked.length]).toEqual([PAGE_ROWS, 2]);
  });
});

describe('a scan of overdue deliveries', () => {
  test('finds deliveries that are due, now included, and none that are ahead', async () => {
    const { found, scan, scanner } = setUp([
      dueAt(NOW - 5_000_000, { name: 'old' }),
      dueAt(NOW, { name: 'now' }),
      dueAt(NOW + 1, { name: 'next' }),
    ]);
    await scan('overdue');
    expect(idsOf(found.overdue)).toEqual(['dlv_old', 'dlv_now']);
    expect(scanner.hasMoreOverdue).toBe(false);
  });

  test('finds all deliveries page by page, and begins again at the end', async () => {
    const rows = many(2 * PAGE_ROWS + 3, NOW - 100, 10);
    const { found, scan, store, scanner } = setUp(rows);
    await scan('overdue');
    expect(idsOf(found.overdue)).toEqual(idsOf(rows));
    expect([scanner.hasMoreOverdue, found.pages]).toEqual([false, 3]);
    await scan('overdue');
    expect(store.asked[3]?.[0]).toBeNull();
  });

  test('reads at most 50 pages without a new delivery, and goes on from there the next time', async () => {
    const hanging = many((PAGES_BEHIND_MAX + 1) * PAGE_ROWS, NOW - 900_000);
    const other = dueAt(NOW - 1, { name: 'other' });
    const { found, scan, store, scanner } = setUp([...hanging, other]);
    found.isWanted = ({ id }) => id === other.id;
    await scan('overdue');
    expect([store.asked.length, scanner.hasMoreOverdue]).toEqual([PAGES_BEHIND_MAX, true]);
    expect(found.overdue).toEqual([]);
    await scan('overdue');
    expect(found.overdue).toEqual([other]);
    expect(scanner.hasMoreOverdue).toBe(false);
  });

  test.for([
    { tookMs: 0, pauseMs: 20 },
    { tookMs: 10, pauseMs: 90 },
    { tookMs: 60_000, pauseMs: 200 },
  ])('pauses $pauseMs ms after a page of known rows that took $tookMs ms', async ({ tookMs, pauseMs }) => {
    const { found, scanner, store, time } = setUp(many(2 * PAGE_ROWS, NOW - 900_000));
    found.isWanted = () => false;
    const listDue = store.listDue;
    store.listDue = async (...asked) => {
      await pause(time, tookMs);
      return listDue(...asked);
    };
    const scanned = scanner.overdue();
    await time.advance(tookMs + pauseMs - 1);
    expect(found.pages).toBe(1);
    await time.advance(1 + tookMs);
    expect(found.pages).toBe(2);
    await time.advance(1_000 * tookMs + 1_000);
    await scanned;
  });

  test('finds deliveries behind the many of another customer in the next scan', async () => {
    const others = many(10, NOW - 10).map((due) => ({ ...due, partition: OTHER }));
    const { found, scan, store } = setUp([...many(200 * PAGE_ROWS, NOW - 900_000, 100), ...others]);
    found.isWanted = ({ partition }) => partition === OTHER;
    await scan('overdue');
    expect([found.overdue.length, store.visits.length]).toEqual([0, 0]);
    await scan('overdue');
    expect(found.overdue).toEqual(others);
  });

  test('stops after a bounded number of pages, and goes on from there', async () => {
    const rows = many(60 * PAGE_ROWS, NOW - 900_000);
    const { found, scan, scanner } = setUp(rows);
    await scan('overdue');
    expect([found.overdue.length, scanner.hasMoreOverdue]).toEqual([PAGES_BEHIND_MAX * PAGE_ROWS, true]);
    await scan('overdue');
    expect([found.overdue.length, scanner.hasMoreOverdue]).toEqual([rows.length, false]);
  });

  test('reads nothing when there is no room, and says that there may be more', async () => {
    const { found, scan, store, scanner } = setUp(many(3, NOW - 10));
    found.hasRoomForOverdue = false;
    await scan('overdue');
    expect([store.asked.length, scanner.hasMoreOverdue]).toEqual([0, true]);
    found.hasRoomForOverdue = true;
    await scan('overdue');
    expect(found.overdue).toHaveLength(3);
  });

  test('goes on from its cursor after the store was away', async () => {
    const rows = many(2 * PAGE_ROWS + 1, NOW - 10_000);
    const { found, store, time, scanner, scan } = setUp(rows);
    const scanned = scanner.overdue().catch((error: unknown) => error);
    await time.settled();
    store.isAway = true;
    await time.advance(0);
    expect(await scanned).toBeInstanceOf(Error);
    expect([found.overdue.length, scanner.hasMoreOverdue]).toEqual([PAGE_ROWS, true]);
    store.isAway = false;
    await scan('overdue');
    expect(idsOf(found.overdue)).toEqual(idsOf(rows));
  });

  test('a delivery that was moved before the cursor is found in the next pass', async () => {
    const rows = many(2 * PAGE_ROWS, NOW - 10_000);
    const { found, store, time, scanner, scan } = setUp(rows);
    const scanned = scanner.overdue();
    await time.settled();
    const moved = dueAt(NOW - 20_000, { name: 'moved' });
    store.rows.push(moved);
    await time.advance(0);
    await scanned;
    expect(idsOf(found.overdue)).not.toContain(moved.id);
    await scan('overdue');
    expect(idsOf(found.overdue)).toContain(moved.id);
  });

  test('a delivery that found no room in one scan is found by a later one', async () => {
    const rows = many(1_000, NOW - 10_000);
    const { found, scan } = setUp(rows);
    let room = 0;
    found.isWanted = () => room-- > 0;
    for (let looks = 0; looks < 4; looks++) {
      room = 250;
      await scan('overdue');
    }
    expect(new Set(idsOf(found.overdue)).size).toBe(1_000);
  });
});

describe('on a real store', () => {
  test('each waiting delivery is found once: as overdue if it is due, as upcoming if it is near', async () => {
    await using harness = await EngineHarness.open();
    const views = [];
    for (let seconds = 1; seconds <= 8; seconds++)
      views.push(await harness.schedule({ inMs: seconds * 1_000 }));
    await harness.time.advance(4_000);
    const found = new Found();
    const scanner = new DueScanner(harness, OWNS_EVERY_SLOT, found);
    await scanner.upcoming();
    await scanner.overdue();
    const ids = views.map(({ pending }) => pending.id);
    expect(idsOf(found.overdue)).toEqual(ids.slice(0, 4));
    expect(idsOf(found.upcoming)).toEqual(ids.slice(4, 6));
  });
});
