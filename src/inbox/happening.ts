/** What becomes of deliveries, told as soon as it is stored. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';

export type Happening =
  /** An attempt begins, or has ended. */
  | { readonly kind: 'claimed' | 'settled'; readonly delivery: Delivery; readonly attempt: Attempt }
  /** Without an attempt: made to wait by the gate of its endpoint, or at its end. */
  | { readonly kind: 'deferred' | 'ended'; readonly delivery: Delivery }
  /** Somebody paused, resumed, moved, changed or canceled a schedule, and with it what waits. */
  | { readonly kind: 'edited'; readonly partition: Partition; readonly scheduleId: ScheduleId };
