/**
 * Finds due work in the store, whatever hints were lost. Ahead: what comes due in the next moments, each time
 * anew. Behind: what is due and not in memory, because its lane had no room or because the service was down;
 * a cursor goes through it page by page and begins again at the end, so that what waits for a busy endpoint
 * never hides what waits for another. Both read a page at a time, and let the rest of the service work
 * between pages.
 */
import type { Due } from '#src/domain/due.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Territory } from './territory.ts';
import { type EngineWorld, pause } from './world.ts';

export const LOOK_AHEAD_MS = 2_000;
const PAGE_ROWS = 250;
/** In one look behind: then it is time to look ahead again. */
const PAGES_BEHIND_MAX = 20;

/** Sorts after every id. */
const LAST_ID = '\u{10ffff}' as Due['id'];

export interface Finds {
  /** False: there is no room for more. */
  ahead(due: Due): boolean;
  /** False: it is known already, or its lane is full. */
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
  #cursor: Pick<Due, 'dueAt' | 'id'> | null = null;
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

  async ahead(): Promise<void> {
    const { store, clock, timers } = this.#world;
    const now = clock.now();
    const until = instant(now + LOOK_AHEAD_MS);
    for (let after: Pick<Due, 'dueAt' | 'id'> = { dueAt: now, id: LAST_ID }; ; ) {
      const { slots } = this.#territory;
      if (slots?.size === 0) return;
      const page = await store.listDue(after, until, PAGE_ROWS, slots);
      const hasRoom = page.every((due) => this.#finds.ahead(due));
      const last = page.at(-1);
      if (last === undefined) return;
      this.#finds.pageRead();
      if (!hasRoom || page.length < PAGE_ROWS) return;
      after = last;
      await pause(timers, 0);
    }
  }

  async behind(): Promise<void> {
    const { store, clock, timers } = this.#world;
    const now: Instant = clock.now();
    this.#hasFoundBehind = false;
    for (let pages = 0; pages < PAGES_BEHIND_MAX; pages++) {
      if (this.#isToBeginAnew) this.#cursor = null;
      this.#isToBeginAnew = false;
      const { slots } = this.#territory;
      this.#isMoreBehind = slots?.size !== 0;
      if (!this.#isMoreBehind || !this.#finds.hasRoomBehind) return;
      const page = await store.listDue(this.#cursor, now, PAGE_ROWS, slots);
      for (const due of page) if (this.#finds.behind(due)) this.#hasFoundBehind = true;
      if (page.length < PAGE_ROWS) {
        this.#cursor = null;
        this.#isMoreBehind = false;
      } else this.#cursor = page.at(-1) ?? null;
      this.#finds.pageRead();
      if (!this.#isMoreBehind) return;
      await pause(timers, 0);
    }
  }
}
