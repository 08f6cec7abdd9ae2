/**
 * From a name to its addresses: the hosts file first, then the name servers of the machine.
 *
 * They are asked by c-ares and not by `dns.lookup`: that one holds a thread of a small pool while it waits,
 * so that a few names with a hung name server hold up all others. Each look-up has a c-ares channel of its
 * own (20 µs): it can be called off alone, and changed settings of the machine are seen.
 *
 * Both families are asked at once. When one has answered, the other gets a moment more and is then left
 * out: name servers that never answer for IPv6 are common, and a delivery would wait for them.
 */
import { Resolver } from 'node:dns/promises';
import type { Timers } from '#src/ports/timers.ts';
import { failed, type NotSent, unresolved } from './failures.ts';
import { HostsFile } from './hosts-file.ts';

/** Answers one address at least, or rejects. */
export type Resolve = (name: string, signal?: AbortSignal) => Promise<readonly string[]>;

const QUERY_MS = 1_500;
const QUERY_ATTEMPTS = 3;
/** For all attempts together, with however many name servers. */
const LOOK_UP_MS = 6_000;
const OTHER_FAMILY_MS = 100;

const NO_SUCH_NAME: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY']);

export interface ResolverDependencies {
  readonly timers: Timers;
  readonly hosts?: HostsFile;
  /** Name servers, as `address:port`; those of the machine where it is left out. */
  readonly servers?: readonly string[];
}

export function systemResolver({ timers, hosts = new HostsFile(), servers }: ResolverDependencies): Resolve {
  return async (name, signal) => {
    const listed = await hosts.addressesOf(name);
    if (listed.length > 0) return listed;
    const resolver = new Resolver({ timeout: QUERY_MS, tries: QUERY_ATTEMPTS, maxTimeout: QUERY_MS });
    if (servers !== undefined) resolver.setServers(servers);
    return await new LookUp(resolver, timers, signal).addressesOf(name);
  };
}

class LookUp {
  readonly #resolver: Resolver;
  readonly #timers: Timers;
  readonly #signal: AbortSignal | undefined;
  readonly #found: string[] = [];
  #why = 'name does not exist';

  constructor(resolver: Resolver, timers: Timers, signal: AbortSignal | undefined) {
    this.#resolver = resolver;
    this.#timers = timers;
    this.#signal = signal;
  }

  async addressesOf(name: string): Promise<readonly string[]> {
    if (this.#signal?.aborted === true) throw failed('broken off');
    const cancel = () => this.#resolver.cancel();
    const cancelers = [this.#timers.after(LOOK_UP_MS, cancel)];
    this.#signal?.addEventListener('abort', cancel);
    const ask = async (query: Promise<readonly string[]>) => {
      if (await this.#collect(query)) cancelers.push(this.#timers.after(OTHER_FAMILY_MS, cancel));
    };
    try {
      await Promise.all([ask(this.#resolver.resolve4(name)), ask(this.#resolver.resolve6(name))]);
    } finally {
      for (const callOff of cancelers) callOff();
      this.#signal?.removeEventListener('abort', cancel);
    }
    if (this.#found.length === 0) throw this.#nothing();
    return this.#found;
  }

  /** Whether there were addresses. */
  async #collect(query: Promise<readonly string[]>): Promise<boolean> {
    try {
      const addresses = await query;
      this.#found.push(...addresses);
      return addresses.length > 0;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (!NO_SUCH_NAME.has(code)) this.#why = 'name server did not answer';
      return false;
    }
  }

  #nothing(): NotSent {
    return this.#signal?.aborted === true ? failed('broken off') : unresolved(this.#why);
  }
}
