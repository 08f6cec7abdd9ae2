/**
 * Who gets in. A session's cookie says who it is; an `Authorization` header is never looked at. Whoever wants to
 * change something must also come from the dashboard's own page (`own-page.ts`), and must know the session's token
 * against forgery, which a page of another site cannot read.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { csrfToken, findSession, lookUpSession, type SessionWorld } from '#src/control/sessions.ts';
import { presentedToken } from './cookie.ts';
import { DoorRefusal } from './errors.ts';
import { isFromOwnPage } from './own-page.ts';
import { addressOf, headerOf } from './request-facts.ts';
import type { Caller } from './route.ts';

const CSRF_HEADER = 'x-sched-csrf';

export class Door {
  readonly #world: SessionWorld;

  constructor(world: SessionWorld) {
    this.#world = world;
  }

  /** For those who have no session yet, and want one: a session must not be planted either. */
  checkOrigin(request: IncomingMessage): void {
    if (!isReading(request) && !isFromOwnPage(request)) throw new DoorRefusal('bad_origin');
  }

  async admit(request: IncomingMessage): Promise<Caller> {
    this.checkOrigin(request);
    const token = presentedToken(request);
    const found = token === null ? null : await findSession(this.#world, token);
    if (token === null || found === null) throw new DoorRefusal('not_signed_in');
    const given = headerOf(request, CSRF_HEADER) ?? '';
    if (!isReading(request) && !isEqual(given, csrfToken(token))) {
      throw new DoorRefusal('bad_csrf_token');
    }
    return { user: found.user, session: found.session, address: addressOf(request) };
  }

  /** The same person a while later. Whoever only leaves a page open does not use their session by that. */
  async lookUp(caller: Caller): Promise<Caller> {
    const found = await lookUpSession(this.#world, caller.session.hash);
    if (found === null) throw new DoorRefusal('not_signed_in');
    return { ...found, address: caller.address };
  }
}

function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET';
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
