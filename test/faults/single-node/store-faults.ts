/**
 * The store fails while deliveries are due and others are in flight. Nothing is sent whose attempt is not
 * stored. Answers that arrive meanwhile are kept in memory and settled as soon as the store is back. A claim
 * that was stored although it reported an error is found, closed and retried.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Exit, type SchedProcess, temporaryDirectory } from '#test/process/sched-process.ts';
import { type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit, type Figures } from './audit.ts';
import { ANSWER_AT_ONCE, Ledger } from './ledger.ts';
import { type Group, OneShots } from './one-shots.ts';
import type { StoreFault } from './preload/store-fault.ts';
import { RetryingClient } from './retrying-client.ts';
import { type ServiceOptions, startService, startServiceInThread } from './service.ts';
import { SmallDisk } from './small-disk.ts';
import { UNFINISHED, waitUntilNone } from './stored.ts';

const DUE_MS = 4_000;
const SHARED_MS = 1_100;
const FAULT_MS = 2_000;
const DRAIN_MS_MAX = 30_000;
const EXIT_MS_MAX = 10_000;
/** Each lost attempt uses one of them. */
const RETRY_POLICY = { max_attempts: 50, base: '100ms', factor: 1, max: '100ms' };

export interface StoreFaultReport extends Audit {
  /** Requests that were sent although the store failed. */
  readonly sentMeanwhile: number;
  /** The status of /readyz meanwhile. */
  readonly readiness: number;
  /** From the end of the fault, or the next start, until everything was delivered. */
  readonly deliveredMs: number;
  /** Requests that were repeated although the receiver had answered. */
  readonly answeredAgain: number;
}

class StoreFaultFile {
  readonly #file = join(temporaryDirectory(), 'fault');

  get options(): ServiceOptions {
    return {
      preload: 'store-fault.ts',
      env: { SCHED_TEST_FAULT_FILE: this.#file, SCHED_SHUTDOWN_GRACE: '2s' },
    };
  }

  begin(fault: StoreFault): void {
    writeFileSync(this.#file, fault);
  }

  end(): void {
    rmSync(this.#file);
  }
}

interface CreatedGroups {
  readonly inFlight: Group;
  readonly due: Group;
  readonly untilAllDueMs: number;
}

/**
 * One service, and the faults of its store one after the other. Each of them has its own deliveries. Faults after
 * which attempts are interrupted come last, because from then on every audit tolerates that.
 */
export class StoreFaultScenario implements AsyncDisposable {
  readonly dataDir: string;
  readonly fault = new StoreFaultFile();
  readonly client = new RetryingClient();
  readonly #ledger = new Ledger();
  readonly #receiver: Receiver;
  readonly #oneShots: OneShots;
  readonly #processes: SchedProcess[] = [];
  #figures: Figures | null = null;
  #answer = Promise.withResolvers<void>();
  #rounds = 0;

  private constructor(receiver: Receiver, dataDir: string) {
    this.dataDir = dataDir;
    this.#receiver = receiver;
    this.#oneShots = new OneShots({ client: this.client, receiver, ledger: this.#ledger });
  }

  static async open(dataDir = temporaryDirectory()): Promise<StoreFaultScenario> {
    return new StoreFaultScenario(await startReceiver(), dataDir);
  }

  async start(): Promise<SchedProcess> {
    const sched = await startService(this.dataDir, this.fault.options);
    this.#processes.push(sched);
    this.client.open(sched.url);
    return sched;
  }

  /** Creates `count` deliveries in flight, and `count` that come due a moment later. */
  async create(count: number): Promise<CreatedGroups> {
    const round = ++this.#rounds;
    const { promise: answered } = this.#answer;
    const inFlight = await this.#oneShots.group({
      name: `in-flight-${round}`,
      count,
      body: () => ({ delay: '1s', retry_policy: RETRY_POLICY }),
      plan: () => answered.then(() => ANSWER_AT_ONCE),
    });
    await inFlight.allArrived();
    const due = await this.#oneShots.group({
      name: `due-${round}`,
      count,
      body: () => ({ delay: `${DUE_MS}ms`, retry_policy: RETRY_POLICY }),
      plan: () => ANSWER_AT_ONCE,
    });
    const allDueAt = performance.now() + DUE_MS;
    if (due.arrived() > 0) throw new Error('What should have come due later has arrived.');
    return { inFlight, due, untilAllDueMs: allDueAt - performance.now() };
  }

  /** Answers the requests in flight. Those that are created later are held again. */
  answer(): void {
    this.#answer.resolve();
    this.#answer = Promise.withResolvers<void>();
  }

  async readiness(sched: SchedProcess): Promise<number> {
    return (await fetch(`${sched.url}/readyz`)).status;
  }

  /** Audits everything since the start. The figures are those since the last audit. */
  audit(toleratedErrors: readonly string[]): Audit {
    const { acknowledged } = this.#oneShots;
    const { received } = this.#ledger;
    const result = audit({ dataDir: this.dataDir, acknowledged, received, toleratedErrors });
    const figures = this.#figures === null ? result.figures : difference(result.figures, this.#figures);
    this.#figures = result.figures;
    return { ...result, figures };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    for (const sched of this.#processes) await sched[Symbol.asyncDispose]();
    await this.#receiver[Symbol.asyncDispose]();
  }
}

