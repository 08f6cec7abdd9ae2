import type { Due } from '#src/domain/due.ts';

/** Tells the dispatcher of work it may not have seen yet. Hints may be lost: it looks for itself as well. */
export interface Hints {
  /** This delivery is now due then; null when it no longer waits. */
  due(due: Due | null): void;
  /** Something became due that is not named here. */
  lookAgain(): void;
}
