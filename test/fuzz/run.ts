/**
 * A run of the fuzzer. Several clients send their requests in parallel, each one after the other. Request i
 * always belongs to client i modulo the number of clients, and is made from (seed, i) and its client's model.
 * The same seed therefore sends the same requests. At every pause no request is in flight, and the stored
 * objects are counted.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SchedProcess } from '#test/process/sched-process.ts';
import { checkLists, checkTotals, type Stored } from './audit.ts';
import { checkAnswer, checkExpected, demand, Violation } from './checks.ts';
import { applyAnswer } from './effects.ts';
import { nextShot } from './mix.ts';
import { type Lane, Model } from './model.ts';
import { Prng } from './prng.ts';
import { SECRET_MARK, type Shot } from './shot.ts';
import { type Memory, memoryOf, watch } from './watch.ts';
import { type Outcome, Wire } from './wire.ts';

const LANES = 8;
const PAUSE_EVERY = 10_000;
const VIOLATIONS_MAX = 20;
const SLOWEST_KEPT = 5;
/** The memory of the service may grow by this much, for any number of requests. */
const GROWTH_MB_MAX = 512;
/** No request may block the service for longer. */
export const BLOCKED_MS_MAX = 1_000;

export interface Found {
  readonly index: number | null;
  readonly kind: string;
  readonly what: string;
  /** The file with the bytes of the request. */
  readonly file: string | null;
}

export interface Report {
  readonly seed: number;
  readonly requests: number;
  readonly seconds: number;
  readonly violations: readonly Found[];
  readonly byKind: ReadonlyMap<string, number>;
  readonly byAnswer: ReadonlyMap<string, number>;
  readonly stored: Stored | null;
  readonly connections: number;
  readonly slowestPingMs: number;
  readonly slowest: readonly { readonly index: number; readonly kind: string; readonly ms: number }[];
  readonly memoryMb: { readonly start: number; readonly end: number; readonly peak: number } | null;
}

export interface RunOptions {
  readonly sched: SchedProcess;
  readonly seed: number;
  readonly requests: number;
  readonly progress?: (done: number) => void;
}

class Run {
  readonly #options: RunOptions;
  readonly #model = new Model(LANES);
  readonly #wires: readonly Wire[];
  readonly #violations: Found[] = [];
  readonly #byKind = new Map<string, number>();
  readonly #byAnswer = new Map<string, number>();
  #slowest: { readonly index: number; readonly kind: string; readonly ms: number }[] = [];

  constructor(options: RunOptions) {
    this.#options = options;
    const port = Number(new URL(options.sched.url).port);
    this.#wires = this.#model.lanes.map(() => new Wire(port));
  }

