/**
 * The inbox of `sched dev`. A receiver at `/inbox/hook` keeps the requests that it gets. A page at `/inbox`
 * shows them live and sets how they are answered. Everything is kept in memory and lost when the service ends.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Store } from '#src/ports/store.ts';
import type { Clock, Timers } from '#src/ports/system.ts';
import { EventStreams, type StreamEvent } from '#src/web/event-streams.ts';
import { mountPage } from '#src/web/page-files.ts';
import { headerOf } from '#src/web/request-headers.ts';
import { securityHeaders } from '#src/web/security-headers.ts';
import { Arrivals } from './arrivals.ts';
import type { About, InboxEvents } from './contract.ts';
import { presentDetails, presentSummary } from './present.ts';
import { Receiver, type ReceiverDependencies } from './receiver.ts';
import { type DeliveryEvent, RecentDeliveries } from './recent-deliveries.ts';
import { isAddressedToLoopback, isFromOwnPage } from './request-guard.ts';
import { Responder, readAnswerMode } from './responder.ts';

export const PATH = '/inbox';
export const HOOK = `${PATH}/hook`;
const HOOK_ROUTES: ReadonlySet<string | undefined> = new Set([HOOK, `${HOOK}/*`]);

const pageHeaders = securityHeaders({ 'form-action': "'none'" });

/** The options of every inbox route. The inbox is not part of the API, so it is neither logged nor measured. */
const UNREPORTED = { config: { isUnreported: true } } as const;

export interface InboxOptions {
  readonly store: Pick<Store, 'findDelivery'>;
  readonly clock: Clock;
  readonly timers: Timers;
  /** The signing secrets of the delivery, or those of `sched dev` for an unknown delivery. */
  readonly secretsOf: ReceiverDependencies['secretsOf'];
  /** Facts about the service that the page shows. */
  readonly about: () => About;
  /** The folder of the built page. */
  readonly pageFolder: string;
}

export function hookUrl(url: string): string {
  return `${url}${HOOK}`;
}

export function pageUrl(url: string): string {
  return `${url}${PATH}`;
}

export class Inbox {
  readonly #options: InboxOptions;
  readonly #streams: EventStreams;
  readonly #arrivals: Arrivals;
  readonly #responder = new Responder();
  readonly #deliveries: RecentDeliveries;
  readonly #receiver: Receiver;

  constructor(options: InboxOptions) {
    const { clock, store, timers, secretsOf } = options;
    this.#options = options;
    this.#streams = new EventStreams(timers);
    this.#arrivals = new Arrivals(String(clock.now()), ({ arrival, version }) =>
      this.#streams.send(this.#event('arrival', version, { arrival: presentSummary(arrival) })),
    );
    this.#deliveries = new RecentDeliveries(store, (delivery) => {
      for (const { number } of this.#arrivals.ofDelivery(delivery.id)) {
        this.#arrivals.update(number, { delivery });
      }
    });
    this.#receiver = new Receiver({
      clock,
      secretsOf,
      arrivals: this.#arrivals,
      responder: this.#responder,
      deliveries: this.#deliveries,
      redirectTo: `${HOOK}/elsewhere`,
      onModeChanged: () => this.#sendMode(),
    });
  }

  handle(event: DeliveryEvent): void {
    void this.#deliveries.handle(event);
  }

  /** Adds the inbox to the server of the service. */
  mount(server: FastifyInstance): void {
    server.addHook('onRequest', async (request, reply) => {
      if (HOOK_ROUTES.has(request.routeOptions.url) || isAddressedToLoopback(request.raw)) return;
      return forbid(
        reply,
        'This is `sched dev`, which answers only to its own machine. Use 127.0.0.1 or localhost in the URL.',
      );
    });
    server.addHook('preClose', async () => {
      this.#responder.close();
      this.#streams.end();
    });
    for (const path of [HOOK, `${HOOK}/*`]) this.#mountHook(server, path);
    server.register(async (scope) => this.#mountPage(scope), { prefix: PATH });
  }

  /** Bypasses the framework, which would not read the body of a GET and would refuse some content types. */
  #mountHook(server: FastifyInstance, path: string): void {
    server.all(path, {
      ...UNREPORTED,
      onRequest: (request, reply, _done) => {
        reply.hijack();
        this.#receiver.receive(request.raw, request.originalUrl, reply.raw).catch(() => reply.raw.destroy());
      },
      handler: () => {},
    });
  }

  async #mountPage(scope: FastifyInstance): Promise<void> {
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers({ ...pageHeaders(request.raw) });
      const isReading = request.method === 'GET' || request.method === 'HEAD';
      if (isReading || isFromOwnPage(request.raw)) return;
      return forbid(reply, 'Only the inbox page may send this request, and only as JSON.');
    });
    mountPage(scope, { folder: this.#options.pageFolder, hasLocations: false, ...UNREPORTED });
    scope.get('/events', UNREPORTED, (request, reply) => {
      reply.hijack();
      this.#openStream(request, reply);
    });
    scope.get('/arrivals/:number', UNREPORTED, (request, reply) => {
      const { number } = request.params as { readonly number: string };
      const arrival = this.#arrivals.find(Number(number));
      // A dropped arrival is not an error, and a browser would log a 404 as one.
      const details = arrival === null ? null : presentDetails(arrival);
      reply.header('content-type', 'application/json').send(JSON.stringify(details));
    });
    scope.post('/answer', UNREPORTED, (request, reply) => {
      this.#responder.setMode(readAnswerMode(request.body));
      this.#sendMode();
      reply.send(this.#responder.mode);
    });
    scope.post('/clear', UNREPORTED, (_request, reply) => {
      this.#arrivals.clear();
      this.#streams.send(this.#event('cleared', this.#arrivals.nextVersion(), {}));
      reply.send({ first: this.#arrivals.first });
    });
  }

  #openStream(request: FastifyRequest, reply: FastifyReply): void {
    const { seen: asked } = request.query as { readonly seen?: unknown };
    // A browser that reconnects by itself sends the newer id in the header.
    const lastEventId = headerOf(request.raw, 'last-event-id') ?? asked;
    const seen = typeof lastEventId === 'string' ? this.#arrivals.versionOf(lastEventId) : 0;
    const { about } = this.#options;
    const hello = { ...about(), isNew: seen === 0, answer: this.#responder.mode };
    const first = [
      this.#event('hello', seen, hello),
      ...this.#arrivals
        .changedAfter(seen)
        .map(({ arrival, version }) => this.#event('arrival', version, { arrival: presentSummary(arrival) })),
    ];
    this.#streams.open(reply.raw, { headers: pageHeaders(request.raw), first });
  }

  #sendMode(): void {
    const { mode } = this.#responder;
    this.#streams.send(this.#event('answer', this.#arrivals.nextVersion(), { answer: mode }));
  }

  /** Each event carries the number of the first arrival: those before it were dropped. */
  #event<Name extends keyof InboxEvents>(
    name: Name,
    version: number,
    data: Omit<InboxEvents[Name], 'first'>,
  ): StreamEvent {
    const { first } = this.#arrivals;
    return { id: this.#arrivals.eventId(version), name, data: JSON.stringify({ ...data, first }) };
  }
}

function forbid(reply: FastifyReply, why: string): FastifyReply {
  return reply.code(403).header('content-type', 'text/plain; charset=utf-8').send(`${why}\n`);
}
