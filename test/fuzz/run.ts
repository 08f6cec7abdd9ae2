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
import { checkAnswer, checkExpected, ensure, Violation } from './checks.ts';
import { applyAnswer } from './effects.ts';
import { type FuzzRequest, SECRET_PREFIX } from './fuzz-request.ts';
import { type Memory, memoryOf, monitorHealth, type SlowestPing } from './health-monitor.ts';
import { nextRequest } from './mix.ts';
import { type FuzzClient, Model } from './model.ts';
import { Prng } from './prng.ts';
import { type Outcome, RawConnection } from './raw-connection.ts';

const CLIENTS = 8;
const PAUSE_EVERY = 10_000;
const VIOLATIONS_MAX = 20;
const SLOWEST_KEPT = 5;
/** The memory of the service may grow by this much, for any number of requests. */
const GROWTH_MB_MAX = 512;
/** No request may keep the main thread of the service at work for longer before it answers another. */
const BLOCKED_MS_MAX = 1_000;

export interface Finding {
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
  readonly violations: readonly Finding[];
  readonly byKind: ReadonlyMap<string, number>;
  readonly byAnswer: ReadonlyMap<string, number>;
  readonly stored: Stored | null;
  readonly connections: number;
  readonly slowestPing: SlowestPing;
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
  readonly #model = new Model(CLIENTS);
  readonly #connections: readonly RawConnection[];
  readonly #violations: Finding[] = [];
  readonly #byKind = new Map<string, number>();
  readonly #byAnswer = new Map<string, number>();
  #slowest: { readonly index: number; readonly kind: string; readonly ms: number }[] = [];

  constructor(options: RunOptions) {
    this.#options = options;
    const port = Number(new URL(options.sched.url).port);
    this.#connections = this.#model.clients.map(() => new RawConnection(port));
  }

  async run(): Promise<Report> {
    const { sched, requests, progress } = this.#options;
    const started = performance.now();
    const watcher = monitorHealth(sched);
    const memoryAtStart = memoryOf(sched.pid);
    let slowestPing: SlowestPing = { ms: 0, runMs: null };
    let stored: Stored | null = null;
    try {
      for (let from = 0; from < requests && !this.#isOver(); from += PAUSE_EVERY) {
        const to = Math.min(from + PAUSE_EVERY, requests);
        await Promise.all(this.#model.clients.map((client) => this.#runClient(client, from, to)));
        const ping = await watcher.slowest();
        if (ping.ms > slowestPing.ms) slowestPing = ping;
        await this.#audit(async () => {
          const blockedMs = ping.runMs ?? ping.ms;
          ensure(
            blockedMs <= BLOCKED_MS_MAX,
            `the service worked for ${Math.round(blockedMs)} ms before it answered /healthz`,
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
      for (const connection of this.#connections) connection.close();
    }
    const memoryMb = growth(memoryAtStart, memoryOf(sched.pid));
    await this.#audit(async () => {
      const grownBy = memoryMb === null ? 0 : memoryMb.end - memoryMb.start;
      ensure(grownBy <= GROWTH_MB_MAX, `the service has grown by ${grownBy} MB`);
    });
    return {
      seed: this.#options.seed,
      requests,
      seconds: (performance.now() - started) / 1000,
      violations: this.#violations,
      byKind: this.#byKind,
      byAnswer: this.#byAnswer,
      stored,
      connections: this.#connections.reduce((sum, connection) => sum + connection.connections, 0),
      slowestPing,
      slowest: this.#slowest,
      memoryMb,
    };
  }

  #isOver(): boolean {
    return this.#violations.length >= VIOLATIONS_MAX;
  }

  async #runClient(client: FuzzClient, from: number, to: number): Promise<void> {
    const { seed, sched } = this.#options;
    for (
      let index = from + ((((client.number - from) % CLIENTS) + CLIENTS) % CLIENTS);
      index < to && !this.#isOver();
      index += CLIENTS
    ) {
      const request = nextRequest({ prng: Prng.of(seed, index), index, client, key: sched.testKey });
      count(this.#byKind, request.kind);
      try {
        await this.#send(client, index, request);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        this.#report(index, request, error);
      }
    }
  }

  async #send(client: FuzzClient, index: number, request: FuzzRequest): Promise<void> {
    const connection = this.#connections[client.number];
    if (connection === undefined) throw new Error('A client has no connection.');
    if (request.answer === 'never') {
      if (request.kind === 'abandoned') this.#model.abandoned.add(`abandoned-${index}`);
      await connection.abandon(request.pieces);
      return;
    }
    const outcome = await connection.exchange(request.pieces, request.method);
    count(this.#byAnswer, outcome.kind === 'answer' ? String(outcome.answer.status) : outcome.kind);
    ensure(
      isAllowed(outcome, request),
      `no answer: ${outcome.kind === 'cut off' ? outcome.why : outcome.kind}`,
    );
    if (outcome.kind !== 'answer') return;
    this.#keepSlowest(index, request.kind, outcome.answer.ms);
    const json = checkAnswer(request, outcome.answer, this.#options.sched.testKey);
    applyAnswer(this.#model, client, request, outcome.answer, json);
    checkExpected(request, outcome.answer.status, json);
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

  #report(index: number, request: FuzzRequest, error: Violation): void {
    const file = join(mkdtempSync(join(tmpdir(), 'sched-fuzz-')), `request-${index}`);
    writeFileSync(file, Buffer.concat(request.pieces));
    this.#violations.push({ index, kind: request.kind, what: error.message, file });
  }
}

function growth(start: Memory | null, end: Memory | null): Report['memoryMb'] {
  return start === null || end === null
    ? null
    : { start: start.residentMb, end: end.residentMb, peak: end.peakMb };
}

/** Whether there is an answer, or the service may close the connection for this request. */
function isAllowed(outcome: Outcome, request: FuzzRequest): boolean {
  return outcome.kind === 'answer' || (outcome.kind === 'cut off' && request.answer === 'may');
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
  ensure(failed.length === 0, `/metrics counts 5xx: ${failed.join(' ')}`);
}

const ERROR_LINE = /"level":(?:"(?:error|fatal)"|[56]0)/;

function checkLog({ output, testKey, liveKey }: SchedProcess): void {
  for (const line of output.stderr.split('\n')) {
    const hasSecret = [SECRET_PREFIX, testKey, liveKey].some((secret) => line.includes(secret));
    ensure(!hasSecret, `a log line contains a secret: ${line.slice(0, 300)}`);
    ensure(!ERROR_LINE.test(line), `an error was logged: ${line.slice(0, 600)}`);
  }
}

export function runFuzz(options: RunOptions): Promise<Report> {
  return new Run(options).run();
}
