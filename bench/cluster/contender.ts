/** What is measured, whoever does it: orders are stored ahead of their instant, and posted at it. */
export interface Order {
  /** No two of a run have the same. */
  readonly number: number;
  readonly url: string;
  readonly due: number;
}

export interface Contender {
  readonly name: string;
  /** On an empty database of its own. */
  start(databaseUrl: string): Promise<RunningContender>;
}

export interface RunningContender extends AsyncDisposable {
  /** Resolves when all are stored. */
  store(orders: readonly Order[]): Promise<void>;
  /** Processor time used so far by its processes, without the database's; null where the system does not tell. */
  cpuMs(): number | null;
}
