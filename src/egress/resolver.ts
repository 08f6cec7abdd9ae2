/**
 * Resolves a name to its addresses: with the hosts file first, then with the name servers of the machine.
 *
 * It uses c-ares and not `dns.lookup`, which occupies a thread of a small pool while it waits. A few names
 * with a name server that hangs would then block all others. Each lookup has its own c-ares channel (20 µs),
 * so that it can be cancelled alone and sees changed settings of the machine.
 *
 * Both address families are asked for at once. When one has answered, the other gets a moment more and is
 * then ignored. Name servers that never answer for IPv6 are common, and a delivery would wait for them.
 */
import { Resolver } from 'node:dns/promises';
import type { FailureCode } from '#src/domain/failures.ts';
import type { Timers } from '#src/ports/system.ts';
import { SendFailure } from './failures.ts';
import { HostsFile } from './hosts-file.ts';

/** Resolves to at least one address, or rejects. */
export type Resolve = (name: string, signal?: AbortSignal) => Promise<readonly string[]>;

const QUERY_MS = 1_500;
const QUERY_ATTEMPTS = 3;
/** Bounds all queries of one lookup together, over all name servers. */
const LOOKUP_MS = 6_000;
const OTHER_FAMILY_MS = 100;

const NO_SUCH_NAME: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY']);

export interface ResolverDependencies {
  readonly timers: Timers;
  readonly hosts?: HostsFile;
  /** Name servers as `address:port`. The default is those of the machine. */
  readonly servers?: readonly string[];
}

export function systemResolver({ timers, hosts = new HostsFile(), servers }: ResolverDependencies): Resolve {
  return async (name, signal) => {
    const listed = await hosts.addressesOf(name);
    if (listed.length > 0) return listed;
    const resolver = new Resolver({ timeout: QUERY_MS, tries: QUERY_ATTEMPTS, maxTimeout: QUERY_MS });
    if (servers !== undefined) resolver.setServers(servers);
    return await new Lookup(resolver, timers, signal).addressesOf(name);
  };
}

class Lookup {
  readonly #resolver: Resolver;
  readonly #timers: Timers;
  readonly #signal: AbortSignal | undefined;
  readonly #found: string[] = [];
  #failure: FailureCode = 'name_not_found';

  constructor(resolver: Resolver, timers: Timers, signal: AbortSignal | undefined) {
    this.#resolver = resolver;
    this.#timers = timers;
    this.#signal = signal;
  }

  async addressesOf(name: string): Promise<readonly string[]> {
    if (this.#signal?.aborted === true) throw new SendFailure('aborted');
    const cancel = () => this.#resolver.cancel();
    const cancelTimers = [this.#timers.after(LOOKUP_MS, cancel)];
    this.#signal?.addEventListener('abort', cancel);
    const ask = async (query: Promise<readonly string[]>) => {
      if (await this.#collect(query)) cancelTimers.push(this.#timers.after(OTHER_FAMILY_MS, cancel));
    };
    try {
      await Promise.all([ask(this.#resolver.resolve4(name)), ask(this.#resolver.resolve6(name))]);
    } finally {
      for (const cancelTimer of cancelTimers) cancelTimer();
      this.#signal?.removeEventListener('abort', cancel);
    }
    if (this.#found.length === 0) throw this.#notFound();
    return this.#found;
  }

  /** Returns whether the answer had addresses. */
  async #collect(query: Promise<readonly string[]>): Promise<boolean> {
    try {
      const addresses = await query;
      this.#found.push(...addresses);
      return addresses.length > 0;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (!NO_SUCH_NAME.has(code)) this.#failure = 'name_server_silent';
      return false;
    }
  }

  #notFound(): SendFailure {
    return new SendFailure(this.#signal?.aborted === true ? 'aborted' : this.#failure);
  }
}
