/**
 * Finds due work in the store, whatever hints were lost. Ahead: what comes due in the next moments, each time
 * anew. Behind: what is due and not in memory, because its queue had no room or because the service was down;
 * a cursor goes through it page by page and begins again at the end, so that what waits for a busy endpoint
 * never hides what waits for another. Both read a page at a time, and let the rest of the service work
 * between pages.
 *
 * A customer with very many due deliveries does not hide those of the others. Ahead, the first few of each customer are
 * looked for before the rest of anybody (`rest`), and none for whom there is no room. Behind, a second cursor goes through the work of all
 * customers but those with much that is known already or finds no room.
 */
import type { Due } from '#src/domain/due.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { DuePage } from '#src/ports/store.ts';
import type { Territory } from './territory.ts';
import { type EngineWorld, pause } from './world.ts';

export const LOOK_AHEAD_MS = 2_000;
const PAGE_ROWS = 100;
/** Of each customer, before the others of anybody are looked for. */
const FIRST_ROWS_MAX = 500;
/** In one look for the rest. */
const PAGES_OF_REST_MAX = 50;
/** In one look behind. */
const PAGES_BEHIND_MAX = 50;
/** In one look for the work of all but some customers, of whose rows a page may be short. */
const PAGES_OF_OTHERS_MAX = 150;
/** After a page of nothing but what is known or finds no room. */
const FRUITLESS_MS = 5;
/** A customer has much that is in memory or finds no room: so many rows in one walk of the cursor. */
const PASSED_OVER_MAX = 500;

/** Sorts after every id. */
const LAST_ID = '\u{10ffff}' as Due['id'];

type Place = Pick<Due, 'dueAt' | 'id'>;

export interface Finds {
  /** False: there is no room for more of this customer's. */
  ahead(due: Due): boolean;
  /** Whether there is room for more of a customer's that is ahead. */
  hasRoomAhead(partition: Partition): boolean;
  /** False: it is known already, or its queue is full. */
  behind(due: Due): boolean;
  /** Whether there is room for anything from behind. */
  readonly hasRoomBehind: boolean;
  /** After each page. */
  pageRead(): void;
}

export class LookOut {
  readonly #world: Pick<EngineWorld, 'store' | 'clock' | 'timers'>;
  readonly #territory: Pick<Territory, 'slots'>;
  readonly #finds: Finds;
  #cursor: Place | null = null;
  /** Customers for whose work there was no room in the last look ahead. */
  #crowded = new Set<Partition>();
  /** What was left ahead begins here. */
  #cursorOfRest: Place | null = null;
  /** Rows of each customer that were passed over since the cursor began. */
  readonly #passedOver = new Map<Partition, number>();
  /** Customers of whom many were passed over, now or in the walk before. */
  #passedBy: ReadonlySet<Partition> = new Set();
  #cursorOfOthers: Place | null = null;
  #isMoreBehind = false;
  #hasFoundBehind = false;
  #isToBeginAnew = false;

  constructor(
    world: Pick<EngineWorld, 'store' | 'clock' | 'timers'>,
    territory: Pick<Territory, 'slots'>,
    finds: Finds,
  ) {
    this.#world = world;
    this.#territory = territory;
    this.#finds = finds;
  }

  /** There is more to look at than before: what lies behind the cursor may not have been seen. */
  beginAnew(): void {
    this.#isToBeginAnew = true;
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
    return this.#cursorOfRest !== null;
  }

  /** What comes due in the next moments: of each customer the first. */
  async ahead(): Promise<void> {
    const now = this.#world.clock.now();
    const until = instant(now + LOOK_AHEAD_MS);
    const crowded = new Set([...this.#crowded].filter((one) => !this.#finds.hasRoomAhead(one)));
    this.#crowded = crowded;
    const passedBy = new Set(crowded);
    const seen = new Map<Partition, number>();
    let leftAt: Place | null = null;
    let next: Place | null = { dueAt: now, id: LAST_ID };
    for await (const page of this.#pages(next, until, passedBy, PAGES_OF_OTHERS_MAX)) {
      next = page.next;
      for (const one of page.due) {
        const rows = (seen.get(one.partition) ?? 0) + 1;
        seen.set(one.partition, rows);
        if (!this.#finds.ahead(one)) crowded.add(one.partition);
        else if (rows < FIRST_ROWS_MAX) continue;
        else leftAt ??= { dueAt: one.dueAt, id: one.id };
        passedBy.add(one.partition);
      }
    }
    this.#cursorOfRest ??= leftAt ?? next;
  }

  /** Goes on where the looks ahead have left off. */
  async rest(): Promise<void> {
    const now = this.#world.clock.now();
    const until = instant(now + LOOK_AHEAD_MS);
    const crowded = this.#crowded;
    const from = later(this.#cursorOfRest, now);
    this.#cursorOfRest = null;
    for await (const { due, next } of this.#pages(from, until, crowded, PAGES_OF_REST_MAX)) {
      for (const one of due) if (!this.#finds.ahead(one)) crowded.add(one.partition);
      this.#cursorOfRest = next;
    }
  }

  /** Pages of what is due of everybody but some, who may become more on the way. */
  async *#pages(
    from: Place | null,
    until: Instant,
    without: ReadonlySet<Partition>,
    pagesMax: number,
  ): AsyncGenerator<DuePage> {
    let after = from;
    for (let pages = 0; after !== null && pages < pagesMax; pages++) {
      if (this.#territory.slots?.size === 0) return;
      const page = await this.#page(without, after, until);
      yield page;
      if (page.due.length > 0) this.#finds.pageRead();
      after = page.next;
      if (after !== null) await pause(this.#world.timers, 0);
    }
  }

  /** What is due of everybody but some. */
  async #page(without: ReadonlySet<Partition>, after: Place | null, until: Instant): Promise<DuePage> {
    const { store } = this.#world;
    const { slots } = this.#territory;
    if (without.size > 0) return store.listDueOfOthers(without, after, until, PAGE_ROWS, slots);
    const due = await store.listDue(after, until, PAGE_ROWS, slots);
    return { due, next: due.length < PAGE_ROWS ? null : (due.at(-1) ?? null) };
  }

  async behind(): Promise<void> {
    const { store, clock, timers } = this.#world;
    const now: Instant = clock.now();
    this.#hasFoundBehind = false;
    await this.#behindOfOthers(now);
    for (let pages = 0; pages < PAGES_BEHIND_MAX; pages++) {
      if (this.#isToBeginAnew) {
        this.#cursor = null;
        this.#cursorOfOthers = null;
        this.#passedOver.clear();
      }
      this.#isToBeginAnew = false;
      const { slots } = this.#territory;
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
      await pause(timers, isFruitless ? FRUITLESS_MS : 0);
    }
  }

  async #behindOfOthers(now: Instant): Promise<void> {
    if (this.#passedBy.size === 0) return;
    for (let pages = 0; pages < PAGES_OF_OTHERS_MAX; pages++) {
      const { slots } = this.#territory;
      if (slots?.size === 0 || !this.#finds.hasRoomBehind) return;
      const { due, next } = await this.#page(this.#passedBy, this.#cursorOfOthers, now);
      for (const one of due) if (this.#finds.behind(one)) this.#hasFoundBehind = true;
      this.#cursorOfOthers = next;
      if (due.length > 0) this.#finds.pageRead();
      if (next === null) return;
      await pause(this.#world.timers, 0);
    }
  }

  #take(due: Due): boolean {
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

/** What is due by now is not ahead any more. */
function later(place: Place | null, now: Instant): Place | null {
  return place === null || place.dueAt > now ? place : { dueAt: now, id: LAST_ID };
}
