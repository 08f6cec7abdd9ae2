/**
 * Finds due work in the store, whatever hints were lost. Prefetcher: what comes due in the next moments, each time
 * anew. Behind: what is due and not in memory, because its queue had no room or because the service was down;
 * a cursor goes through it page by page and begins again at the end, so that what waits for a busy endpoint
 * never hides what waits for another. Both read a page at a time, and let the rest of the service work
 * between pages.
 *
 * A customer with very many due deliveries does not hide those of the others. Work is looked for in the order of time
 * as long as nobody has much. From then on it is looked for customer by customer. Prefetcher, the first few of each customer
 * come before the rest of anybody (`rest`), and nothing is read for whom there is no room. Behind, the customers are
 * visited without those of whom much is known already or finds no room.
 */
import type { DueDelivery } from '#src/domain/due.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import { type EngineDependencies, pause } from '#src/engine/dependencies.ts';
import type { CustomerCursor } from '#src/ports/store.ts';
import type { Timers } from '#src/ports/timers.ts';
import { CursorBacklog, CustomerScan, type Place, visit } from './customer-scan.ts';

export const SCAN_AHEAD_MS = 2_000;
const PAGE_ROWS = 100;
/** Rows of each customer that are read before the rest of anybody. */
const FIRST_ROWS_MAX = 500;
/** Pages in the order of time, in one look. */
const PAGES_MAX = 50;
/** Visits in one look for the rest. */
const VISITS_OF_REST_MAX = 50;
/** Visits in one look, customer by customer. */
const VISITS_MAX = 200;
/** The pause after a page with nothing new. */
const FRUITLESS_MS = 5;
/** A customer has much with so many rows that are known or find no room, in one walk of the cursor. */
const PASSED_OVER_MAX = 500;

/** Sorts after every id. */
const LAST_ID = '\u{10ffff}' as DueDelivery['id'];

export interface Finds {
  /** False: there is no room for more of this customer's. */
  ahead(due: DueDelivery): boolean;
  /** Whether there is room for more of a customer's that is ahead. */
  hasRoomAhead(partition: Partition): boolean;
  /** False: it is known already, or its queue is full. */
  behind(due: DueDelivery): boolean;
  /** Whether there is room for anything from behind. */
  readonly hasRoomBehind: boolean;
  /** After each page. */
  pageRead(): void;
}

export class DueScanner {
  readonly #dependencies: Pick<EngineDependencies, 'store' | 'clock' | 'timers'>;
  readonly #ownership: Pick<SlotOwnership, 'slots'>;
  readonly #finds: Finds;
  /** Timers for bulk work, which leaves time to everything else. */
  readonly #slowed: Timers;
  #cursor: Place | null = null;
  /** The looks ahead have seen what comes due until then. */
  #lookedUntil: Instant | null = null;
  /** Customers for whose work there was no room in the last look ahead. */
  #crowded = new Set<Partition>();
  readonly #roundsAhead: CustomerScan;
  /** Customers who have more ahead than the first few. */
  readonly #left = new CursorBacklog();
  /** Rows of each customer that were passed over since the cursor began. */
  readonly #passedOver = new Map<Partition, number>();
  /** Customers of whom many were passed over, now or in the walk before. */
  #passedBy: ReadonlySet<Partition> = new Set();
  readonly #roundsBehind: CustomerScan;
  #isMoreBehind = false;
  #hasFoundBehind = false;
  #isToBeginAnew = false;

  constructor(
    dependencies: Pick<EngineDependencies, 'store' | 'clock' | 'timers'>,
    ownership: Pick<SlotOwnership, 'slots'>,
    finds: Finds,
    slowed: Timers = dependencies.timers,
  ) {
    this.#dependencies = dependencies;
    this.#ownership = ownership;
    this.#finds = finds;
    this.#slowed = slowed;
    this.#roundsAhead = new CustomerScan(dependencies.store, ownership);
    this.#roundsBehind = new CustomerScan(dependencies.store, ownership);
  }

