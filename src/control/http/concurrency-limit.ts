/**
 * Limits the concurrent requests of one user, so that they cannot block the thread that sends deliveries. A few run at
 * a time and some more wait. The rest is refused. No browser sends that many at once.
 */
import type { Pauses } from '#src/commands/pauses.ts';
import { Refusal } from '#src/domain/errors.ts';

export const CONCURRENT_MAX = 3;
/** Everything that the live pages of one user watch fits in the queue. */
export const WAITING_MAX = 48;

interface UserQueue {
  running: number;
  readonly waiting: (() => void)[];
}

export class ConcurrencyLimit {
  readonly #pauses: Pauses;
  /** The users with a request at the moment. */
  readonly #queues = new Map<string, UserQueue>();

  constructor(pauses: Pauses) {
    this.#pauses = pauses;
  }

  async run<T>(user: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(user) ?? { running: 0, waiting: [] };
    this.#queues.set(user, queue);
    if (queue.running < CONCURRENT_MAX) queue.running += 1;
    else await waitIn(queue);
    try {
      return await work();
    } finally {
      // A pause comes first. Without it, requests that never wait for I/O would follow each other without a gap.
      void this.#pauses.pause(user).then(() => this.#release(user, queue));
    }
  }

  #release(user: string, queue: UserQueue): void {
    const next = queue.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    queue.running -= 1;
    if (queue.running === 0) this.#queues.delete(user);
  }
}

function waitIn({ waiting }: UserQueue): Promise<void> {
  if (waiting.length >= WAITING_MAX) throw new Refusal('unavailable');
  return new Promise((resolve) => void waiting.push(resolve));
}
