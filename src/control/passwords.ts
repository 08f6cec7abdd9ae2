/**
 * Passwords, kept as argon2id in the usual text (`$argon2id$v=19$m=19456,t=2,p=1$salt$tag`), which says by itself how
 * it was made: the cost can be raised, and what was made more cheaply is made anew when the password is next shown.
 *
 * To check one is meant to be dear, and anybody can ask for it: a few are checked at a time, a few more wait, the
 * rest is turned away. A name that does not exist costs as much as one that does, so that time tells nothing.
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
/** A stored text that asks for more than this was not made here. */
const MEMORY_KIB_MAX = 1_048_576;

const RUNNING_MAX = 2;
const WAITING_MAX = 32;
const BUSY_WAIT_MS = 1_000;

const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

export type Verdict = 'right' | 'wrong' | 'right_but_old';

export class Passwords {
  readonly #random: Random;
  readonly #cost: Cost;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(random: Random, cost: Cost = COST) {
    this.#random = random;
    this.#cost = cost;
  }

  /** Refuses where there is none. */
  requireCapacity(): void {
    if (this.#waiting.length >= WAITING_MAX) throw new ControlRefusal('login_throttled', '', BUSY_WAIT_MS);
  }

  /** The password as `normalised` gives it. */
  async hash(password: string): Promise<string> {
    const salt = this.#random.bytes(SALT_BYTES);
    return phcOf(this.#cost, salt, await this.#derive(password, salt, this.#cost, TAG_BYTES));
  }

  /** Against nothing that is stored, with `null`: it is wrong, and takes as long. */
  async check(password: string, stored: string | null): Promise<Verdict> {
    const parts = partsOf(stored ?? this.#decoy());
    if (parts === null) throw new Error('A stored password hash cannot be read.');
    const { salt, tag, cost } = parts;
    const derived = await this.#derive(password, salt, cost, tag.length);
    if (!timingSafeEqual(derived, tag) || stored === null) return 'wrong';
    return isSame(cost, this.#cost) && salt.length === SALT_BYTES && tag.length === TAG_BYTES
      ? 'right'
      : 'right_but_old';
  }

  /** No password makes this. */
  #decoy(): string {
    return phcOf(this.#cost, this.#random.bytes(SALT_BYTES), this.#random.bytes(TAG_BYTES));
  }

  async #derive(password: string, salt: Uint8Array, cost: Cost, tagBytes: number): Promise<Buffer> {
    await this.#turn();
    try {
      return await derived({
        message: password,
        nonce: salt,
        parallelism: cost.parallelism,
        tagLength: tagBytes,
        memory: cost.memoryKib,
        passes: cost.passes,
      });
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    if (this.#running >= RUNNING_MAX) {
      this.requireCapacity();
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
    this.#running += 1;
  }
}

function derived(parameters: Argon2Parameters): Promise<Buffer> {
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

function phcOf({ memoryKib, passes, parallelism: lanes }: Cost, salt: Uint8Array, tag: Uint8Array): string {
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(tag)}`;
}

function partsOf(stored: string) {
  const [, memory, passes, lanes, salt = '', tag = ''] = PHC.exec(stored) ?? [];
  const cost: Cost = { memoryKib: Number(memory), passes: Number(passes), parallelism: Number(lanes) };
  if (!(cost.memoryKib <= MEMORY_KIB_MAX && cost.passes > 0 && cost.parallelism > 0)) return null;
  return { cost, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
