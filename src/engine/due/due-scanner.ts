/**
 * Finds due work in the store, so that a lost hint delays a delivery and never loses it.
 *
 * `upcoming` reads what comes due in the next moments, anew each time. `overdue` reads what is due and not in memory,
 * because a queue was full or the service was down. Its cursor goes through the store page by page and begins again at
 * the end, so work that waits for a busy endpoint never hides work for another. Both read one page at a time, and the
 * rest of the service runs between pages.
 *
 * A customer with very many due deliveries does not hide those of the others. As long as no customer has many, rows are
 * read in the order of time. From then on they are read customer by customer. Upcoming rows: the first few of each
 * customer come before the remaining rows of any (`remainingUpcoming`), and customers without room are left out.
 * Overdue rows: customers are left out whose rows were mostly skipped, because they were known or found no room.
 */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { WorkQueue } from '#src/engine/queue/work-queue.ts';
import type { CustomerCursor } from '#src/ports/store.ts';
import { pause, type Timers } from '#src/ports/system.ts';
import { CursorBacklog, CustomerScan, type Position, visit } from './customer-scan.ts';
import { scanPlanOf } from './scan-plan.ts';

const PAGE_ROWS = 100;
/** The same where a page asks many servers. */
const PAGE_ROWS_OF_SERVERS = 500;
/** Rows of each customer that are read before the remaining rows of any customer. */
const FIRST_ROWS_MAX = 500;
/** Pages in the order of time, in one scan. */
const PAGES_MAX = 50;
/** Visits in one scan of the remaining rows. */
const REMAINING_VISITS_MAX = 50;
/** Visits in one scan, customer by customer. */
const VISITS_MAX = 200;
/**
 * The pause after a page in which every row was known, as a multiple of the time that the page took. During a burst
 * most of what is due is in memory, and a scan of it would take time from the deliveries.
 */
const KNOWN_PAGE_PAUSE_FACTOR = 9;
const KNOWN_PAGE_PAUSE_MS_MIN = 20;
const KNOWN_PAGE_PAUSE_MS_MAX = 200;
/** A customer with this many skipped rows in one pass of the cursor is left out of the visits. */
const SKIPPED_ROWS_MAX = 500;

/** Sorts after every id. */
const LAST_ID = '\u{10ffff}' as DueDelivery['id'];

type ScannerQueue = Pick<
  WorkQueue,
  'addUpcoming' | 'hasRoomForUpcoming' | 'addReady' | 'hasRoomForOverdue' | 'wake'
>;

export class DueScanner {
  readonly #dependencies: Pick<EngineDependencies, 'store' | 'clock' | 'timers'>;
  readonly #pageRows: number;
  readonly #aheadMs: number;
  readonly #ownership: Pick<SlotOwnership, 'slots'>;
  readonly #queue: ScannerQueue;
  /** Timers for work that can wait: it slows down while several customers share the process. */
  readonly #throttledTimers: Timers;
  #cursor: Position | null = null;
  /** The scans of upcoming deliveries have read everything that comes due until then. */
  #scannedUntil: Instant | null = null;
  /** Customers for whose upcoming deliveries there was no room in the last scan. */
  #withoutRoom = new Set<Partition>();
  readonly #upcomingCustomers: CustomerScan;
  /** Customers who have more upcoming deliveries than the first few. */
  readonly #remaining = new CursorBacklog();
  /** Rows of each customer that were skipped in this pass of the cursor. */
  readonly #skippedRows = new Map<Partition, number>();
  /** Customers with many skipped rows, in this pass or in the one before. */
  #mostlySkipped: ReadonlySet<Partition> = new Set();
  readonly #overdueCustomers: CustomerScan;
  #hasMoreOverdue = false;
  #hasFoundOverdue = false;
  #isRestarting = false;

  constructor(
    dependencies: Pick<EngineDependencies, 'store' | 'clock' | 'timers'>,
    ownership: Pick<SlotOwnership, 'slots'>,
    queue: ScannerQueue,
    throttledTimers: Timers = dependencies.timers,
  ) {
    this.#dependencies = dependencies;
    this.#pageRows = dependencies.store.worksByCustomer ? PAGE_ROWS_OF_SERVERS : PAGE_ROWS;
    this.#aheadMs = scanPlanOf(dependencies.store).aheadMs;
    this.#ownership = ownership;
    this.#queue = queue;
    this.#throttledTimers = throttledTimers;
    this.#upcomingCustomers = new CustomerScan(dependencies.store, ownership);
    this.#overdueCustomers = new CustomerScan(dependencies.store, ownership);
  }

