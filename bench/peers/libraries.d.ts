/**
 * Types of the peers, as far as the benchmark uses them. The peers are installed only for a run, and the types must be
 * checked without them.
 */
declare module 'bullmq' {
  type Data = import('../contender.ts').Job;

  interface Connection {
    readonly path: string;
    readonly maxRetriesPerRequest?: null;
  }

  interface AddOptions {
    /** Milliseconds. */
    readonly delay: number;
  }

  export class Queue {
    constructor(
      name: string,
      options: {
        readonly connection: Connection;
        readonly defaultJobOptions: { readonly removeOnComplete: boolean; readonly removeOnFail: boolean };
      },
    );
    add(name: string, data: Data, options: AddOptions): Promise<unknown>;
    addBulk(
      jobs: readonly { readonly name: string; readonly data: Data; readonly opts: AddOptions }[],
    ): Promise<unknown>;
    upsertJobScheduler(
      id: string,
      repeat: { readonly pattern: string; readonly tz: string },
      template: { readonly name: string; readonly data: Data },
    ): Promise<unknown>;
    close(): Promise<void>;
  }

  export class Worker {
    constructor(
      name: string,
      processor: (job: { readonly data: Data }) => Promise<void>,
      options: { readonly connection: Connection; readonly concurrency: number },
    );
    on(event: 'error', listener: (error: Error) => void): this;
    waitUntilReady(): Promise<unknown>;
    close(force: boolean): Promise<void>;
  }
}

declare module 'graphile-worker' {
  interface WorkerOptions {
    readonly connectionString: string;
    readonly concurrentJobs: number;
    readonly maxPoolSize: number;
    /** Milliseconds. */
    readonly pollInterval: number;
    readonly localQueue?: { readonly size: number };
    readonly completeJobBatchDelay?: number;
    readonly failJobBatchDelay?: number;
  }

  export function run(options: {
    readonly preset: { readonly worker: WorkerOptions };
    readonly taskList: Readonly<Record<string, (payload: unknown) => Promise<void>>>;
    readonly parsedCronItems: readonly [];
    readonly noHandleSignals: boolean;
  }): Promise<{ stop(): Promise<void> }>;

  export function makeWorkerUtils(options: {
    readonly connectionString: string;
    readonly maxPoolSize: number;
  }): Promise<{
    addJob(identifier: string, payload: unknown, spec: { readonly runAt: Date }): Promise<unknown>;
    addJobs(
      jobs: readonly { readonly identifier: string; readonly payload: unknown; readonly runAt: Date }[],
    ): Promise<unknown>;
    release(): Promise<void>;
  }>;
}

declare module 'pg-boss' {
  export class PgBoss {
    constructor(options: {
      readonly connectionString: string;
      readonly max: number;
      readonly schedule: boolean;
    });
    on(event: 'error', listener: (error: Error) => void): this;
    start(): Promise<unknown>;
    createQueue(name: string): Promise<void>;
    work<Data>(
      name: string,
      options: {
        readonly pollingIntervalSeconds: number;
        readonly localConcurrency: number;
        readonly batchSize: number;
        readonly burstWhenBatchFull: boolean;
      },
      handler: (jobs: readonly { readonly data: Data }[]) => Promise<void>,
    ): Promise<string>;
    send(name: string, data: object, options: { readonly startAfter: Date }): Promise<string | null>;
    insert(
      name: string,
      jobs: readonly { readonly data: object; readonly startAfter: Date }[],
    ): Promise<unknown>;
    stop(options: { readonly graceful: boolean }): Promise<void>;
  }
}

declare module 'agenda' {
  export class Agenda {
    constructor(options: {
      readonly backend: import('@agendajs/postgres-backend').PostgresBackend;
      /** Milliseconds. */
      readonly processEvery: number;
      readonly maxConcurrency: number;
      readonly defaultConcurrency: number;
      readonly defaultLockLimit: number;
      readonly removeOnComplete: boolean;
    });
    on(event: 'error', listener: (error: Error) => void): this;
    define<Data>(
      name: string,
      processor: (job: { readonly attrs: { readonly data: Data } }) => Promise<void>,
    ): void;
    schedule(when: Date, name: string, data: object): Promise<unknown>;
    start(): Promise<void>;
    stop(): Promise<void>;
  }
}

declare module '@agendajs/postgres-backend' {
  export class PostgresBackend {
    constructor(options: {
      readonly poolConfig: { readonly connectionString: string; readonly max: number };
    });
    /** This field keeps the type from accepting any object. */
    readonly name: string;
  }
}
