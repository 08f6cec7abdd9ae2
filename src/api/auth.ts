/**
 * Bearer keys. Only their SHA-256 is known; a key found is trusted for a second, so that a revoked one is refused
 * within it. Until then whoever sends the very same header is let through without hashing and looking: what is
 * trusted is kept by that header, and all of it is forgotten at once when the first is too old.
 */
import { timingSafeEqual } from 'node:crypto';
import { hashKey } from '#src/domain/api-key.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { ControlStore, Tenant } from '#src/ports/control-store.ts';
import type { Clock } from '#src/ports/system.ts';
import { KeyUses } from './key-uses.ts';

const TRUSTED_MS = 900;
const TENANTS_MAX = 10_000;
/** Spaces before a key may be many: such a header is not kept. */
const HEADER_CHARACTERS_MAX = 512;
const BEARER = /^Bearer +(\S.*)$/i;

export class Keys {
  readonly #store: Pick<ControlStore, 'findTenant'>;
  readonly #uses: KeyUses;
  readonly #clock: Clock;
  readonly #trusted = new Map<string, Tenant>();
  /** When the first of those trusted was read. */
  #since: Instant;

  constructor(store: Pick<ControlStore, 'findTenant' | 'touchKeys'>, clock: Clock) {
    this.#store = store;
    this.#uses = new KeyUses(store);
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** Who the key in an `Authorization` header speaks for, if it was found a moment ago. */
  trusted(authorization: string | undefined): Tenant | null {
    const now = this.#clock.now();
    if (now < this.#since || now >= this.#since + TRUSTED_MS) this.#trusted.clear();
    return this.#trusted.get(authorization ?? '') ?? null;
  }

  /** Who the key in an `Authorization` header speaks for. */
  async tenantOf(authorization: string | undefined): Promise<Tenant> {
    const key = BEARER.exec(authorization ?? '')?.[1]?.trimEnd();
    if (authorization === undefined || key === undefined) throw new Refusal('missing_api_key');
    const hash = hashKey(key);
    const readAt = this.#clock.now();
    const tenant = await this.#store.findTenant(hash);
    if (tenant === null || !equal(tenant.keyHash, hash)) throw new Refusal('invalid_api_key');
    this.#trust(authorization, tenant, readAt);
    // Whoever goes on using it comes by here every second: that is often enough.
    this.#uses.note(hash, readAt);
    return tenant;
  }

  #trust(authorization: string, tenant: Tenant, readAt: Instant): void {
    if (authorization.length > HEADER_CHARACTERS_MAX) return;
    if (this.#trusted.size >= TENANTS_MAX) this.#trusted.clear();
    if (this.#trusted.size === 0) this.#since = readAt;
    // What was read before the others would be trusted for longer than it may.
    if (readAt >= this.#since) this.#trusted.set(authorization, tenant);
  }
}

function equal(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
