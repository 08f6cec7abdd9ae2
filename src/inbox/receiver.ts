/**
 * The receiver of the inbox. It reads each request, verifies its signature, keeps it, and answers it as the
 * developer has set on the page.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SECRETS_MAX, verify } from '#sdk/receiver/verify.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Clock } from '#src/ports/system.ts';
import { headerOf } from '#src/web/request-headers.ts';
import type { Arrival, Arrivals, SentAttempt } from './arrivals.ts';
import type { AnswerKind, Signature } from './contract.ts';
import { headersOf, readBody } from './read-request.ts';
import type { RecentDeliveries } from './recent-deliveries.ts';
import type { Responder } from './responder.ts';

export interface ReceiverDependencies {
  readonly clock: Clock;
  readonly arrivals: Arrivals;
  readonly responder: Responder;
  readonly deliveries: RecentDeliveries;
  /** The present signing secrets of the delivery. Null stands for a delivery of another service. */
  readonly secretsOf: (delivery: Pick<Delivery, 'partition' | 'target'> | null) => Promise<readonly string[]>;
  /** The target of the redirect answer. */
  readonly redirectTo: string;
  /** The answer mode was for a number of requests, and this request has changed it. */
  readonly onModeChanged: () => void;
}

type ReadRequest = Pick<Arrival, 'at' | 'method' | 'target' | 'headers' | 'body'>;

export class Receiver {
  readonly #dependencies: ReceiverDependencies;

  constructor(dependencies: ReceiverDependencies) {
    this.#dependencies = dependencies;
  }

  /** `target` is the path and query as received, before the server rewrote them. */
  async receive(request: IncomingMessage, target: string, response: ServerResponse): Promise<void> {
    const { clock, arrivals, responder, deliveries } = this.#dependencies;
    const at = clock.now();
    // A sender that disconnects while it is answered is not an error.
    response.on('error', () => {});
    const body = await readBody(request);
    if (body === null) return refuseBody(response);
    const { method = '' } = request;
    const received = { at, method, target, headers: headersOf(request), body };
    const { signature, sent } = await this.#verify(received, request);
    const { mode } = responder;
    const answer = responder.next();
    const number = arrivals.add({
      ...received,
      signature,
      sent,
      delivery: sent === null ? null : (deliveries.find(sent.deliveryId)?.delivery ?? null),
      answered: answer === 'hang' ? { kind: 'hangs' } : { kind: 'answered', status: STATUS_OF[answer] },
    });
    if (mode !== responder.mode) this.#dependencies.onModeChanged();
    if (answer === 'hang') this.#hang(number, at, response);
    else this.#send(answer, response);
  }

  async #verify(
    { method, target, body }: ReadRequest,
    request: IncomingMessage,
  ): Promise<{ readonly signature: Signature; readonly sent: SentAttempt | null }> {
    const { clock, deliveries, secretsOf } = this.#dependencies;
    const get = (name: string) => headerOf(request, name.toLowerCase());
    const known = deliveries.find(get('Sched-Delivery-Id') ?? '');
    const secrets = await secretsOf(known?.delivery ?? null);
    const signed = { method, url: target, headers: { get }, body };
    // The newest secrets come first.
    const verdict = await verify(signed, secrets.slice(0, SECRETS_MAX), { now: clock.now() });
    if (!verdict.ok) return { signature: { verified: false, why: verdict.message }, sent: null };
    const { deliveryId, attempt } = verdict;
    const dueAt = known?.attemptNo === attempt ? known.dueAt : null;
    return { signature: { verified: true }, sent: { deliveryId, attemptNo: attempt, dueAt } };
  }

  /** Waits until another answer is set or the sender gives up. */
  #hang(number: number, at: Instant, response: ServerResponse): void {
    const { clock, arrivals, responder } = this.#dependencies;
    const cancel = responder.hang((answer) => {
      this.#send(answer, response);
      arrivals.update(number, { answered: { kind: 'answered', status: STATUS_OF[answer] } });
    });
    response.once('close', () => {
      cancel();
      if (response.headersSent) return;
      arrivals.update(number, { answered: { kind: 'gave_up', afterMs: clock.now() - at } });
    });
  }

  #send(answer: Exclude<AnswerKind, 'hang'>, response: ServerResponse): void {
    write(
      response,
      STATUS_OF[answer],
      answer === 'redirect' ? { location: this.#dependencies.redirectTo } : {},
    );
  }
}

const STATUS_OF = { 200: 200, 500: 500, redirect: 302 } as const satisfies Record<string, number>;
const TOO_LARGE_STATUS = 413;

function refuseBody(response: ServerResponse): void {
  write(response, TOO_LARGE_STATUS, { connection: 'close' });
}

function write(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>): void {
  const text = `The inbox answers ${status}.\n`;
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
  response.end(text);
}
