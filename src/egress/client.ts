/**
 * The guarded way out. `connector.ts` decides who is connected to and how, `lanes.ts` keeps connections,
 * `exchange.ts` carries one request. Proxies of the environment have no say in it: nothing here looks at
 * the environment, and nothing follows a redirect.
 */
import type { Headers } from '#src/domain/headers.ts';
import type { Egress, OutboundRequest, SendResult } from '#src/ports/egress.ts';
import type { Timers } from '#src/ports/timers.ts';
import { Connector, type ConnectorOptions } from './connector.ts';
import { type Connect, tcpConnect } from './dial.ts';
import { Exchange } from './exchange.ts';
import { BROKEN_OFF } from './failures.ts';
import { Lanes } from './lanes.ts';
import { type Resolve, systemResolver } from './resolver.ts';

export interface EgressOptions extends ConnectorOptions {
  readonly timers: Timers;
  /** The system's names, where it is left out. */
  readonly resolve?: Resolve;
  readonly connect?: Connect;
}

export function createEgress(options: EgressOptions): Egress {
  const { timers, resolve = systemResolver({ timers }), connect = tcpConnect } = options;
  return new GuardedEgress(new Lanes(new Connector(options, { timers, resolve, connect })), timers);
}

class GuardedEgress implements Egress {
  readonly #lanes: Lanes;
  readonly #timers: Timers;
  #isClosed = false;

  constructor(lanes: Lanes, timers: Timers) {
    this.#lanes = lanes;
    this.#timers = timers;
  }

  async send(request: OutboundRequest, signal: AbortSignal): Promise<SendResult> {
    if (this.#isClosed || signal.aborted) return BROKEN_OFF;
    return await new Promise<SendResult>((settle) => {
      const { method, url, headers, body } = request;
      const lane = this.#lanes.take(url);
      lane.dispatch(
        { method, path: `${url.pathname}${url.search}`, headers: flat(headers), body },
        new Exchange(this.#lanes, lane, this.#timers, signal, settle),
      );
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lanes.close();
  }
}

/** `Expect` asks for a go-ahead that we do not wait for, and undici refuses to send it. */
const UNSENT_NAME = 'expect';

function flat(headers: Headers): string[] {
  return headers.filter(([name]) => name.toLowerCase() !== UNSENT_NAME).flat();
}
