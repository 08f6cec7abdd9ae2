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
import { BROKEN_OFF, notSent } from './failures.ts';
import { type EgressRules, judgeUrl } from './guard.ts';
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
  const lanes = new Lanes(new Connector(options, { timers, resolve, connect }));
  return new GuardedEgress(options, lanes, timers);
}

class GuardedEgress implements Egress {
  readonly #rules: EgressRules;
  readonly #lanes: Lanes;
  readonly #timers: Timers;
  #isClosed = false;

  constructor(rules: EgressRules, lanes: Lanes, timers: Timers) {
    this.#rules = rules;
    this.#lanes = lanes;
    this.#timers = timers;
  }

  async send(request: OutboundRequest, signal: AbortSignal): Promise<SendResult> {
    if (this.#isClosed || signal.aborted) return BROKEN_OFF;
    try {
      judgeUrl(request.url, this.#rules);
      return await this.#exchange(request, signal);
    } catch (error) {
      return notSent(error).result;
    }
  }

  #exchange({ method, url, headers, body }: OutboundRequest, signal: AbortSignal): Promise<SendResult> {
    return new Promise((settle) => {
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
