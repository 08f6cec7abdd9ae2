/** Describes a run of many seeds: a line of progress while it runs, and a summary at its end. */
import type { RunResult } from './run.ts';

const DAY_MS = 86_400_000;

export class Report {
  readonly #planned: number;
  readonly #startedMs: number;
  readonly #covered = new Map<string, number>();
  readonly #failed: number[] = [];
  #done = 0;
  #simulatedMs = 0;
  #requests = 0;
  #calls = 0;
  #crashes = 0;
  #stops = 0;

  constructor(planned: number, nowMs: number) {
    this.#planned = planned;
    this.#startedMs = nowMs;
  }

  get hasFailed(): boolean {
    return this.#failed.length > 0;
  }

  add({ seed, failure, simulatedMs, stats, covered }: RunResult): void {
    this.#done++;
    if (failure !== null) this.#failed.push(seed);
    this.#simulatedMs += simulatedMs;
    this.#requests += stats.requests;
    this.#calls += stats.calls;
    this.#crashes += stats.crashes;
    this.#stops += stats.stops;
    for (const [situation, count] of Object.entries(covered)) {
      this.#covered.set(situation, (this.#covered.get(situation) ?? 0) + count);
    }
  }

  progress(nowMs: number): string {
    const seconds = Math.max((nowMs - this.#startedMs) / 1_000, 0.001);
    const perSecond = this.#done / seconds;
    const leftMinutes = perSecond === 0 ? null : (this.#planned - this.#done) / perSecond / 60;
    return [
      `${this.#done} of ${this.#planned} seeds`,
      `${perSecond.toFixed(1)} seeds/s`,
      `${leftMinutes === null ? 'an unknown time' : `${leftMinutes.toFixed(1)} min`} left`,
      `${this.#failed.length} violations${this.hasFailed ? ` (seeds ${this.#failed.join(', ')})` : ''}`,
    ].join(', ');
  }

  /** `situations` lists what seeds of this kind can reach. */
  summary(nowMs: number, situations: readonly string[]): string {
    const seconds = (nowMs - this.#startedMs) / 1_000;
    const days = this.#simulatedMs / DAY_MS;
    const missed = situations.filter((situation) => !this.#covered.has(situation));
    const lines = [
      `${this.#done} seeds, ${days.toFixed(1)} simulated days in ${seconds.toFixed(1)} s (${(this.#done / seconds).toFixed(2)} seeds/s)`,
      `  ${this.#requests} requests, ${this.#calls} API calls, ${this.#crashes} crashes, ${this.#stops} stops`,
      `  covered: ${[...this.#covered].map(([situation, count]) => `${situation} ${count}`).join(', ')}`,
    ];
    if (missed.length > 0) lines.push(`  not covered: ${missed.join(', ')}`);
    if (this.#done < this.#planned) lines.push(`  ${this.#planned - this.#done} seeds were not run`);
    if (this.hasFailed) lines.push(`${this.#failed.length} FAILED: seeds ${this.#failed.join(', ')}`);
    return lines.join('\n');
  }
}
