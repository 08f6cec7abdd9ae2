/**
 * Runs the scans for due work: upcoming deliveries about once a second (`scan-plan.ts`), overdue ones as often as there is room for
 * them. The scans run apart from each other, so that any amount of overdue work never delays what comes next.
 */
import type { Membership } from '#src/engine/cluster/membership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import type { ClaimPause } from '#src/engine/queue/claim-pause.ts';
import type { FairQueue } from '#src/engine/queue/fair-queue.ts';
import type { Waker } from '#src/engine/queue/waker.ts';
import { PeriodicTask, SOON_MS } from '#src/ports/periodic-task.ts';
import type { DueScanner } from './due-scanner.ts';
import { type ScanPlan, scanPlanOf } from './scan-plan.ts';

/** Time between two scans of overdue work, while there is more in the store and enough in memory. */
const NEXT_OVERDUE_PAGE_MS = 200;
/** The next scan begins at once when fewer overdue deliveries are in memory. */
const OVERDUE_LOW = 2_000;

type Scan = 'upcoming' | 'remainingUpcoming' | 'overdue';

export interface ScanSchedulerDependencies
  extends Pick<EngineDependencies, 'store' | 'clock' | 'timers' | 'log'> {
  readonly scanner: DueScanner;
  readonly ready: Pick<FairQueue, 'overdue'>;
  readonly claimPause: ClaimPause;
  readonly waker: Waker;
  /** Null for a process that has its store to itself. */
  readonly membership: Pick<Membership, 'onSlotsGained'> | null;
}

export class ScanScheduler {
  readonly #dependencies: ScanSchedulerDependencies;
  readonly #plan: ScanPlan;
  readonly #tasks: Readonly<Record<Scan, PeriodicTask>>;
  readonly #lastResults = new Map<Scan, 'succeeded' | 'failed'>();
  readonly #outage: OutageLog;
  #isStarted = false;

  constructor(dependencies: ScanSchedulerDependencies) {
    this.#dependencies = dependencies;
    this.#plan = scanPlanOf(dependencies.store);
    const { timers, claimPause, membership } = dependencies;
    this.#outage = warnsOfOutage(
      dependencies,
      'the scan for due work failed',
      'scans for due work succeed again',
    );
    this.#tasks = {
      upcoming: new PeriodicTask(timers, () => this.#scan('upcoming')),
      remainingUpcoming: new PeriodicTask(timers, () => this.#scan('remainingUpcoming')),
      overdue: new PeriodicTask(timers, () => this.#scan('overdue')),
    };
    claimPause.onEnd(() => this.soon());
    membership?.onSlotsGained(() => this.restart());
  }

  /** Whether upcoming work was read and no scan failed the last time. */
  get isHealthy(): boolean {
    const results = [...this.#lastResults.values()];
    return this.#lastResults.get('upcoming') === 'succeeded' && !results.includes('failed');
  }

  start(): void {
    this.#isStarted = true;
    for (const task of Object.values(this.#tasks)) task.runNow();
  }

  stop(): void {
    for (const task of Object.values(this.#tasks)) void task.stop();
  }

  /** Work may have become due without a hint. */
  soon(): void {
    if (!this.#isStarted) return;
    for (const task of Object.values(this.#tasks)) task.runSoon();
  }

  /** Slots were gained: everything is read from the beginning. */
  restart(): void {
    this.#dependencies.scanner.restart();
    if (this.#isStarted) this.start();
  }

  /** Returns after how many milliseconds to scan again; null means only when it is asked for. */
  async #scan(scan: Scan): Promise<number | null> {
    const { clock, scanner, waker } = this.#dependencies;
    const startedAt = clock.now();
    try {
      await scanner[scan]();
      this.#lastResults.set(scan, 'succeeded');
      this.#outage.succeeded();
    } catch (error) {
      this.#lastResults.set(scan, 'failed');
      this.#outage.failed({ error: String(error) });
      return this.#plan.upcomingEveryMs;
    }
    waker.soon();
    if (scan === 'overdue') return this.#nextOverdueMs();
    if (scanner.hasMoreUpcoming) this.#tasks.remainingUpcoming.runSoon();
    // The clock may have been set back meanwhile.
    const tookMs = Math.max(clock.now() - startedAt, 0);
    return scan === 'upcoming' ? Math.max(this.#plan.upcomingEveryMs - tookMs, SOON_MS) : null;
  }

  #nextOverdueMs(): number {
    const { scanner, ready } = this.#dependencies;
    if (!scanner.hasMoreOverdue) return this.#plan.overdueEveryMs;
    // Rows that were in memory already will be there a moment later too.
    const isWorthwhile = scanner.hasFoundOverdue && ready.overdue < OVERDUE_LOW;
    return isWorthwhile ? SOON_MS : NEXT_OVERDUE_PAGE_MS;
  }
}
