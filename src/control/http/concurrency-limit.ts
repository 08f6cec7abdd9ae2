/**
 * So that nobody's questions hold up the thread that fires: of one person a few are answered at a time and some more
 * wait, until everything else had its turn. No browser asks for so much at once.
 */
import type { Pauses } from '#src/commands/pauses.ts';
import { Refusal } from '#src/domain/errors.ts';

export const CONCURRENT_MAX = 3;
/** All that the live pages of one person watch fits in. */
export const WAITING_MAX = 48;

interface Load {
  running: number;
  readonly waiting: (() => void)[];
}

export class ConcurrencyLimit {
  readonly #pauses: Pauses;
  /** Of those who ask at the moment. */
  readonly #places = new Map<string, Load>();

  constructor(pauses: Pauses) {
    this.#pauses = pauses;
  }

  async run<T>(who: string, work: () => Promise<T>): Promise<T> {
    const place = this.#places.get(who) ?? { running: 0, waiting: [] };
    this.#places.set(who, place);
    if (place.running < CONCURRENT_MAX) place.running += 1;
    else await waitIn(place);
    try {
      return await work();
    } finally {
      // Not at once: questions that need no waiting would come one after the other all the same.
      void this.#pauses.pause(who).then(() => this.#handOver(who, place));
    }
  }

  #handOver(who: string, place: Load): void {
    const next = place.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    place.running -= 1;
    if (place.running === 0) this.#places.delete(who);
  }
}

function waitIn({ waiting }: Load): Promise<void> {
  if (waiting.length >= WAITING_MAX) throw new Refusal('unavailable');
  return new Promise((resolve) => void waiting.push(resolve));
}
