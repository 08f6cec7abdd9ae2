/** The secrets that sign for a partition, opened, and read again when they are a second old: so fast a rotation counts. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import { signingSecretPlace } from '#src/domain/sealed-places.ts';
import type { EngineWorld } from './world.ts';

const FRESH_MS = 1_000;
const PARTITIONS_MAX = 1_000;

interface SigningKey {
  readonly key: KeyObject;
  readonly expiresAt: Instant | null;
}

interface Read {
  readonly at: Instant;
  readonly keys: Promise<readonly SigningKey[]>;
}

type World = Pick<EngineWorld, 'store' | 'vault' | 'clock'>;

export class SigningKeys {
  readonly #world: World;
  readonly #read = new LRUCache<Partition, Read>({ max: PARTITIONS_MAX });

  constructor(world: World) {
    this.#world = world;
  }

  /** Newest first. */
  async of(partition: Partition): Promise<readonly KeyObject[]> {
    const now = this.#world.clock.now();
    const keys = await this.#fresh(partition, now);
    return keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).map(({ key }) => key);
  }

  #fresh(partition: Partition, now: Instant): Promise<readonly SigningKey[]> {
    const known = this.#read.get(partition);
    if (known !== undefined && Math.abs(now - known.at) < FRESH_MS) return known.keys;
    const keys = this.#open(partition, now);
    this.#read.set(partition, { at: now, keys });
    keys.catch(() => this.#read.delete(partition));
    return keys;
  }

  async #open(partition: Partition, now: Instant): Promise<readonly SigningKey[]> {
    const { store, vault } = this.#world;
    const secrets = await store.listSecrets(partition, now);
    return secrets.map(({ id, sealed, expiresAt }) => ({
      key: createSecretKey(vault.open(signingSecretPlace(partition, id), sealed)),
      expiresAt,
    }));
  }
}
