/**
 * The simulated network. Each host behaves well, badly, slowly or not at all, and changes its behaviour over
 * time. The network records every request that it was given, independent of the store and of the process that
 * sent it.
 */
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { AnswerExcerpt, Egress, OutboundRequest, SendResult } from '#src/ports/egress.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { Scope, VirtualTime } from './virtual-time.ts';

export const HOSTS = ['alpha', 'bravo', 'charlie', 'delta', 'echo'] as const;
export type Host = (typeof HOSTS)[number];

/** How a request ended: the engine got a result, the engine aborted it, or its process ended first. */
export type RequestOutcome =
  | { readonly kind: 'answered'; readonly result: SendResult }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'orphaned' };

export interface SentRequest {
  readonly node: string;
  readonly deliveryId: DeliveryId;
  readonly attemptNo: number;
  readonly idempotencyKey: string;
  readonly url: string;
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array | null;
  /** When it was sent: by the sender's wall clock, and in simulated time. */
  readonly at: Instant;
  readonly elapsedMs: number;
  outcome: RequestOutcome | null;
  endedMs: number | null;
  endedAt: Instant | null;
}

type HostBehaviour =
  | 'healthy'
  | 'flaky'
  | 'broken'
  | 'refusing'
  | 'redirecting'
  | 'hanging'
  | 'slow'
  | 'resetting'
  | 'unresolved'
  | 'forbidden';

const BEHAVIOURS: readonly (readonly [number, HostBehaviour])[] = [
  [40, 'healthy'],
  [14, 'flaky'],
  [14, 'broken'],
  [6, 'refusing'],
  [2, 'redirecting'],
  [6, 'hanging'],
  [6, 'slow'],
  [6, 'resetting'],
  [4, 'unresolved'],
  [2, 'forbidden'],
];

const BEHAVIOUR_LASTS_MS: readonly (readonly [number, readonly [number, number]])[] = [
  [3, [2_000, 20_000]],
  [4, [20_000, 300_000]],
  [3, [300_000, 7_200_000]],
];

/** These hosts keep their behaviour until the faults stop. */
export const HANGING_HOST = 'hanging.example';
export const PROMPT_HOST = 'prompt.example';
export const UNKNOWN_HOST = 'unknown.example';
const FIXED_BEHAVIOURS: Readonly<Record<string, HostBehaviour>> = {
  [HANGING_HOST]: 'hanging',
  [PROMPT_HOST]: 'healthy',
  [UNKNOWN_HOST]: 'unresolved',
};

/** A process and its clock. */
interface Sender {
  readonly node: string;
  readonly scope: Scope;
  readonly clock: Clock;
}

interface HostState {
  behaviour: HostBehaviour;
  until: number;
}

type Reaction =
  | { readonly afterMs: number; readonly result: SendResult }
  /** The host never answers. */
  | null;

/** The operator's setting in every run. */
export const EXCERPT_BYTES_MAX = 4_096;

/** How long the bodies of answers take, up to the bound of the egress. */
const BODY_MS = [0, 0, 0, 0, 0, 40, 700, 2_000];

/** What is answered to an attempt that is refused. */
export function answerTextOf({
  deliveryId,
  attemptNo,
}: Pick<SentRequest, 'deliveryId' | 'attemptNo'>): string {
  return `no to ${deliveryId} ${attemptNo}`;
}

/** The body of one answer. */
class AnswerBody {
  readonly #ended = Promise.withResolvers<AnswerExcerpt>();
  readonly #text: string;

  constructor(sent: SentRequest) {
    this.#text = answerTextOf(sent);
  }

  get excerpt(): Promise<AnswerExcerpt> {
    return this.#ended.promise;
  }

  end(): void {
    const bytes = Buffer.from(this.#text);
    this.#ended.resolve({ contentType: 'text/plain', bytes, isTruncated: false });
  }
}

export interface NetworkListener {
  sent(sent: SentRequest): void;
  ended(sent: SentRequest): void;
}

export class Network {
  readonly #time: VirtualTime;
  readonly #prng: Prng;
  readonly #listener: NetworkListener;
  readonly #hosts = new Map<string, HostState>();
  readonly #inFlight = new Set<SentRequest>();
  #isHealed = false;

  constructor(time: VirtualTime, prng: Prng, receipts: NetworkListener) {
    this.#time = time;
    this.#prng = prng;
    this.#listener = receipts;
  }

  /** From now on every host is healthy. */
  heal(): void {
    this.#isHealed = true;
  }

  /** The egress of one process. Requests in flight are answered only while the process runs. */
  egress(node: string, scope: Scope, clock: Clock): Egress {
    return {
      send: (request, onEnd) => this.#send({ node, scope, clock }, request, onEnd),
      warm: () => {},
      close: async () => {},
    };
  }

