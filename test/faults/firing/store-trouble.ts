/**
 * The store fails while deliveries are due and others are under way. Nothing is sent whose attempt is not
 * stored; what is answered meanwhile is known in memory alone, and settled as soon as the store is back; a
 * claim that was stored though it seemed to fail is found, closed and tried again.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Exit, type SchedProcess, temporaryDirectory } from '#test/process/sched-process.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { Gateway } from './gateway.ts';
import { AT_ONCE, Ledger } from './ledger.ts';
import type { Trouble } from './preload/store-trouble.ts';
import { type FiringOptions, startFiring } from './service.ts';
import { type Group, Shots } from './shots.ts';
import { SmallDisk } from './small-disk.ts';
import { noneLeft, UNFINISHED } from './stored.ts';

const DUE_MS = 4_000;
const SHARED_MS = 1_100;
const TROUBLE_MS = 2_000;
const DRAIN_MS_MAX = 30_000;
const EXIT_MS_MAX = 10_000;
/** Each lost attempt costs one. */
const RETRY_POLICY = { max_attempts: 50, base: '100ms', factor: 1, max: '100ms' };

export interface TroubleReport extends Audit {
  /** Requests that left although the store failed. */
  readonly sentMeanwhile: number;
  /** What /readyz answered meanwhile. */
  readonly readiness: number;
  /** From the end of the trouble, or the next start, until everything was delivered. */
  readonly healedMs: number;
  /** Requests made again though the receiver had answered. */
  readonly underWayAgain: number;
}

class TroubleFile {
  readonly #file = join(temporaryDirectory(), 'trouble');

  get options(): FiringOptions {
    return {
      preload: 'store-trouble.ts',
      env: { SCHED_TEST_TROUBLE_FILE: this.#file, SCHED_SHUTDOWN_GRACE: '2s' },
    };
  }

  begin(trouble: Trouble): void {
    writeFileSync(this.#file, trouble);
  }

  end(): void {
    rmSync(this.#file);
  }
}

interface Stage {
  readonly underWay: Group;
  readonly due: Group;
  readonly untilAllDueMs: number;
}

class Scene implements AsyncDisposable {
  readonly dataDir: string;
  readonly trouble = new TroubleFile();
  readonly gateway = new Gateway();
  readonly ledger = new Ledger();
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>;
  readonly shots: Shots;
  readonly #answer = Promise.withResolvers<void>();

  private constructor(receiver: Scene['receiver'], dataDir: string) {
    this.dataDir = dataDir;
    this.receiver = receiver;
    this.shots = new Shots({ gateway: this.gateway, receiver, ledger: this.ledger });
  }

  static async open(dataDir = temporaryDirectory()): Promise<Scene> {
    return new Scene(await startReceiver(), dataDir);
  }

  async start(): Promise<SchedProcess> {
    const sched = await startFiring(this.dataDir, this.trouble.options);
    this.gateway.open(sched.url);
    return sched;
  }

  /** So many under way, and so many that come due a moment later. */
  async set(count: number): Promise<Stage> {
    const due = await this.shots.group({
      name: 'due',
      count,
      body: () => ({ delay: `${DUE_MS}ms`, retry_policy: RETRY_POLICY }),
      plan: () => AT_ONCE,
    });
    const allDueAt = performance.now() + DUE_MS;
    const underWay = await this.shots.group({
      name: 'under-way',
      count,
      body: () => ({ delay: '1s', retry_policy: RETRY_POLICY }),
      plan: () => this.#answer.promise.then(() => AT_ONCE),
    });
    await underWay.allArrived();
    if (due.arrived() > 0) throw new Error('What should have come due later has arrived.');
    return { underWay, due, untilAllDueMs: allDueAt - performance.now() };
  }

  answer(): void {
    this.#answer.resolve();
  }

  async readiness(sched: SchedProcess): Promise<number> {
    return (await fetch(`${sched.url}/readyz`)).status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.gateway.close();
    await this.receiver[Symbol.asyncDispose]();
  }
}

/** Trouble that passes. */
interface Passing {
  begin(): void;
  end(): void;
}

export async function runStoreTrouble(
  trouble: 'full' | 'refusing' | 'lying' | 'dying late',
  count: number,
): Promise<TroubleReport> {
  await using scene = await Scene.open();
  const { trouble: file } = scene;
  const passing = { begin: () => file.begin(trouble), end: () => file.end() };
  return await endure(
    scene,
    passing,
    count,
    trouble === 'lying' || trouble === 'dying late' ? ['interrupted'] : [],
  );
}

/** A real file system without a free byte. */
export async function runFullFileSystem(count: number): Promise<TroubleReport> {
  using disk = new SmallDisk();
  await using scene = await Scene.open(disk.directory);
  const passing = { begin: () => disk.fill(), end: () => disk.free() };
  return await endure(scene, passing, count, []);
}

async function endure(
  scene: Scene,
  trouble: Passing,
  count: number,
  excuses: readonly string[],
): Promise<TroubleReport> {
  await using sched = await scene.start();
  const { underWay, due, untilAllDueMs } = await scene.set(count);
  trouble.begin();
  scene.answer();
  await sleep(untilAllDueMs + TROUBLE_MS);
  const readiness = await scene.readiness(sched);
  const sentMeanwhile = due.arrived();
  trouble.end();
  const healedMs = await noneLeft(scene.dataDir, UNFINISHED, DRAIN_MS_MAX);
  // The answer to a probe is shared for a second, also one from before the end of the trouble.
  await sleep(SHARED_MS);
  const isReadyAgain = (await scene.readiness(sched)) === 200;
  const { code } = await sched.stop();
  const result = auditOf(scene, excuses);
  return {
    ...result,
    faults: [
      ...result.faults,
      ...(code === 0 ? [] : [`exit code ${code}`]),
      ...(isReadyAgain ? [] : ['is not ready again']),
    ],
    sentMeanwhile,
    readiness,
    healedMs,
    underWayAgain: underWay.arrived() - count,
  };
}

function auditOf({ dataDir, shots, ledger }: Scene, excuses: readonly string[]): Audit {
  return audit({ dataDir, acknowledged: shots.acknowledged, received: ledger.received, excuses });
}

export interface DyingReport extends TroubleReport {
  readonly exit: Exit | 'did not exit';
  readonly exitMs: number;
}

/** The writing thread ends. What it takes with it comes back with the next start. */
export async function runDyingWriter(trouble: 'dying' | 'dying late', count: number): Promise<DyingReport> {
  await using scene = await Scene.open();
  await using sched = await scene.start();
  const { underWay, due, untilAllDueMs } = await scene.set(count);
  scene.trouble.begin(trouble);
  scene.answer();
  await sleep(untilAllDueMs + TROUBLE_MS);
  const hasEnded = await Promise.race([sched.exited.then(() => true), sleep(0, false)]);
  const readiness = hasEnded ? 0 : await scene.readiness(sched);
  const sentMeanwhile = due.arrived();
  const start = performance.now();
  const exit = await Promise.race([sched.stop(), sleep(EXIT_MS_MAX, 'did not exit' as const)]);
  const exitMs = performance.now() - start;
  if (exit === 'did not exit') await sched.kill();
  scene.trouble.end();

  await using again = await scene.start();
  const healedMs = await noneLeft(scene.dataDir, UNFINISHED, DRAIN_MS_MAX);
  await again.stop();
  return {
    ...auditOf(scene, ['interrupted']),
    sentMeanwhile,
    readiness,
    healedMs,
    underWayAgain: underWay.arrived() - count,
    exit,
    exitMs,
  };
}