function difference(figures: Figures, before: Figures): Figures {
  const names = Object.keys(figures) as (keyof Figures)[];
  return Object.fromEntries(names.map((name) => [name, figures[name] - before[name]])) as unknown as Figures;
}

/** A fault that ends. */
interface TemporaryFault {
  begin(): void;
  end(): void;
}

export type TemporaryStoreFault = 'full' | 'refusing' | 'false-errors' | 'crash-after-commit';

/** Runs a service through one fault, and stops it. */
export async function runStoreFault(fault: TemporaryStoreFault, count: number): Promise<StoreFaultReport> {
  await using scenario = await StoreFaultScenario.open();
  const sched = await scenario.start();
  const report = await runThroughStoreFault(scenario, sched, fault, count);
  const { code } = await sched.stop();
  return { ...report, faults: [...report.faults, ...exitFaults(code)] };
}

export function runThroughStoreFault(
  scenario: StoreFaultScenario,
  sched: SchedProcess,
  fault: TemporaryStoreFault,
  count: number,
): Promise<StoreFaultReport> {
  const file = scenario.fault;
  const temporary = { begin: () => file.begin(fault), end: () => file.end() };
  const interrupts = fault === 'false-errors' || fault === 'crash-after-commit';
  return runThroughFault(scenario, sched, temporary, count, interrupts ? ['interrupted'] : []);
}

/** A real file system without a free byte. */
export async function runFullFileSystem(count: number): Promise<StoreFaultReport> {
  using disk = new SmallDisk();
  await using scenario = await StoreFaultScenario.open(disk.directory);
  const sched = await scenario.start();
  const fault = { begin: () => disk.fill(), end: () => disk.free() };
  const report = await runThroughFault(scenario, sched, fault, count, []);
  const { code } = await sched.stop();
  return { ...report, faults: [...report.faults, ...exitFaults(code)] };
}

function exitFaults(code: number | null): readonly string[] {
  return code === 0 ? [] : [`exit code ${code}`];
}

async function runThroughFault(
  scenario: StoreFaultScenario,
  sched: SchedProcess,
  fault: TemporaryFault,
  count: number,
  toleratedErrors: readonly string[],
): Promise<StoreFaultReport> {
  const { inFlight, due, untilAllDueMs } = await scenario.create(count);
  fault.begin();
  scenario.answer();
  await sleep(untilAllDueMs + FAULT_MS);
  const readiness = await scenario.readiness(sched);
  const sentMeanwhile = due.arrived();
  fault.end();
  const deliveredMs = await waitUntilNone(scenario.dataDir, UNFINISHED, DRAIN_MS_MAX);
  // The answer to a probe is shared for a second, even one from before the end of the fault.
  await sleep(SHARED_MS);
  const isReadyAgain = (await scenario.readiness(sched)) === 200;
  const result = scenario.audit(toleratedErrors);
  return {
    ...result,
    faults: [...result.faults, ...(isReadyAgain ? [] : ['is not ready again'])],
    sentMeanwhile,
    readiness,
    deliveredMs,
    answeredAgain: inFlight.arrived() - count,
  };
}

export interface WriterCrashReport extends StoreFaultReport {
  readonly exit: Exit | 'did not exit';
  readonly exitMs: number;
}

/** The writer thread crashes. The next start recovers its work. */
export async function runWriterCrash(
  fault: 'crash' | 'crash-after-commit',
  count: number,
): Promise<WriterCrashReport> {
  await using scenario = await StoreFaultScenario.open();
  const sched = await scenario.start();
  const { inFlight, due, untilAllDueMs } = await scenario.create(count);
  scenario.fault.begin(fault);
  scenario.answer();
  await sleep(untilAllDueMs + FAULT_MS);
  const hasEnded = await Promise.race([sched.exited.then(() => true), sleep(0, false)]);
  const readiness = hasEnded ? 0 : await scenario.readiness(sched);
  const sentMeanwhile = due.arrived();
  const start = performance.now();
  const exit = await Promise.race([sched.stop(), sleep(EXIT_MS_MAX, 'did not exit' as const)]);
  const exitMs = performance.now() - start;
  if (exit === 'did not exit') await sched.kill();
  scenario.fault.end();

  await using again = await startServiceInThread(scenario.dataDir);
  const deliveredMs = await waitUntilNone(scenario.dataDir, UNFINISHED, DRAIN_MS_MAX);
  await again.stop();
  return {
    ...scenario.audit(['interrupted']),
    sentMeanwhile,
    readiness,
    deliveredMs,
    answeredAgain: inFlight.arrived() - count,
    exit,
    exitMs,
  };
}