  #send(sender: Sender, request: OutboundRequest, onEnd: (result: SendResult) => void): () => void {
    const { node, scope, clock } = sender;
    const headers = new Map(request.headers.map(([name, value]) => [name.toLowerCase(), value]));
    const sent: SentRequest = {
      node,
      deliveryId: (headers.get('sched-delivery-id') ?? '') as DeliveryId,
      attemptNo: Number(headers.get('sched-attempt')),
      idempotencyKey: headers.get('idempotency-key') ?? '',
      url: request.url.href,
      method: request.method,
      headers,
      body: request.body,
      at: clock.now(),
      elapsedMs: this.#time.elapsedMs,
      outcome: null,
      endedMs: null,
      endedAt: null,
    };
    this.#inFlight.add(sent);
    this.#listener.sent(sent);
    const reaction = this.#reaction(request.url.hostname);
    const body = new AnswerBody(sent);
    const callOff =
      reaction === null
        ? () => {}
        : this.#time.after(reaction.afterMs, 'work', scope, () => {
            this.#end(sent, { kind: 'answered', result: reaction.result }, clock);
            onEnd(this.#withExcerpt(reaction.result, sent, request, body, scope));
          });
    return () => {
      body.end();
      if (sent.outcome !== null) return;
      callOff();
      this.#end(sent, { kind: 'aborted' }, clock);
      onEnd({ kind: 'failed', failure: 'aborted' });
    };
  }

  /** The body of most answers arrives with the head. Some are slow, and some do not end within the bound. */
  #withExcerpt(
    result: SendResult,
    { deliveryId, attemptNo }: SentRequest,
    { excerptBytesMax }: OutboundRequest,
    body: AnswerBody,
    scope: Scope,
  ): SendResult {
    if (result.kind === 'failed' || result.statusCode < 300 || excerptBytesMax === 0) return result;
    // Not drawn: the seeds of other behaviours stay as they are.
    const kind = ((deliveryId.codePointAt(deliveryId.length - 1) ?? 0) + attemptNo) % BODY_MS.length;
    const bodyMs = BODY_MS[kind] ?? 0;
    if (bodyMs === 0) body.end();
    else this.#time.after(bodyMs, 'work', scope, () => body.end());
    return { ...result, excerpt: body.excerpt };
  }

  #end(sent: SentRequest, outcome: RequestOutcome, clock: Clock): void {
    sent.outcome = outcome;
    sent.endedMs = this.#time.elapsedMs;
    sent.endedAt = clock.now();
    this.#inFlight.delete(sent);
    this.#listener.ended(sent);
  }

  /** The process has ended. Its requests may arrive, but no process learns how they ended. */
  orphan(node: string): void {
    for (const sent of this.#inFlight)
      if (sent.node === node) this.#end(sent, { kind: 'orphaned' }, this.#time);
  }

  #behaviour(host: string): HostBehaviour {
    if (this.#isHealed) return 'healthy';
    const steady = FIXED_BEHAVIOURS[host];
    if (steady !== undefined) return steady;
    const now = this.#time.elapsedMs;
    const state = this.#hosts.get(host) ?? { behaviour: 'healthy', until: 0 };
    while (state.until <= now) {
      const [from, to] = this.#prng.weighted(BEHAVIOUR_LASTS_MS);
      state.behaviour = this.#prng.weighted(BEHAVIOURS);
      state.until = Math.max(state.until, now - 10_000) + this.#prng.between(from, to);
    }
    this.#hosts.set(host, state);
    return state.behaviour;
  }

  #reaction(host: string): Reaction {
    const prng = this.#prng;
    const soon = prng.chance(0.9) ? prng.between(1, 80) : prng.between(80, 3_000);
    const ok: SendResult = { kind: 'answered', statusCode: prng.pick([200, 200, 201, 204]) };
    switch (this.#behaviour(host)) {
      case 'healthy':
        return { afterMs: soon, result: prng.chance(0.97) ? ok : { kind: 'answered', statusCode: 503 } };
      case 'flaky':
        return { afterMs: soon, result: prng.chance(0.5) ? ok : this.#failure() };
      case 'broken':
        return { afterMs: soon, result: { kind: 'answered', statusCode: prng.pick([500, 502, 503, 504]) } };
      case 'refusing':
        return { afterMs: soon, result: { kind: 'answered', statusCode: prng.pick([400, 404, 410, 429]) } };
      case 'redirecting':
        return { afterMs: soon, result: { kind: 'answered', statusCode: prng.pick([301, 302, 307]) } };
      case 'hanging':
        return null;
      case 'slow':
        return { afterMs: prng.between(1_000, 45_000), result: ok };
      case 'resetting':
        return { afterMs: soon, result: { kind: 'failed', failure: 'connection_reset' } };
      case 'unresolved':
        return { afterMs: soon, result: { kind: 'failed', failure: 'name_unresolved' } };
      case 'forbidden':
        return { afterMs: 0, result: { kind: 'failed', failure: 'address_not_allowed' } };
    }
  }

  #failure(): SendResult {
    return this.#prng.pick<SendResult>([
      { kind: 'answered', statusCode: 500 },
      { kind: 'answered', statusCode: 429 },
      { kind: 'failed', failure: 'connection_refused' },
      { kind: 'failed', failure: 'connection_reset' },
    ]);
  }
}
