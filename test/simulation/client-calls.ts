/** Sends the requests of customers. A client without an answer repeats its request. */
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { ApiCall, Rendered } from './api-call.ts';
import type { Contents } from './contents.ts';
import type { Observer } from './observer.ts';
import type { Request, Service } from './request.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface Clients {
  readonly time: VirtualTime;
  readonly observer: Observer;
  readonly partitions: readonly Partition[];
  readonly contents: Contents;
  /** A service or node that answers, or null while there is none. */
  pickService(): Service | null;
  /**
   * A client without an answer retries after this time. Null means that it waits as long as the service runs.
   */
  readonly timeoutMs: number | null;
  /** Plans an event of the simulation. */
  later(ms: number, act: () => void): void;
  trace(what: string): void;
  /** A process may crash around that instant. */
  maybeCrashAround(at: Instant): void;
  /** A client sends a request, perhaps again. */
  callSent(request: Request): void;
  callAnswered(call: ApiCall): void;
}

/** A call that was sent and not answered yet. */
interface PendingCall {
  readonly request: Request;
  readonly retries: number;
  readonly service: Service;
}

const RETRIES_MAX = 3;

export class ClientCalls {
  readonly #clients: Clients;
  readonly #prng: Prng;
  readonly #pending = new Set<PendingCall>();

  constructor(clients: Clients, prng: Prng) {
    this.#clients = clients;
    this.#prng = prng;
  }

  send(request: Request): void {
    this.#send(request, 0);
  }

  #send(request: Request, times: number): void {
    const service = this.#clients.pickService();
    if (service === null) {
      this.#retry(request, times);
      return;
    }
    const { what, label, partition, contentOf, triggers, notifies } = request;
    this.#clients.trace(`→ ${what}`);
    this.#clients.callSent(request);
    const calledMs = this.#clients.time.elapsedMs;
    const open: PendingCall = { request, retries: times, service };
    this.#pending.add(open);
    const { timeoutMs: patienceMs } = this.#clients;
    if (patienceMs !== null && request.repeats !== 'never') {
      this.#clients.later(patienceMs, () => void (this.#pending.has(open) && this.#timeOut(open)));
    }
    let rendered: Rendered | null = null;
    const show = (shown: Rendered): RenderedAnswer => {
      rendered = shown;
      return { status: 200, body: '{}' };
    };
    const asked =
      request.repeats === 'with_its_key'
        ? service.idempotency.once(partition, { key: label, fingerprint: label }, (keep) =>
            request.send(service, keep, show),
          )
        : request.send(service, () => null, show).then((finished) => ({ ...finished, replayed: false }));
    const call = {
      what,
      partition,
      label,
      ...(contentOf && { contentOf }),
      ...(triggers && { triggers }),
      ...(notifies && { notifies }),
      calledMs,
    };
    asked.then(
      ({ replayed, isUnchanged = false }) =>
        this.#answered(open, { ...call, rendered, error: null, replayed, isUnchanged }),
      (thrown: unknown) => {
        const error = thrown instanceof Error ? thrown : new Error('Thrown was no error.');
        const answer = { rendered: null, error, replayed: false, isUnchanged: false };
        if (this.#answered(open, { ...call, ...answer })) this.#retry(request, times);
      },
    );
  }

  /** Returns whether the client has to retry. */
  #answered(open: PendingCall, call: ApiCall): boolean {
    const isAwaited = this.#pending.delete(open);
    const { error } = call;
    this.#clients.trace(
      `← ${call.what}${error === null ? (call.replayed ? ' again' : '') : `: ${String(error)}`}`,
    );
    this.#clients.callAnswered(call);
    return isAwaited && error?.name === 'StoreUnavailable';
  }

  /** The service ended. Clients that wait for its answers retry. */
  serviceEnded(service: Service): void {
    for (const open of this.#pending) if (open.service === service) this.#timeOut(open);
  }

  #timeOut(open: PendingCall): void {
    this.#pending.delete(open);
    this.#retry(open.request, open.retries);
  }

  #retry(request: Request, times: number): void {
    if (request.repeats === 'never' || times >= RETRIES_MAX) return;
    this.#clients.later(this.#prng.between(100, 60_000), () => this.#send(request, times + 1));
  }
}
