import type { Instant } from '#src/domain/instant.ts';

/** Tells the dispatcher that something may be due earlier than it is waiting for. May be lost. */
export interface Hints {
  dueAt(instant: Instant): void;
}
