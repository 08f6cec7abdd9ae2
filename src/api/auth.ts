/** Bearer keys. Only their SHA-256 is known; a key found is trusted for a second, so that a revoked one is refused within it. */
import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { hashKey } from '#src/domain/api-key.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Clock } from '#src/ports/clock.ts';
import type { ControlStore, Tenant } from '#src/ports/control-store.ts';

const TRUSTED_MS = 900;
const TENANTS_MAX = 10_000;
const BEARER = /^Bearer +(\S.*)$/i;

export class Keys {
  readonly #store: Pick<ControlStore, 'findTenant'>;
  readonly #clock: Clock;
  readonly #known = new LRUCache<string, { readonly tenant: Tenant; readonly readAt: Instant }>({
    max: TENANTS_MAX,
  });

  constructor(store: Pick<ControlStore, 'findTenant'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Who the key in an `Authorization` header speaks for. */
  async tenantOf(authorization: string | undefined): Promise<Tenant> {
    const key = BEARER.exec(authorization ?? '')?.[1]?.trimEnd();
    if (key === undefined) throw new Refusal('missing_api_key');
    const hash = hashKey(key);
    const now = this.#clock.now();
    const known = this.#known.get(hash);
    if (known !== undefined && now >= known.readAt && now < known.readAt + TRUSTED_MS) return known.tenant;

    const tenant = await this.#store.findTenant(hash);
    if (tenant === null || !equal(tenant.keyHash, hash)) {
      this.#known.delete(hash);
      throw new Refusal('invalid_api_key');
    }
    this.#known.set(hash, { tenant, readAt: now });
    return tenant;
  }
}

function equal(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
