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

/** Newest first. */
export type Keys = readonly KeyObject[];

interface Read {
  readonly at: Instant;
  readonly keys: Promise<readonly SigningKey[]>;
  /** Once they are there. */
  opened: readonly SigningKey[] | null;
}

type World = Pick<EngineWorld, 'store' | 'vault' | 'clock'>;

export class SigningKeys {
  readonly #world: World;
  readonly #read = new LRUCache<Partition, Read>({ max: PARTITIONS_MAX });

  constructor(world: World) {
    this.#world = world;
  }

  async of(partition: Partition): Promise<Keys> {
    const now = this.#world.clock.now();
    return signingAt(await (this.#known(partition, now) ?? this.#readAt(partition, now)).keys, now);
  }

  /** The same where nothing has to be waited for; null where it has. */
  fresh(partition: Partition): Keys | null {
    const now = this.#world.clock.now();
    const opened = this.#known(partition, now)?.opened ?? null;
    return opened === null ? null : signingAt(opened, now);
  }

  #known(partition: Partition, now: Instant): Read | null {
    const known = this.#read.get(partition);
    return known !== undefined && Math.abs(now - known.at) < FRESH_MS ? known : null;
  }

  #readAt(partition: Partition, now: Instant): Read {
    const read: Read = { at: now, keys: this.#open(partition, now), opened: null };
    this.#read.set(partition, read);
    void this.#note(partition, read);
    return read;
  }

  async #note(partition: Partition, read: Read): Promise<void> {
    try {
      read.opened = await read.keys;
    } catch {
      this.#read.delete(partition);
    }
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

function signingAt(keys: readonly SigningKey[], now: Instant): Keys {
  return keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).map(({ key }) => key);
}
