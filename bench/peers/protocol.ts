/**
 * The messages between the benchmark and the process of a peer. The process sends `done` when it has started and after
 * each command. It gets the next command only then.
 */
import type { Created, CreateLoad, Job } from '../contender.ts';
import { quantile } from '../statistics.ts';

export type PeerCommand =
  | { readonly kind: 'store'; readonly jobs: readonly Job[] }
  | { readonly kind: 'recur'; readonly jobs: readonly Job[] }
  | { readonly kind: 'create'; readonly load: CreateLoad };

export type PeerMessage =
  | { readonly kind: 'done'; readonly created: Created | null }
  | { readonly kind: 'failed'; readonly why: string };

/** The functions that a peer offers in its process. */
export interface PeerWorker {
  /** Adds many jobs in the fastest way that the library has. */
  addAll(jobs: readonly Job[]): Promise<void>;
  /** Adds one job by one call of the public interface. */
  addOne(job: Job): Promise<void>;
  addRecurring?(jobs: readonly Job[]): Promise<void>;
  end(): Promise<void>;
}

const DAY_MS = 86_400_000;
const MS_PER_SECOND = 1_000;
const NOWHERE = 'https://bench.invalid/hooks/reminder';

/** A peer calls this once it has started. */
export function servePeer(worker: PeerWorker): void {
  process.on('message', (command: PeerCommand) => {
    execute(worker, command).then(
      (created) => send({ kind: 'done', created }),
      (error: unknown) => send({ kind: 'failed', why: String(error) }),
    );
  });
  process.on('disconnect', () => void worker.end().finally(() => process.exit(0)));
  send({ kind: 'done', created: null });
}

function send(message: PeerMessage): void {
  process.send?.(message);
}

async function execute(worker: PeerWorker, command: PeerCommand): Promise<Created | null> {
  switch (command.kind) {
    case 'store':
      await worker.addAll(command.jobs);
      return null;
    case 'recur':
      if (worker.addRecurring === undefined)
        throw new Error('This peer is not made for thousands of recurring jobs.');
      await worker.addRecurring(command.jobs);
      return null;
    case 'create':
      return createFor(worker, command.load);
  }
}

async function createFor(worker: PeerWorker, { atOnce, seconds }: CreateLoad): Promise<Created> {
  const start = performance.now();
  const end = start + seconds * MS_PER_SECOND;
  const due = Date.now() + DAY_MS;
  const tookMs: number[] = [];
  let number = 0;
  let failed = 0;
  const client = async () => {
    for (let now = start; now < end; ) {
      await worker.addOne({ number: number++, url: NOWHERE, due }).catch(() => failed++);
      const then = performance.now();
      tookMs.push(then - now);
      now = then;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return {
    created: tookMs.length - failed,
    failed,
    seconds: (performance.now() - start) / MS_PER_SECOND,
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
  };
}