  async run(): Promise<Report> {
    const { sched, requests, progress } = this.#options;
    const started = performance.now();
    const watcher = watch(sched.url);
    const memoryAtStart = memoryOf(sched.pid);
    let slowestPingMs = 0;
    let stored: Stored | null = null;
    try {
      for (let from = 0; from < requests && !this.#isOver(); from += PAUSE_EVERY) {
        const to = Math.min(from + PAUSE_EVERY, requests);
        await Promise.all(this.#model.lanes.map((lane) => this.#runLane(lane, from, to)));
        const pingMs = await watcher.slowestMs();
        slowestPingMs = Math.max(slowestPingMs, pingMs);
        await this.#audit(async () => {
          demand(
            pingMs <= BLOCKED_MS_MAX,
            `the service did not answer /healthz for ${Math.round(pingMs)} ms`,
          );
          checkTotals(sched.dataDir, this.#model);
        });
        progress?.(to);
      }
      await this.#audit(async () => {
        stored = await checkLists(sched.url, { test: sched.testKey, live: sched.liveKey }, this.#model);
      });
      await this.#audit(async () => checkMetrics(sched));
      await this.#audit(async () => checkLog(sched));
    } finally {
      await watcher.stop();
      for (const wire of this.#wires) wire.close();
    }
    const memoryMb = growth(memoryAtStart, memoryOf(sched.pid));
    await this.#audit(async () => {
      const grownBy = memoryMb === null ? 0 : memoryMb.end - memoryMb.start;
      demand(grownBy <= GROWTH_MB_MAX, `the service has grown by ${grownBy} MB`);
    });
    return {
      seed: this.#options.seed,
      requests,
      seconds: (performance.now() - started) / 1000,
      violations: this.#violations,
      byKind: this.#byKind,
      byAnswer: this.#byAnswer,
      stored,
      connections: this.#wires.reduce((sum, wire) => sum + wire.connections, 0),
      slowestPingMs,
      slowest: this.#slowest,
      memoryMb,
    };
  }

  #isOver(): boolean {
    return this.#violations.length >= VIOLATIONS_MAX;
  }

  async #runLane(lane: Lane, from: number, to: number): Promise<void> {
    const { seed, sched } = this.#options;
    for (
      let index = from + ((((lane.number - from) % LANES) + LANES) % LANES);
      index < to && !this.#isOver();
      index += LANES
    ) {
      const shot = nextShot({ prng: Prng.of(seed, index), index, lane, key: sched.testKey });
      count(this.#byKind, shot.kind);
      try {
        await this.#send(lane, index, shot);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        this.#report(index, shot, error);
      }
    }
  }

  async #send(lane: Lane, index: number, shot: Shot): Promise<void> {
    const wire = this.#wires[lane.number];
    if (wire === undefined) throw new Error('A lane without a wire.');
    if (shot.answer === 'never') {
      if (shot.kind === 'abandoned') this.#model.abandoned.add(`abandoned-${index}`);
      await wire.abandon(shot.pieces);
      return;
    }
    const outcome = await wire.exchange(shot.pieces, shot.method);
    count(this.#byAnswer, outcome.kind === 'answer' ? String(outcome.answer.status) : outcome.kind);
    demand(isAllowed(outcome, shot), `no answer: ${outcome.kind === 'cut off' ? outcome.why : outcome.kind}`);
    if (outcome.kind !== 'answer') return;
    this.#keepSlowest(index, shot.kind, outcome.answer.ms);
    const json = checkAnswer(shot, outcome.answer, this.#options.sched.testKey);
    applyAnswer(this.#model, lane, shot, outcome.answer, json);
    checkExpected(shot, outcome.answer.status, json);
  }

  #keepSlowest(index: number, kind: string, ms: number): void {
    if (this.#slowest.length === SLOWEST_KEPT && ms <= (this.#slowest.at(-1)?.ms ?? 0)) return;
    this.#slowest = [...this.#slowest, { index, kind, ms }]
      .sort((a, b) => b.ms - a.ms)
      .slice(0, SLOWEST_KEPT);
  }

  async #audit(check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#violations.push({ index: null, kind: 'audit', what: error.message, file: null });
    }
  }

  #report(index: number, shot: Shot, error: Violation): void {
    const file = join(mkdtempSync(join(tmpdir(), 'sched-fuzz-')), `request-${index}`);
    writeFileSync(file, Buffer.concat(shot.pieces));
    this.#violations.push({ index, kind: shot.kind, what: error.message, file });
  }
}

function growth(start: Memory | null, end: Memory | null): Report['memoryMb'] {
  return start === null || end === null
    ? null
    : { start: start.residentMb, end: end.residentMb, peak: end.peakMb };
}

/** Whether there is an answer, or the service may close the connection for this request. */
function isAllowed(outcome: Outcome, shot: Shot): boolean {
  return outcome.kind === 'answer' || (outcome.kind === 'cut off' && shot.answer === 'may');
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Requests whose client had closed the connection must not have caused a 5xx either. */
async function checkMetrics(sched: SchedProcess): Promise<void> {
  const answer = await fetch(`${sched.url}/metrics`);
  const failed = (await answer.text())
    .split('\n')
    .filter((line) => /_seconds_count\{.*status="5\d\d"/.test(line));
  demand(failed.length === 0, `/metrics counts 5xx: ${failed.join(' ')}`);
}

const ERROR_LINE = /"level":(?:"(?:error|fatal)"|[56]0)/;

function checkLog({ output, testKey, liveKey }: SchedProcess): void {
  for (const line of output.stderr.split('\n')) {
    const isTelling = [SECRET_MARK, testKey, liveKey].some((secret) => line.includes(secret));
    demand(!isTelling, `a log line tells a secret: ${line.slice(0, 300)}`);
    demand(!ERROR_LINE.test(line), `an error was logged: ${line.slice(0, 600)}`);
  }
}

export function runFuzz(options: RunOptions): Promise<Report> {
  return new Run(options).run();
}
