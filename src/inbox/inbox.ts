/**
 * The inbox of `sched dev`: a receiver at `/inbox/hook` that keeps what it gets, and a page at `/inbox` that shows
 * it live and says how to answer. All of it is in memory, and gone when the service ends.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#src/ports/clock.ts';
import type { Store } from '#src/ports/store.ts';
import type { Timers } from '#src/ports/timers.ts';
import { Answering } from './answering.ts';
import { Arrivals } from './arrivals.ts';
import type { Happening } from './happening.ts';
import { isAddressedToLoopback, isFromOwnPage } from './own-requests.ts';
import { PAGE_HEADERS, pageFiles, UNREPORTED } from './page-files.ts';
import { presentDetails, presentLine } from './present.ts';
import { readChoice } from './read-choice.ts';
import { headerOf, headersOf } from './read-request.ts';
import { Receiver, type ReceiverDependencies } from './receiver.ts';
import { Sightings } from './sightings.ts';
import { type StreamEvent, Streams } from './streams.ts';

const PATH = '/inbox';
const HOOK = `${PATH}/hook`;
const HOOK_ROUTES: ReadonlySet<string | undefined> = new Set([HOOK, `${HOOK}/*`]);

export interface InboxOptions {
  readonly store: Pick<Store, 'findDelivery'>;
  readonly clock: Clock;
  readonly timers: Timers;
  /** The secrets that sign the delivery now; those of the playground where it is not known. */
  readonly secretsOf: ReceiverDependencies['secretsOf'];
  /** What the page shows of the service. */
  readonly about: () => About;
}

export interface About {
  /** A command that makes a first delivery. */
  readonly curl: string;
  /** The same request, for the page to send. */
  readonly sample: { readonly key: string; readonly body: object };
  readonly hook: string;
}

export function hookUrl(url: string): string {
  return `${url}${HOOK}`;
}

export function pageUrl(url: string): string {
  return `${url}${PATH}`;
}

export class Inbox {
  readonly #options: InboxOptions;
  readonly #streams: Streams;
  readonly #arrivals: Arrivals;
  readonly #answering = new Answering();
  readonly #sightings: Sightings;
  readonly #receiver: Receiver;

  constructor(options: InboxOptions) {
    const { clock, store, timers, secretsOf } = options;
    this.#options = options;
    this.#streams = new Streams(String(clock.now()), timers);
    this.#arrivals = new Arrivals(({ arrival, change }) =>
      this.#streams.send(this.#event('arrival', change, { arrival: presentLine(arrival) })),
    );
    this.#sightings = new Sightings(store, (delivery) => {
      for (const { number } of this.#arrivals.ofDelivery(delivery.id)) {
        this.#arrivals.update(number, { delivery });
      }
    });
    this.#receiver = new Receiver({
      clock,
      secretsOf,
      arrivals: this.#arrivals,
      answering: this.#answering,
      sightings: this.#sightings,
      redirectTo: `${HOOK}/elsewhere`,
      usedUp: () => this.#tellAnswer(),
    });
  }

  hear(happening: Happening): void {
    void this.#sightings.hear(happening);
  }

  /** On the server of the service. */
  mount(server: FastifyInstance): void {
    server.addHook('onRequest', async (request, reply) => {
      if (HOOK_ROUTES.has(request.routeOptions.url) || isAddressedToLoopback(request.raw)) return;
      return forbid(reply, 'This is `sched dev`: call it by 127.0.0.1 or localhost.');
    });
    server.addHook('preClose', async () => {
      this.#answering.end();
      this.#streams.end();
    });
    for (const path of [HOOK, `${HOOK}/*`]) this.#hook(server, path);
    server.register(async (scope) => this.#page(scope), { prefix: PATH });
  }

  /** The framework has no part in it: it would not read the body of a GET, nor take any content type. */
  #hook(server: FastifyInstance, path: string): void {
    server.all(path, {
      ...UNREPORTED,
      onRequest: (request, reply, _done) => {
        reply.hijack();
        this.#receiver.receive(request.raw, request.originalUrl, reply.raw).catch(() => reply.raw.destroy());
      },
      handler: () => {},
    });
  }

  async #page(scope: FastifyInstance): Promise<void> {
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers({ ...PAGE_HEADERS });
      if (request.method === 'GET' || isFromOwnPage(request.raw)) return;
      return forbid(reply, 'Only the page itself may do this, with JSON.');
    });
    pageFiles(scope);
    scope.get('/events', UNREPORTED, (request, reply) => {
      reply.hijack();
      this.#openStream(request, reply);
    });
    scope.get('/arrivals/:number', UNREPORTED, (request, reply) => {
      const { number } = request.params as { readonly number: string };
      const arrival = this.#arrivals.find(Number(number));
      // One that is gone is no fault, and a browser would log a 404 as one.
      const details = arrival === null ? null : presentDetails(arrival);
      reply.header('content-type', 'application/json').send(JSON.stringify(details));
    });
    scope.post('/answer', UNREPORTED, (request, reply) => {
      this.#answering.choose(readChoice(request.body));
      this.#tellAnswer();
      reply.send(this.#answering.choice);
    });
    scope.post('/clear', UNREPORTED, (_request, reply) => {
      this.#arrivals.clear();
      this.#streams.send(this.#event('cleared', this.#arrivals.countChange(), {}));
      reply.send({ first: this.#arrivals.first });
    });
  }

  #openStream(request: FastifyRequest, reply: FastifyReply): void {
    const { seen: asked } = request.query as { readonly seen?: unknown };
    // A browser that connects again by itself says the newer one.
    const lastEventId = headerOf(headersOf(request.raw), 'last-event-id') ?? asked;
    const seen = this.#streams.seenBy(typeof lastEventId === 'string' ? lastEventId : null);
    const { about } = this.#options;
    const hello = { ...about(), isNew: seen === 0, answer: this.#answering.choice };
    this.#streams.open(reply.raw, PAGE_HEADERS, [
      this.#event('hello', seen, hello),
      ...this.#arrivals
        .changedAfter(seen)
        .map(({ arrival, change }) => this.#event('arrival', change, { arrival: presentLine(arrival) })),
    ]);
  }

  #tellAnswer(): void {
    const { choice } = this.#answering;
    this.#streams.send(this.#event('answer', this.#arrivals.countChange(), { answer: choice }));
  }

  /** Each says which arrivals are gone: those before the first. */
  #event(name: StreamEvent['name'], change: number, data: object): StreamEvent {
    return { name, change, data: { ...data, first: this.#arrivals.first } };
  }
}

function forbid(reply: FastifyReply, why: string): FastifyReply {
  return reply.code(403).header('content-type', 'text/plain; charset=utf-8').send(`${why}\n`);
}
