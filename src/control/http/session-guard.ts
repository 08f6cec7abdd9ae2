/**
 * Authenticates the requests of the dashboard. The session's cookie identifies the user. An `Authorization` header is
 * ignored. A request that changes something must also come from the dashboard's own page (`origin-check.ts`) and carry
 * the session's CSRF token, which a page of another site cannot read.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ControlRefusal } from '#src/control/refusal.ts';
import {
  csrfToken,
  findSession,
  findSessionByHash,
  type SessionDependencies,
} from '#src/control/sessions.ts';
import { headerOf } from '#src/web/request-headers.ts';
import type { ClientAddressResolver } from './client-address.ts';
import { presentedToken } from './cookie.ts';
import { isFromOwnPage } from './origin-check.ts';
import type { Caller } from './route.ts';

const CSRF_HEADER = 'x-sched-csrf';
/** The page sends this header with requests that it makes by itself. */
const AUTOMATIC_HEADER = 'x-sched-automatic';

export class SessionGuard {
  readonly #dependencies: SessionDependencies;
  readonly #addresses: ClientAddressResolver;

  constructor(dependencies: SessionDependencies, addresses: ClientAddressResolver) {
    this.#dependencies = dependencies;
    this.#addresses = addresses;
  }

  /** Checks the origin of a change. It also applies before sign-in, so that no other site can sign a user in. */
  checkOrigin(request: IncomingMessage): void {
    if (isReading(request)) return;
    if (!isFromOwnPage(request) || !this.#addresses.isKnown(request)) throw new ControlRefusal('bad_origin');
  }

  /** `isStream`: a page keeps the request open by itself, so it does not count as use of the session. */
  async authenticate(request: IncomingMessage, isStream: boolean): Promise<Caller> {
    this.checkOrigin(request);
    const token = presentedToken(request);
    const found =
      token === null
        ? null
        : await findSession(this.#dependencies, token, !isStream && !isAutomatic(request));
    if (token === null || found === null) throw new ControlRefusal('not_signed_in');
    const given = headerOf(request, CSRF_HEADER) ?? '';
    if (!isReading(request) && !isEqual(given, csrfToken(token))) {
      throw new ControlRefusal('bad_csrf_token');
    }
    return { user: found.user, session: found.session, ...this.#addresses.resolve(request) };
  }

  /** Reads the session of a caller again. This does not count as use: the user may only have left a page open. */
  async recheck(caller: Caller): Promise<Caller> {
    const found = await findSessionByHash(this.#dependencies, caller.session.hash);
    if (found === null) throw new ControlRefusal('not_signed_in');
    const { address, peer } = caller;
    return { ...found, address, peer };
  }
}

/** A client may send this header falsely. Its session then only ends sooner. */
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
