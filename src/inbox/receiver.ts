/**
 * One request to the inbox's receiver: read as it came, held against the signing secrets, kept, and answered as
 * somebody chose on the page.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SECRETS_MAX, verify } from '#sdk/receiver/verify.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Clock } from '#src/ports/clock.ts';
import type { Answering, AnswerKind } from './answering.ts';
import type { Arrival, Sent, Signature } from './arrival.ts';
import type { Arrivals } from './arrivals.ts';
import { headerOf, headersOf, readBody } from './read-request.ts';
import type { Sightings } from './sightings.ts';

export interface ReceiverDependencies {
  readonly clock: Clock;
  readonly arrivals: Arrivals;
  readonly answering: Answering;
  readonly sightings: Sightings;
  /** Secrets that sign the delivery now. A delivery that is null was sent by another service. */
  readonly secretsOf: (delivery: Pick<Delivery, 'partition' | 'target'> | null) => Promise<readonly string[]>;
  /** Where a redirect leads. */
  readonly redirectTo: string;
  /** There is another choice now: this one was for so many requests only. */
  readonly usedUp: () => void;
}

type Asked = Pick<Arrival, 'at' | 'method' | 'target' | 'headers' | 'body'>;

export class Receiver {
  readonly #dependencies: ReceiverDependencies;

  constructor(dependencies: ReceiverDependencies) {
    this.#dependencies = dependencies;
  }

  /** `target`: path and query as they came, whatever the server has made of them since. */
  async receive(request: IncomingMessage, target: string, response: ServerResponse): Promise<void> {
    const { clock, arrivals, answering, sightings } = this.#dependencies;
    const at = clock.now();
    // A sender that goes away while it is being answered is no fault.
    response.on('error', () => {});
    const body = await readBody(request);
    if (body === null) return refuse(response);
    const { method = '' } = request;
    const asked = { at, method, target, headers: headersOf(request), body };
    const { signature, sent } = await this.#judge(asked);
    const { choice } = answering;
    const answer = answering.take();
    const number = arrivals.add({
      ...asked,
      signature,
      sent,
      delivery: sent === null ? null : (sightings.find(sent.deliveryId)?.delivery ?? null),
      answered: answer === 'hang' ? { kind: 'hangs' } : { kind: 'answered', status: STATUS_OF[answer] },
    });
    if (choice !== answering.choice) this.#dependencies.usedUp();
    if (answer === 'hang') this.#hang(number, at, response);
    else this.#send(answer, response);
  }

  async #judge(asked: Asked): Promise<{ readonly signature: Signature; readonly sent: Sent | null }> {
    const { clock, sightings, secretsOf } = this.#dependencies;
    const { method, target, headers, body } = asked;
    const sighting = sightings.find(headerOf(headers, 'Sched-Delivery-Id') ?? '');
    const secrets = await secretsOf(sighting?.delivery ?? null);
    const received = {
      method,
      url: target,
      headers: { get: (name: string) => headerOf(headers, name) },
      body,
    };
    // The newest come first.
    const verdict = await verify(received, secrets.slice(0, SECRETS_MAX), { now: clock.now() });
    if (!verdict.ok) return { signature: { verified: false, why: verdict.message }, sent: null };
    const { deliveryId, attempt } = verdict;
    const dueAt = sighting?.attemptNo === attempt ? sighting.dueAt : null;
    return { signature: { verified: true }, sent: { deliveryId, attemptNo: attempt, dueAt } };
  }

  /** Until somebody chooses another answer, or its sender gives up. */
  #hang(number: number, at: Instant, response: ServerResponse): void {
    const { clock, arrivals, answering } = this.#dependencies;
    const forget = answering.hang((answer) => {
      this.#send(answer, response);
      arrivals.update(number, { answered: { kind: 'answered', status: STATUS_OF[answer] } });
    });
    response.once('close', () => {
      forget();
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

function refuse(response: ServerResponse): void {
  write(response, TOO_LARGE_STATUS, { connection: 'close' });
}

function write(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>): void {
  const text = `The inbox answers ${status}.\n`;
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
  response.end(text);
}
