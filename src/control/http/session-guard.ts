/**
 * Who gets in. A session's cookie says who it is; an `Authorization` header is never looked at. Whoever wants to
 * change something must also come from the dashboard's own page (`own-page.ts`), and must know the session's token
 * against forgery, which a page of another site cannot read.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  csrfToken,
  findSession,
  findSessionByHash,
  type SessionDependencies,
} from '#src/control/sessions.ts';
import type { ClientAddressResolver } from './client-address.ts';
import { presentedToken } from './cookie.ts';
import { AccessRefusal } from './errors.ts';
import { isFromOwnPage } from './origin-check.ts';
import { headerOf } from './request-headers.ts';
import type { Caller } from './route.ts';

const CSRF_HEADER = 'x-sched-csrf';
/** The page marks with it what it asks for by itself. */
const AUTOMATIC_HEADER = 'x-sched-automatic';

export class SessionGuard {
  readonly #dependencies: SessionDependencies;
  readonly #addresses: ClientAddressResolver;

  constructor(dependencies: SessionDependencies, addresses: ClientAddressResolver) {
    this.#dependencies = dependencies;
    this.#addresses = addresses;
  }

  /** For those who have no session yet, and want one: a session must not be planted either. */
  checkOrigin(request: IncomingMessage): void {
    if (isReading(request)) return;
    if (!isFromOwnPage(request) || !this.#addresses.isKnown(request)) throw new AccessRefusal('bad_origin');
  }

  /** `isStream`: a page keeps it open by itself. */
  async authenticate(request: IncomingMessage, isStream: boolean): Promise<Caller> {
    this.checkOrigin(request);
    const token = presentedToken(request);
    const found =
      token === null
        ? null
        : await findSession(this.#dependencies, token, !isStream && !isAutomatic(request));
    if (token === null || found === null) throw new AccessRefusal('not_signed_in');
    const given = headerOf(request, CSRF_HEADER) ?? '';
    if (!isReading(request) && !isEqual(given, csrfToken(token))) {
      throw new AccessRefusal('bad_csrf_token');
    }
    return { user: found.user, session: found.session, ...this.#addresses.resolve(request) };
  }

  /** The same person a while later. Whoever only leaves a page open does not use their session by that. */
  async recheck(caller: Caller): Promise<Caller> {
    const found = await findSessionByHash(this.#dependencies, caller.session.hash);
    if (found === null) throw new AccessRefusal('not_signed_in');
    const { address, peer } = caller;
    return { ...found, address, peer };
  }
}

/** It can only let a session end sooner. */
export function isAutomatic(request: IncomingMessage): boolean {
  return headerOf(request, AUTOMATIC_HEADER) !== null;
}

function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET';
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
