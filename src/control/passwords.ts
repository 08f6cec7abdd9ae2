/**
 * Passwords are stored as argon2id hashes in the PHC format (`$argon2id$v=19$m=19456,t=2,p=1$salt$tag`), which names
 * its own cost. So the cost can be raised. A cheaper hash is replaced when its password is next checked.
 *
 * A check is expensive on purpose, and anybody can request one. So a semaphore runs a few at a time and lets a few
 * more wait. The rest is refused. An unknown name costs as much as a known one, so that the time reveals nothing.
 */
import { type Argon2Parameters, argon2, timingSafeEqual } from 'node:crypto';
import type { Random } from '#src/ports/system.ts';
import { ControlRefusal } from './refusal.ts';

export interface Cost {
  readonly memoryKib: number;
  readonly passes: number;
  readonly parallelism: number;
}

const COST: Cost = { memoryKib: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
/** A stored hash that needs more memory was not made here. */
const MEMORY_KIB_MAX = 1_048_576;

const RUNNING_MAX = 2;
const WAITING_MAX = 32;
const BUSY_RETRY_MS = 1_000;

const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** `needs_rehash`: the password is right, and its hash has another cost than new hashes have. */
export type Verdict = 'right' | 'wrong' | 'needs_rehash';

export class Passwords {
  readonly #random: Random;
  readonly #cost: Cost;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(random: Random, cost: Cost = COST) {
    this.#random = random;
    this.#cost = cost;
  }

  /** Refuses while as many wait as may. */
  requireCapacity(): void {
    if (this.#waiting.length >= WAITING_MAX) throw new ControlRefusal('login_throttled', '', BUSY_RETRY_MS);
  }

  /** Takes the password as `normalisePassword` returns it. */
  async hash(password: string): Promise<string> {
    const salt = this.#random.bytes(SALT_BYTES);
    return formatPhc(this.#cost, salt, await this.#derive(password, salt, this.#cost, TAG_BYTES));
  }

  /** A null hash stands for an unknown user. The password is then wrong, and the check takes as long as any other. */
  async check(password: string, stored: string | null): Promise<Verdict> {
    const parsed = parsePhc(stored ?? this.unmatched());
    if (parsed === null) throw new Error('A stored password hash cannot be read.');
    const { salt, tag, cost } = parsed;
    const derived = await this.#derive(password, salt, cost, tag.length);
    if (!timingSafeEqual(derived, tag) || stored === null) return 'wrong';
    return isSame(cost, this.#cost) && salt.length === SALT_BYTES && tag.length === TAG_BYTES
      ? 'right'
      : 'needs_rehash';
  }

  /** A random hash that no password matches. */
  unmatched(): string {
    return formatPhc(this.#cost, this.#random.bytes(SALT_BYTES), this.#random.bytes(TAG_BYTES));
  }

  async #derive(password: string, salt: Uint8Array, cost: Cost, tagBytes: number): Promise<Buffer> {
    await this.#acquire();
    try {
      return await deriveTag({
        message: password,
        nonce: salt,
        parallelism: cost.parallelism,
        tagLength: tagBytes,
        memory: cost.memoryKib,
        passes: cost.passes,
      });
    } finally {
      this.#release();
    }
  }

  async #acquire(): Promise<void> {
    if (this.#running >= RUNNING_MAX) {
      this.requireCapacity();
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
    this.#running += 1;
  }

  #release(): void {
    this.#running -= 1;
    this.#waiting.shift()?.();
  }
}

function deriveTag(parameters: Argon2Parameters): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, tag) => {
      if (error === null) resolve(tag);
      else reject(error);
    });
  });
}

function isSame(one: Cost, other: Cost): boolean {
  return (
    one.memoryKib === other.memoryKib && one.passes === other.passes && one.parallelism === other.parallelism
  );
}

function formatPhc({ memoryKib, passes, parallelism }: Cost, salt: Uint8Array, tag: Uint8Array): string {
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

function parsePhc(stored: string) {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(stored) ?? [];
  const cost: Cost = { memoryKib: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  if (!(cost.memoryKib <= MEMORY_KIB_MAX && cost.passes > 0 && cost.parallelism > 0)) return null;
  return { cost, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