  /** Slots were gained, so rows that the cursor has passed may be new. */
  restart(): void {
    this.#isRestarting = true;
    this.#upcomingCustomers.restart();
    this.#overdueCustomers.restart();
  }

  /** Whether the last scan of overdue deliveries ended before it had read everything. */
  get hasMoreOverdue(): boolean {
    return this.#hasMoreOverdue;
  }

  /** Whether the last scan of overdue deliveries found any that was added to the queue. */
  get hasFoundOverdue(): boolean {
    return this.#hasFoundOverdue;
  }

  /** Whether rows were left for `remainingUpcoming`. */
  get hasMoreUpcoming(): boolean {
    return !this.#remaining.isEmpty;
  }

  /** Reads the deliveries that come due in the next moments: the first rows of each customer. */
  async upcoming(): Promise<void> {
    const now = this.#dependencies.clock.now();
    const until = instant(now + this.#aheadMs);
    // After a long scan, deliveries beyond its end may be due before the next scan begins.
    const from = { dueAt: instant(Math.min(this.#scannedUntil ?? now, now)), id: LAST_ID };
    this.#withoutRoom = new Set([...this.#withoutRoom].filter((one) => !this.#queue.hasRoomForUpcoming(one)));
    this.#remaining.forgetBefore(now);
    const isMany = this.#withoutRoom.size > 0 || !(await this.#upcomingByTime(from, until));
    if (isMany) await this.#upcomingByCustomer(from, until);
    this.#scannedUntil = until;
  }

  /** Reads in the order of time. False when one customer has so many rows that they may hide those of others. */
  async #upcomingByTime(from: Position, until: Instant): Promise<boolean> {
    const { store, timers } = this.#dependencies;
    const seen = new Map<Partition, number>();
    let after = from;
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const { slots } = this.#ownership;
      if (slots?.size === 0) return true;
      const page = await store.listDue(after, until, this.#pageRows, slots);
      for (const one of page) this.#addUpcoming(one, seen);
      this.#queue.wake();
      const last = page.at(-1);
      if (page.length < this.#pageRows || last === undefined) return true;
      if (this.#withoutRoom.size > 0 || Math.max(...seen.values()) >= FIRST_ROWS_MAX) return false;
      after = last;
      await pause(timers, 0);
    }
    return false;
  }

  async #upcomingByCustomer(from: Position, until: Instant): Promise<void> {
    const seen = new Map<Partition, number>();
    const hasMany = ({ partition }: CustomerCursor) => (seen.get(partition) ?? 0) >= FIRST_ROWS_MAX;
    for (let visits = 0; visits < VISITS_MAX; visits++) {
      if (this.#ownership.slots?.size === 0) return;
      const cursors = await this.#upcomingCustomers.next(until);
      if (cursors.length === 0) return;
      const wanted = cursors.filter(({ partition }) => !this.#withoutRoom.has(partition));
      this.#remaining.add(wanted.filter(hasMany));
      const unfinished = await this.#visitUpcoming(
        wanted.filter((cursor) => !hasMany(cursor)),
        from,
        until,
        seen,
      );
      this.#upcomingCustomers.visitAgain(unfinished);
      await pause(this.#dependencies.timers, 0);
    }
  }

  /** Reads on for customers of whom `upcoming` has read the first rows. */
  async remainingUpcoming(): Promise<void> {
    for (let visits = 0; visits < REMAINING_VISITS_MAX; visits++) {
      const cursors = this.#remaining.take();
      if (cursors.length === 0) return;
      let unfinished: readonly CustomerCursor[] = [];
      try {
        unfinished = await this.#visitRemaining(cursors);
      } finally {
        this.#remaining.putBack(cursors, unfinished);
      }
      await pause(this.#throttledTimers, 0);
    }
  }

  async #visitRemaining(cursors: readonly CustomerCursor[]): Promise<readonly CustomerCursor[]> {
    const now = this.#dependencies.clock.now();
    const until = instant(now + this.#aheadMs);
    const wanted = cursors.filter(({ partition }) => !this.#withoutRoom.has(partition));
    const unfinished = await this.#visitUpcoming(wanted, { dueAt: now, id: LAST_ID }, until, new Map());
    const hasFinished = ({ partition, slot }: CustomerCursor) =>
      !this.#withoutRoom.has(partition) &&
      !unfinished.some((one) => one.partition === partition && one.slot === slot);
    this.#remaining.finished(wanted.filter(hasFinished), { dueAt: until, id: LAST_ID });
    return unfinished;
  }

  /** Returns the cursors that have more rows. */
  async #visitUpcoming(
    cursors: readonly CustomerCursor[],
    from: Position,
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
    for (const one of due) this.#addUpcoming(one, seen);
    if (due.length > 0) this.#queue.wake();
    return unfinished;
  }

  #addUpcoming(due: DueDelivery, seen: Map<Partition, number>): void {
    seen.set(due.partition, (seen.get(due.partition) ?? 0) + 1);
    if (!this.#queue.addUpcoming(due)) this.#withoutRoom.add(due.partition);
  }

  async overdue(): Promise<void> {
    const { store, clock } = this.#dependencies;
    const now: Instant = clock.now();
    this.#hasFoundOverdue = false;
    await this.#overdueByCustomer(now);
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      if (this.#isRestarting) {
        this.#cursor = null;
        this.#skippedRows.clear();
      }
      this.#isRestarting = false;
      const { slots } = this.#ownership;
      this.#hasMoreOverdue = slots?.size !== 0;
      if (!this.#hasMoreOverdue || !this.#queue.hasRoomForOverdue) return;
      const startedAt = clock.now();
      const page = await store.listDue(this.#cursor, now, this.#pageRows, slots);
      const tookMs = clock.now() - startedAt;
      let isAllKnown = true;
      for (const due of page) if (this.#addOverdue(due)) isAllKnown = false;
      if (page.length < this.#pageRows) {
        this.#cursor = null;
        this.#hasMoreOverdue = false;
        this.#endOfPass();
      } else this.#cursor = page.at(-1) ?? null;
      this.#queue.wake();
      if (!this.#hasMoreOverdue) return;
      await pause(this.#throttledTimers, isAllKnown ? knownPagePauseMs(tookMs) : 0);
    }
  }

  async #overdueByCustomer(now: Instant): Promise<void> {
    if (this.#mostlySkipped.size === 0) return;
    for (let visits = 0; visits < VISITS_MAX; visits++) {
      const { slots } = this.#ownership;
      if (slots?.size === 0 || !this.#queue.hasRoomForOverdue) return;
      const cursors = await this.#overdueCustomers.next(now);
      if (cursors.length === 0) return;
      const wanted = cursors.filter(({ partition }) => !this.#mostlySkipped.has(partition));
      if (wanted.length === 0) continue;
      const { due, unfinished } = await visit(this.#dependencies.store, wanted, null, now, slots);
      for (const one of due) if (this.#queue.addReady(one)) this.#hasFoundOverdue = true;
      this.#overdueCustomers.visitAgain(unfinished);
      if (due.length > 0) this.#queue.wake();
      await pause(this.#throttledTimers, 0);
    }
  }

  #addOverdue(due: DueDelivery): boolean {
    if (this.#queue.addReady(due)) {
      this.#hasFoundOverdue = true;
      return true;
    }
    const skipped = (this.#skippedRows.get(due.partition) ?? 0) + 1;
    this.#skippedRows.set(due.partition, skipped);
    if (skipped === SKIPPED_ROWS_MAX) this.#mostlySkipped = new Set([...this.#mostlySkipped, due.partition]);
    return false;
  }

  /** The cursor has come to the end, so the customers with many skipped rows are known. */
  #endOfPass(): void {
    const isMany = ([, rows]: readonly [Partition, number]) => rows >= SKIPPED_ROWS_MAX;
    this.#mostlySkipped = new Set([...this.#skippedRows].filter(isMany).map(([partition]) => partition));
    this.#skippedRows.clear();
  }
}

function knownPagePauseMs(tookMs: number): number {
  const wantedMs = KNOWN_PAGE_PAUSE_FACTOR * tookMs;
  return Math.min(Math.max(wantedMs, KNOWN_PAGE_PAUSE_MS_MIN), KNOWN_PAGE_PAUSE_MS_MAX);
}
