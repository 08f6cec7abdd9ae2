import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AesVault, UnsealError } from './aes-vault.ts';

const random = { bytes: (count: number) => new Uint8Array(randomBytes(count)) };
const oldKey = randomBytes(32);
const newKey = randomBytes(32);

describe('sealing', () => {
  const vault = new AesVault(random, newKey);

  test('a sealed value opens to the original bytes, for any bytes and any context', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), fc.string(), (plain, context) => {
        expect(Buffer.from(vault.open(context, vault.seal(context, plain)))).toEqual(Buffer.from(plain));
      }),
    );
  });

  test('the plaintext is not in the sealed value, and two sealed values of it differ', () => {
    const plain = Buffer.from('Bearer a-very-secret-token');
    const [first, second] = [vault.seal('a', plain), vault.seal('a', plain)];
    expect(Buffer.from(first).includes(plain)).toBe(false);
    expect(Buffer.from(first).equals(Buffer.from(second))).toBe(false);
  });

  test('a value does not open in another row', () => {
    const sealed = vault.seal('payload/1/sch_a', Buffer.from('x'));
    expect(() => vault.open('payload/1/sch_b', sealed)).toThrow(UnsealError);
  });

  test('a value does not open if a bit was changed or if it was cut', () => {
    const sealed = vault.seal('a', Buffer.from('body'));
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const tampered = Uint8Array.from(sealed);
      tampered[bit >> 3] = (tampered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => vault.open('a', tampered)).toThrow(UnsealError);
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(() => vault.open('a', sealed.slice(0, length))).toThrow(UnsealError);
    }
  });
});

describe('rotation of the master key', () => {
  const sealedBefore = new AesVault(random, oldKey).seal('a', Buffer.from('kept'));

  test('a value of the old key opens while the old key is given', () => {
    const vault = new AesVault(random, newKey, [oldKey]);
    expect(Buffer.from(vault.open('a', sealedBefore)).toString()).toBe('kept');
  });

  test('new values are sealed with the new key', () => {
    const sealed = new AesVault(random, newKey, [oldKey]).seal('a', Buffer.from('new'));
    expect(Buffer.from(new AesVault(random, newKey).open('a', sealed)).toString()).toBe('new');
  });

  test('a value of the old key does not open without it', () => {
    expect(() => new AesVault(random, newKey).open('a', sealedBefore)).toThrow(/unknown master key/);
  });
});
