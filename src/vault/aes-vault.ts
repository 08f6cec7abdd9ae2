/**
 * Encrypts data at rest with AES-256-GCM. A sealed value is: format (1 byte), key id (8), nonce (12), tag (16),
 * ciphertext.
 *
 * A context is `<scope>/<row>`, such as `payload/7/sch_…`. Each scope has its own key, derived from the master
 * key. So the random nonces of one key stay far from their limit, however much a service stores. The whole
 * context is authenticated, so a ciphertext opens only in its own row. The key id names the master key. To
 * rotate, seal with a new key and keep the old one for reading.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
} from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { largeCache } from '#src/ports/large-cache.ts';
import type { Random } from '#src/ports/system.ts';
import { type ResealingVault, SEALED_HEAD_BYTES } from '#src/ports/vault.ts';
import { MASTER_KEY_BYTES } from './master-key.ts';

const FORMAT = 1;
const KEY_ID_BYTES = SEALED_HEAD_BYTES - 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The head consists of format and key id. */
const NONCE_AT = SEALED_HEAD_BYTES;
const TAG_AT = NONCE_AT + NONCE_BYTES;
const TEXT_AT = TAG_AT + TAG_BYTES;
const KEYED_HASH_CHARACTERS = 16;

/** The value was sealed with an unknown key, was sealed for another row, or was changed. */
export class UnsealError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnsealError';
  }
}

/** Creating a key object costs more than using it, so those of recent scopes are cached. */
const SCOPES_MAX = 10_000;

interface MasterKey {
  readonly id: Buffer;
  readonly key: KeyObject;
  readonly scopes: LRUCache<string, KeyObject>;
}

export class AesVault implements ResealingVault {
  readonly #random: Random;
  readonly #current: MasterKey;
  readonly #keys: readonly MasterKey[];

  /** Seals with `key`. Opens values that were sealed with it or with one of `previous`. */
  constructor(random: Random, key: Uint8Array, previous: readonly Uint8Array[] = []) {
    this.#random = random;
    this.#current = masterKey(key);
    this.#keys = [this.#current, ...previous.map(masterKey)];
  }

  seal(context: string, plain: Uint8Array): Uint8Array {
    const nonce = this.#random.bytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', derive(this.#current, context), nonce);
    cipher.setAAD(Buffer.from(context));
    const text = cipher.update(plain);
    cipher.final();
    const sealed = Buffer.allocUnsafe(TEXT_AT + text.length);
    sealed[0] = FORMAT;
    this.#current.id.copy(sealed, 1);
    sealed.set(nonce, NONCE_AT);
    cipher.getAuthTag().copy(sealed, TAG_AT);
    text.copy(sealed, TEXT_AT);
    return sealed;
  }

  isCurrentKey(head: Uint8Array): boolean {
    return head[0] === FORMAT && this.#current.id.equals(head.subarray(1, NONCE_AT));
  }

  open(context: string, sealed: Uint8Array): Uint8Array {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes.length < TEXT_AT || bytes[0] !== FORMAT)
      throw new UnsealError('The value is not a sealed value.');
    const key = this.#keys.find(({ id }) => id.equals(bytes.subarray(1, NONCE_AT)));
    if (key === undefined) throw new UnsealError('The value was sealed with an unknown master key.');
    const decipher = createDecipheriv('aes-256-gcm', derive(key, context), bytes.subarray(NONCE_AT, TAG_AT));
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(TAG_AT, TEXT_AT));
    try {
      const plain = decipher.update(bytes.subarray(TEXT_AT));
      decipher.final();
      return plain;
    } catch (error) {
      throw new UnsealError('The value was sealed for another row, or was changed.', { cause: error });
    }
  }

  keyedHash(scope: string, text: string): string {
    const digest = createHmac('sha256', derive(this.#current, `${scope}/`))
      .update(text)
      .digest('hex');
    return digest.slice(0, KEYED_HASH_CHARACTERS);
  }
}

function masterKey(key: Uint8Array): MasterKey {
  if (key.length !== MASTER_KEY_BYTES) throw new Error(`A master key has ${MASTER_KEY_BYTES} bytes.`);
  const id = createHash('sha256').update('sched master key id').update(key).digest();
  return {
    id: id.subarray(0, KEY_ID_BYTES),
    key: createSecretKey(key),
    scopes: largeCache(SCOPES_MAX),
  };
}

function derive({ key, scopes }: MasterKey, context: string): KeyObject {
  const scope = context.slice(0, Math.max(context.lastIndexOf('/'), 0));
  const known = scopes.get(scope);
  if (known !== undefined) return known;
  const derived = createSecretKey(createHmac('sha256', key).update(scope).digest());
  scopes.set(scope, derived);
  return derived;
}
