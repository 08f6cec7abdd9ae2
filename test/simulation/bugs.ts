/** Deliberate bugs, put between the product and its ports. */
import type { Clock } from '#src/ports/clock.ts';
import type { Egress } from '#src/ports/egress.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { AnyStore } from './life.ts';

export interface Bug {
  readonly store?: (store: AnyStore) => AnyStore;
  readonly clock?: (clock: Clock) => Clock;
  readonly egress?: (egress: Egress) => Egress;
  readonly hints?: (hints: Hints) => Hints;
}
