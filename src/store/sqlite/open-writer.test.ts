/** A caller can bring a writer of its own. It writes at once and answers when the caller says so. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import type { Rejection, Step } from '#src/store/sql/steps.ts';
import { Builders, START } from '#test/store-contract/builders.ts';
import { Executor, type WriterData } from './executor.ts';
import { openSqlite } from './open-sqlite.ts';
import { answered, type WriteQueue } from './writer.ts';

const PARTITION = 1 as Partition;

/** Writes at once and holds the answers back. */
class HoldingWriter implements WriteQueue {
  readonly isFailing = false;
  readonly #executor: Executor;
  readonly #held: (() => void)[] = [];

  constructor(data: WriterData) {
    this.#executor = Executor.open(data);
  }

  async run<A extends Rejection>(steps: readonly Step[]): Promise<'done' | A> {
    const [answer = 'done'] = await this.runAll<A>([steps]);
    return answer;
  }

  runAll<A extends Rejection>(verbs: readonly (readonly Step[])[]): Promise<readonly ('done' | A)[]> {
    const answers = answered(this.#executor.run(verbs));
    return new Promise((resolve, reject) => {
      this.#held.push(() =>
        answers instanceof Error ? reject(answers) : resolve(answers as readonly ('done' | A)[]),
      );
    });
  }

  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  async close(): Promise<void> {
    this.release();
    this.#executor.close();
  }
}

let directory: string;
let store: SqlStore;
let writer: HoldingWriter;
let build: Builders;

async function open(maxPages?: number): Promise<void> {
  store = await openSqlite({
    directory,
    now: START,
    exclusive: true,
    durable: false,
    ...(maxPages === undefined ? {} : { maxPages }),
    openWriter: async (data) => {
      expect(data.durable).toBe(false);
      writer = new HoldingWriter(data);
      return writer;
    },
  });
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sched-writer-'));
  build = new Builders(PARTITION);
  await open();
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a write is stored before it is answered', async () => {
  const { schedule, pending } = build.schedule();
  const answers: string[] = [];
  const written = store
    .addSchedule({ schedule, pending, payload: null, profile: null, receipt: null })
    .then((answer) => answers.push(answer));
  expect(await store.findSchedule(PARTITION, schedule.id)).toMatchObject({ schedule, pending });
  expect(answers).toEqual([]);
  writer.release();
  await written;
  expect(answers).toEqual(['done']);
});

test('a write that was never answered is there after reopening', async () => {
  const { schedule, pending } = build.schedule();
  void store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
  await store.close();
  await open();
  expect(await store.findDelivery(PARTITION, pending.id)).toEqual(pending);
});

test('each verb has its own answer, and a failing verb its own error', async () => {
  const made = build.schedule();
  const add = () => store.addSchedule({ ...made, payload: null, profile: null, receipt: null });
  const claims = () => store.claim([build.claim(made.pending, { ...made, profile: null })]);
  const all = Promise.allSettled([claims(), add(), add(), claims(), claims()]);
  writer.release();
  expect(await all).toEqual([
    { status: 'fulfilled', value: ['stale'] },
    { status: 'fulfilled', value: 'done' },
    {
      status: 'rejected',
      reason: expect.objectContaining({ message: expect.stringMatching(/verb failed/) }),
    },
    { status: 'fulfilled', value: ['done'] },
    { status: 'fulfilled', value: ['stale'] },
  ]);
});

test('a full disk is reported as it is by the writing thread', async () => {
  await store.close();
  await open(1);
  const payload = new Uint8Array(1_000_000);
  const written = store.addSchedule({ ...build.schedule(), payload, profile: null, receipt: null });
  writer.release();
  await expect(written).rejects.toThrow(StoreUnavailable);
});
