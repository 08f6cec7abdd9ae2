/** How often due work is scanned for, and how far ahead. A scan that asks many servers costs more, so it is rarer. */
import type { Store } from '#src/ports/store.ts';

export interface ScanPlan {
  /** Deliveries that are due within this time are kept in memory. */
  readonly aheadMs: number;
  /** Time from the start of one scan for upcoming work to the start of the next. */
  readonly upcomingEveryMs: number;
  /** The same for overdue work. Usually a hint has come, or the scan for upcoming work has found it. */
  readonly overdueEveryMs: number;
}

const ONE_SERVER: ScanPlan = { aheadMs: 2_000, upcomingEveryMs: 900, overdueEveryMs: 900 };
const MANY_SERVERS: ScanPlan = { aheadMs: 4_000, upcomingEveryMs: 1_800, overdueEveryMs: 3_000 };

export function scanPlanOf({ worksByCustomer }: Pick<Store, 'worksByCustomer'>): ScanPlan {
  return worksByCustomer ? MANY_SERVERS : ONE_SERVER;
}
