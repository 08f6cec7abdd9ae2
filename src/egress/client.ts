/**
 * The guarded HTTP client. `connector.ts` opens connections to allowed destinations, `connection-pool.ts`
 * keeps them, and `exchange.ts` carries one request. The client ignores proxy settings of the environment
 * and does not follow redirects.
 */
import type { Dispatcher } from 'undici';
import type { Headers } from '#src/domain/headers.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Egress, OutboundRequest, SendResult } from '#src/ports/egress.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ConnectionPool } from './connection-pool.ts';
import { Connector, type ConnectorOptions } from './connector.ts';
import { type Connect, tcpConnect } from './dial.ts';
import { Exchange, type ExchangeDependencies } from './exchange.ts';
import { checkUrl, type EgressRules } from './guard.ts';
import { type Resolve, systemResolver } from './resolver.ts';

export interface EgressOptions extends ConnectorOptions {
  readonly timers: Timers & Stopwatch;
  /** The default resolver reads the hosts file and asks the name servers of the machine. */
  readonly resolve?: Resolve;
  readonly connect?: Connect;
  /**
   * Whether the beginnings of answers may also be kept if the address is not public. Otherwise customers could read the
   * private networks that they may only send to. The default is false.
   */
  readonly keepsPrivateAnswers?: boolean;
}

export function createEgress(options: EgressOptions): Egress {
  const { timers, resolve = systemResolver({ timers }), connect = tcpConnect } = options;
  const { keepsPrivateAnswers = false } = options;
  const connector = new Connector(options, { timers, resolve, connect });
  const pool = new ConnectionPool(connector, timers, keepsPrivateAnswers);
  return new GuardedEgress(options, { pool, timers });
}

class GuardedEgress implements Egress {
  readonly #rules: EgressRules;
  readonly #dependencies: ExchangeDependencies;

  constructor(rules: EgressRules, dependencies: ExchangeDependencies) {
    this.#rules = rules;
    this.#dependencies = dependencies;
  }

  send(
    request: OutboundRequest,
    onEnd: (result: SendResult) => void,
    onConnected: (wasOpen: boolean) => void,
  ): () => void {
    const exchange = new Exchange(this.#dependencies, request, dispatchOptions(request), {
      onEnd,
      onConnected,
    });
    try {
      checkUrl(request.url, this.#rules);
      exchange.start();
    } catch (error) {
      exchange.fail(error);
    }
    return () => exchange.abort();
  }

  warm(url: URL, connections: number, customer: Partition): void {
    try {
      checkUrl(url, this.#rules);
      this.#dependencies.pool.warm({ url, customer }, connections);
    } catch {
      // The requests themselves will fail and report why.
    }
  }

  close(): Promise<void> {
    return this.#dependencies.pool.close();
  }
}

function dispatchOptions({ method, url, headers, body }: OutboundRequest): Dispatcher.DispatchOptions {
  return { method, path: `${url.pathname}${url.search}`, headers: flatten(headers), body };
}

/** `Expect` asks for a `100 Continue` that we do not wait for, and undici refuses to send it. */
const UNSENT_NAME = 'expect';

/** Runs for each request. A chain of array methods would take five times as long as this loop. */
function flatten(headers: Headers): string[] {
  const fields: string[] = [];
  fields.length = 2 * headers.length;
  let at = 0;
  for (const [name, value] of headers) {
    if (name.length === UNSENT_NAME.length && name.toLowerCase() === UNSENT_NAME) continue;
    fields[at++] = name;
    fields[at++] = value;
  }
  fields.length = at;
  return fields;
}