  /** There is more to look at than before: what lies behind the cursor may not have been seen. */
  beginAnew(): void {
    this.#isToBeginAnew = true;
    this.#roundsAhead.beginAnew();
    this.#roundsBehind.beginAnew();
  }

  /** Whether the last look behind ended before it had seen everything. */
  get isMoreBehind(): boolean {
    return this.#isMoreBehind;
  }

  /** Whether the last look behind found anything that was taken in. */
  get hasFoundBehind(): boolean {
    return this.#hasFoundBehind;
  }

  /** Whether something ahead was left for `rest`. */
  get isMoreAhead(): boolean {
    return !this.#left.isEmpty;
  }

  /** What comes due in the next moments: of each customer the first. */
  async ahead(): Promise<void> {
    const now = this.#dependencies.clock.now();
    const until = instant(now + SCAN_AHEAD_MS);
    // A look may take so long that what comes after it is due before the next one.
    const from = { dueAt: instant(Math.min(this.#lookedUntil ?? now, now)), id: LAST_ID };
    this.#crowded = new Set([...this.#crowded].filter((one) => !this.#finds.hasRoomAhead(one)));
    this.#left.forgetBefore(now);
    const isMuch = this.#crowded.size > 0 || !(await this.#aheadOfAll(from, until));
    if (isMuch) await this.#aheadByCustomer(from, until);
    this.#lookedUntil = until;
  }

  /** In the order of time. False: somebody has so much that it may hide what others have. */
  async #aheadOfAll(from: Place, until: Instant): Promise<boolean> {
    const { store, timers } = this.#dependencies;
    const seen = new Map<Partition, number>();
    let after = from;
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const { slots } = this.#ownership;
      if (slots?.size === 0) return true;
      const page = await store.listDue(after, until, PAGE_ROWS, slots);
      for (const one of page) this.#foresee(one, seen);
      this.#finds.pageRead();
      const last = page.at(-1);
      if (page.length < PAGE_ROWS || last === undefined) return true;
      if (this.#crowded.size > 0 || Math.max(...seen.values()) >= FIRST_ROWS_MAX) return false;
      after = last;
      await pause(timers, 0);
    }
    return false;
  }

  async #aheadByCustomer(from: Place, until: Instant): Promise<void> {
    const seen = new Map<Partition, number>();
    const hasMuch = ({ partition }: CustomerCursor) => (seen.get(partition) ?? 0) >= FIRST_ROWS_MAX;
    for (let visits = 0; visits < VISITS_MAX; visits++) {
      if (this.#ownership.slots?.size === 0) return;
      const cursors = await this.#roundsAhead.next();
      if (cursors.length === 0) return;
      const wanted = cursors.filter(({ partition }) => !this.#crowded.has(partition));
      this.#left.add(wanted.filter(hasMuch));
      const unfinished = await this.#visitAhead(
        wanted.filter((cursor) => !hasMuch(cursor)),
        from,
        until,
        seen,
      );
      this.#roundsAhead.visitAgain(unfinished);
      await pause(this.#dependencies.timers, 0);
    }
  }

  /** Goes on with customers of whom the looks ahead have seen the first few. */
  async rest(): Promise<void> {
    for (let visits = 0; visits < VISITS_OF_REST_MAX; visits++) {
      const cursors = this.#left.take();
      if (cursors.length === 0) return;
      let unfinished: readonly CustomerCursor[] = [];
      try {
        unfinished = await this.#visitRest(cursors);
      } finally {
        this.#left.giveBack(cursors, unfinished);
      }
      await pause(this.#slowed, 0);
    }
  }

  async #visitRest(cursors: readonly CustomerCursor[]): Promise<readonly CustomerCursor[]> {
    const now = this.#dependencies.clock.now();
    const until = instant(now + SCAN_AHEAD_MS);
    const wanted = cursors.filter(({ partition }) => !this.#crowded.has(partition));
    const unfinished = await this.#visitAhead(wanted, { dueAt: now, id: LAST_ID }, until, new Map());
    const hasFinished = ({ partition, slot }: CustomerCursor) =>
      !this.#crowded.has(partition) &&
      !unfinished.some((one) => one.partition === partition && one.slot === slot);
    this.#left.finished(wanted.filter(hasFinished), { dueAt: until, id: LAST_ID });
    return unfinished;
  }

  /** Answers where to go on. */
  async #visitAhead(
    cursors: readonly CustomerCursor[],
    from: Place,
    until: Instant,
    seen: Map<Partition, number>,
  ): Promise<readonly CustomerCursor[]> {
    if (cursors.length === 0) return [];
    const { due, unfinished } = await visit(
      this.#dependencies.store,
      cursors,
      from,
      until,
      this.#ownership.slots,
    );
    for (const one of due) this.#foresee(one, seen);
    if (due.length > 0) this.#finds.pageRead();
    return unfinished;
  }

  #foresee(due: DueDelivery, seen: Map<Partition, number>): void {
    seen.set(due.partition, (seen.get(due.partition) ?? 0) + 1);
    if (!this.#finds.ahead(due)) this.#crowded.add(due.partition);
  }

  async behind(): Promise<void> {
    const { store, clock } = this.#dependencies;
    const now: Instant = clock.now();
    this.#hasFoundBehind = false;
    await this.#behindByCustomer(now);
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      if (this.#isToBeginAnew) {
        this.#cursor = null;
        this.#passedOver.clear();
      }
      this.#isToBeginAnew = false;
      const { slots } = this.#ownership;
      this.#isMoreBehind = slots?.size !== 0;
      if (!this.#isMoreBehind || !this.#finds.hasRoomBehind) return;
      const page = await store.listDue(this.#cursor, now, PAGE_ROWS, slots);
      let isFruitless = true;
      for (const due of page) if (this.#take(due)) isFruitless = false;
      if (page.length < PAGE_ROWS) {
        this.#cursor = null;
        this.#isMoreBehind = false;
        this.#walked();
      } else this.#cursor = page.at(-1) ?? null;
      this.#finds.pageRead();
      if (!this.#isMoreBehind) return;
      await pause(this.#slowed, isFruitless ? FRUITLESS_MS : 0);
    }
  }

  async #behindByCustomer(now: Instant): Promise<void> {
    if (this.#passedBy.size === 0) return;
    for (let visits = 0; visits < VISITS_MAX; visits++) {
      const { slots } = this.#ownership;
      if (slots?.size === 0 || !this.#finds.hasRoomBehind) return;
      const cursors = await this.#roundsBehind.next();
      if (cursors.length === 0) return;
      const wanted = cursors.filter(({ partition }) => !this.#passedBy.has(partition));
      if (wanted.length === 0) continue;
      const { due, unfinished } = await visit(this.#dependencies.store, wanted, null, now, slots);
      for (const one of due) if (this.#finds.behind(one)) this.#hasFoundBehind = true;
      this.#roundsBehind.visitAgain(unfinished);
      if (due.length > 0) this.#finds.pageRead();
      await pause(this.#slowed, 0);
    }
  }

  #take(due: DueDelivery): boolean {
    if (this.#finds.behind(due)) {
      this.#hasFoundBehind = true;
      return true;
    }
    const passedOver = (this.#passedOver.get(due.partition) ?? 0) + 1;
    this.#passedOver.set(due.partition, passedOver);
    if (passedOver === PASSED_OVER_MAX) this.#passedBy = new Set([...this.#passedBy, due.partition]);
    return false;
  }

  /** The cursor has come to the end: who had much there in this walk is known. */
  #walked(): void {
    const isMuch = ([, rows]: readonly [Partition, number]) => rows >= PASSED_OVER_MAX;
    this.#passedBy = new Set([...this.#passedOver].filter(isMuch).map(([partition]) => partition));
    this.#passedOver.clear();
  }
}
