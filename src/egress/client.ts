/**
 * The guarded way out. `connector.ts` decides who is connected to and how, `lanes.ts` keeps connections,
 * `exchange.ts` carries one request. Proxies of the environment have no say in it: nothing here looks at
 * the environment, and nothing follows a redirect.
 */
import type { Dispatcher } from 'undici';
import type { Headers } from '#src/domain/headers.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { Egress, OutboundRequest, SendResult } from '#src/ports/egress.ts';
import type { Stopwatch, Timers } from '#src/ports/timers.ts';
import { Connector, type ConnectorOptions } from './connector.ts';
import { type Connect, tcpConnect } from './dial.ts';
import { Exchange, type ExchangeDependencies } from './exchange.ts';
import { type EgressRules, judgeUrl } from './guard.ts';
import { Lanes } from './lanes.ts';
import { type Resolve, systemResolver } from './resolver.ts';

export interface EgressOptions extends ConnectorOptions {
  readonly timers: Timers & Stopwatch;
  /** The system's names, where it is left out. */
  readonly resolve?: Resolve;
  readonly connect?: Connect;
}

export function createEgress(options: EgressOptions): Egress {
  const { timers, resolve = systemResolver({ timers }), connect = tcpConnect } = options;
  const lanes = new Lanes(new Connector(options, { timers, resolve, connect }), timers);
  return new GuardedEgress(options, { lanes, timers });
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
    const { url, customer } = request;
    const exchange = new Exchange(this.#dependencies, { url, customer }, dispatched(request), {
      onEnd,
      onConnected,
    });
    try {
      judgeUrl(request.url, this.#rules);
      exchange.begin();
    } catch (error) {
      exchange.strand(error);
    }
    return () => exchange.breakOff();
  }

  warm(url: URL, connections: number, customer: Partition): void {
    try {
      judgeUrl(url, this.#rules);
      this.#dependencies.lanes.openAhead({ url, customer }, connections);
    } catch {
      // The requests themselves will tell.
    }
  }

  close(): Promise<void> {
    return this.#dependencies.lanes.close();
  }
}

function dispatched({ method, url, headers, body }: OutboundRequest): Dispatcher.DispatchOptions {
  return { method, path: `${url.pathname}${url.search}`, headers: flat(headers), body };
}

/** `Expect` asks for a go-ahead that we do not wait for, and undici refuses to send it. */
const UNSENT_NAME = 'expect';

/** With each request: a loop, where a chain of array methods takes five times as long. */
function flat(headers: Headers): string[] {
  const fields: string[] = [];
  for (const [name, value] of headers)
    if (name.length !== UNSENT_NAME.length || name.toLowerCase() !== UNSENT_NAME) fields.push(name, value);
  return fields;
}
