/** Runs alerts beside the engine: evaluates the conditions, sends the messages, and removes old ones. */
import { instant, MS_PER_DAY } from '#src/domain/instant.ts';
import { isUpkeepNode } from '#src/engine/cluster/slot-ownership.ts';
import { PeriodicTask, type Wait } from '#src/ports/periodic-task.ts';
import { AlertEvaluator } from './alert-evaluator.ts';
import { AlertSender } from './alert-sender.ts';
import type { AlertsDependencies } from './dependencies.ts';

const KEPT_MS = 30 * MS_PER_DAY;
const PRUNE_EVERY_MS = 3_600_000;
const PRUNE_BATCH_MAX = 50;
const PAUSE_MS = 100;

export interface AlertsOptions {
  /** How long history is kept; 0 forever. Ended messages and incidents are kept 30 days at most. */
  readonly retentionMs: number;
  /** The address of the dashboard; null if it is not known. */
  readonly dashboard: string | null;
}

export class Alerts {
  readonly #dependencies: AlertsDependencies;
  readonly #keptMs: number;
  readonly #sender: AlertSender;
  readonly #evaluator: AlertEvaluator;
  readonly #cleaner: PeriodicTask;

  constructor(dependencies: AlertsDependencies, { retentionMs, dashboard }: AlertsOptions) {
    this.#dependencies = dependencies;
    this.#keptMs = retentionMs === 0 ? KEPT_MS : Math.min(retentionMs, KEPT_MS);
    this.#sender = new AlertSender(dependencies);
    this.#evaluator = new AlertEvaluator(dependencies, { dashboard, onMessages: () => this.wake() });
    this.#cleaner = new PeriodicTask(
      dependencies.timers,
      () => this.#prune(),
      (error) => {
        dependencies.log.warn({ error: String(error) }, 'old alerts could not be removed');
        return PRUNE_EVERY_MS;
      },
    );
  }

  start(): void {
    this.#evaluator.start();
    this.#sender.start();
    this.#cleaner.runNow();
  }

  /** A message was created. */
  wake(): void {
    this.#sender.wake();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#evaluator.stop(), this.#sender.stop(), this.#cleaner.stop()]);
  }

  async #prune(): Promise<Wait> {
    const { store, clock, ownership } = this.#dependencies;
    if (!isUpkeepNode(ownership)) return PRUNE_EVERY_MS;
    const now = clock.now();
    const removed = await store.alerts.prune(instant(Math.max(now - this.#keptMs, 0)), PRUNE_BATCH_MAX);
    return removed < PRUNE_BATCH_MAX ? PRUNE_EVERY_MS : PAUSE_MS;
  }
}
