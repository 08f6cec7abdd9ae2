/**
 * Authenticates API keys. The store knows only their SHA-256. A key that was found is trusted for less than a
 * second, so that a revoked key is refused within a second. Until then the same `Authorization` header is
 * accepted without hashing and without reading the store. The first request after that time removes all cached
 * headers, so that keys do not stay in memory.
 */
import { timingSafeEqual } from 'node:crypto';
import { hashKey } from '#src/domain/api-key.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { ControlStore, Tenant } from '#src/ports/control-store.ts';
import type { Clock } from '#src/ports/system.ts';
import { missingKeyText, unknownKeyText } from '#src/texts/api-key-fault-text.ts';
import { KeyUsage } from './key-usage.ts';

const TRUSTED_MS = 900;
const TENANTS_MAX = 10_000;
/** A key may follow many spaces. A longer header is not cached. */
const HEADER_CHARACTERS_MAX = 512;
const BEARER = /^Bearer +(\S.*)$/i;

export class Authenticator {
  readonly #store: Pick<ControlStore, 'findTenant'>;
  readonly #usage: KeyUsage;
  readonly #clock: Clock;
  /** Tenants by the whole `Authorization` header. */
  readonly #cache = new Map<string, Tenant>();
  /** When the oldest entry of the cache was read. */
  #cachedSince: Instant;

  constructor(store: Pick<ControlStore, 'findTenant' | 'touchKeys'>, clock: Clock) {
    this.#store = store;
    this.#usage = new KeyUsage(store);
    this.#clock = clock;
    this.#cachedSince = clock.now();
  }

  /** Returns the tenant of an `Authorization` header, if its key was found a moment ago. */
  cachedTenant(authorization: string | undefined): Tenant | null {
    const ageMs = this.#clock.now() - this.#cachedSince;
    // A negative age means that the clock was set back, so the real age is unknown.
    if (ageMs < 0 || ageMs >= TRUSTED_MS) this.#cache.clear();
    return this.#cache.get(authorization ?? '') ?? null;
  }

  /** Returns the tenant of an `Authorization` header, or throws a Refusal. */
  async authenticate(authorization: string | undefined): Promise<Tenant> {
    const key = BEARER.exec(authorization ?? '')?.[1]?.trimEnd();
    if (authorization === undefined || key === undefined) {
      throw new Refusal('missing_api_key', null, missingKeyText(authorization));
    }
    const hash = hashKey(key);
    const readAt = this.#clock.now();
    const tenant = await this.#store.findTenant(hash);
    if (tenant === null || !equal(tenant.keyHash, hash)) {
      throw new Refusal('invalid_api_key', null, unknownKeyText(key));
    }
    this.#remember(authorization, tenant, readAt);
    // A key in constant use comes here about once a second, which is often enough to record its usage.
    this.#usage.record(hash, readAt);
    return tenant;
  }

  #remember(authorization: string, tenant: Tenant, readAt: Instant): void {
    if (authorization.length > HEADER_CHARACTERS_MAX) return;
    if (this.#cache.size >= TENANTS_MAX) this.#cache.clear();
    if (this.#cache.size === 0) this.#cachedSince = readAt;
    // A tenant that was read before the others would be trusted for too long.
    if (readAt >= this.#cachedSince) this.#cache.set(authorization, tenant);
  }
}

function equal(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
