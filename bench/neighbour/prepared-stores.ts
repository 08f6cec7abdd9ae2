/**
 * Stores with the objects of the hostile customers. One store is filled for each set of customers, and every round gets
 * a copy. Copying takes seconds, filling takes minutes. No round sees rows that another round wrote.
 */
import { randomBytes } from 'node:crypto';
import { constants, cpSync } from 'node:fs';
import { removeFolder, temporaryFolder } from '../../test/postgres/cleanup.ts';
import { execute } from '../../test/postgres/databases.ts';
import type { PostgresServer } from '../../test/postgres/server.ts';
import type { NeighbourScale, SchedStoreKind } from '../results.ts';
import { createProjects } from '../sched/command.ts';
import { type SchedStore, startSched } from '../sched/service.ts';
import { fileOf, flushFile, multiply, requireDiskSpace } from '../stored/filled-stores.ts';
import { Api } from './api.ts';
import type { Hostile } from './customers.ts';
import { fill, multiplicationOf } from './fill.ts';
import type { HostileReceiver } from './hostile-receiver.ts';
import { partitionOf } from './sql.ts';

const YEAR_MS = 365 * 86_400_000;

export interface Account {
  readonly apiKey: string;
  readonly partition: number;
}

export interface PreparedStore {
  readonly store: SchedStore;
  readonly accounts: ReadonlyMap<Hostile, Account>;
  /** The instant of the first deliveries, in milliseconds since the epoch. */
  readonly farAt: number;
}

export interface PreparedStoresOptions {
  readonly postgres: PostgresServer;
  readonly hostileReceiver: HostileReceiver;
  readonly scale: NeighbourScale;
  /** The customers that get an account in every store. */
  readonly customers: readonly Hostile[];
}

/** The stores of one version of the service. Another version may have another schema. */
export class PreparedStores implements AsyncDisposable {
  readonly #options: PreparedStoresOptions;
  readonly #root: string;
  readonly #made = new AsyncDisposableStack();
  readonly #prepared = new Map<string, Promise<PreparedStore>>();

  /** `root` is the checkout of the version. */
  constructor(root: string, options: PreparedStoresOptions) {
    this.#root = root;
    this.#options = options;
  }

  /** Rejects with `Unavailable` if the disk has too little space. The store must not be changed; `copy` it instead. */
  prepare(kind: SchedStoreKind, customers: readonly Hostile[]): Promise<PreparedStore> {
    const name = [kind, ...customers].join(' ');
    const prepared = this.#prepared.get(name) ?? this.#fill(kind, customers);
    this.#prepared.set(name, prepared);
    return prepared;
  }

  async copy(kind: SchedStoreKind, customers: readonly Hostile[]): Promise<PreparedStore & AsyncDisposable> {
    const prepared = await this.prepare(kind, customers);
    requireDiskSpace(kind, this.#rowsOf(customers));
    return { ...prepared, ...(await this.#copyOf(prepared.store)) };
  }

  async #fill(kind: SchedStoreKind, customers: readonly Hostile[]): Promise<PreparedStore> {
    if (customers.length === 0) return this.#fillEmpty(kind);
    requireDiskSpace(kind, this.#rowsOf(customers));
    const { accounts } = await this.prepare(kind, []);
    const { store } = this.#made.use(await this.copy(kind, []));
    const { hostileReceiver, scale } = this.#options;
    const farAt = Date.now() + YEAR_MS;
    const own = customers.map((customer) => [customer, accountOf(accounts, customer)] as const);
    {
      await using service = await startSched({ store, root: this.#root });
      for (const [customer, { apiKey }] of own) {
        await using api = new Api(service.urls[0] ?? '', apiKey);
        await fill(customer, { api, receiver: hostileReceiver, scale, farAt });
      }
    }
    for (const [customer, { partition }] of own) {
      const multiplication = multiplicationOf(customer, scale, partition);
      if (multiplication !== null) await multiply(store, multiplication);
    }
    return { store, accounts, farAt };
  }

  /** Every customer has a key, and nothing is stored. */
  async #fillEmpty(kind: SchedStoreKind): Promise<PreparedStore> {
    const { store } = this.#made.use(await this.#empty(kind));
    // The first start creates the schema and the project of the healthy customer.
    const service = await startSched({ store, root: this.#root, env: { SCHED_ROLE: 'api' } });
    await service[Symbol.asyncDispose]();
    const { customers } = this.#options;
    const keys = await createProjects(this.#root, store, customers);
    const accounts = new Map<Hostile, Account>();
    for (const [n, customer] of customers.entries()) {
      const partition = await partitionOf(store, customer);
      accounts.set(customer, { apiKey: keys[n] ?? '', partition });
    }
    return { store, accounts, farAt: 0 };
  }

  async #empty(kind: SchedStoreKind): Promise<{ readonly store: SchedStore } & AsyncDisposable> {
    if (kind === 'sqlite') return directoryStore(temporaryFolder());
    const database = await this.#options.postgres.createDatabase();
    return {
      store: { kind: 'postgres', url: database.url },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  }

  async #copyOf(store: SchedStore): Promise<{ readonly store: SchedStore } & AsyncDisposable> {
    if (store.kind === 'sqlite') {
      const directory = temporaryFolder();
      cpSync(store.directory, directory, { recursive: true, mode: constants.COPYFILE_FICLONE });
      flushFile(fileOf(directory));
      return directoryStore(directory);
    }
    const { postgres } = this.#options;
    const source = new URL(store.url).pathname.slice(1);
    const name = `copy_${randomBytes(8).toString('hex')}`;
    // FILE_COPY copies the files as they are. The other strategy also writes everything to the log.
    await execute(postgres.url(), `CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY FILE_COPY`);
    return {
      store: { kind: 'postgres', url: postgres.url(name) },
      [Symbol.asyncDispose]: () => execute(postgres.url(), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
    };
  }

  #rowsOf(customers: readonly Hostile[]): number {
    const { sizes } = this.#options.scale;
    return customers.reduce((sum, customer) => sum + sizes[customer], 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#prepared.values());
    await this.#made.disposeAsync();
  }
}

export function accountOf(accounts: ReadonlyMap<Hostile, Account>, customer: Hostile): Account {
  const account = accounts.get(customer);
  if (account === undefined) throw new Error(`${customer} has no account.`);
  return account;
}

function directoryStore(directory: string): { readonly store: SchedStore } & AsyncDisposable {
  return {
    store: { kind: 'sqlite', directory },
    [Symbol.asyncDispose]: async () => removeFolder(directory),
  };
}
