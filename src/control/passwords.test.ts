import { describe, expect, test } from 'vitest';
import { systemRandom } from '#src/system/random.ts';
import { Passwords } from './passwords.ts';
import { ControlRefusal } from './refusal.ts';
import { normalisePassword, requireStrongPassword } from './user-rules.ts';

const PASSWORD = 'a heron in the fog';

const cheaply = new Passwords(systemRandom(), { memoryKib: 8, passes: 1, parallelism: 1 });

describe('a password', () => {
  const passwords = new Passwords(systemRandom());

  test('is stored as an argon2id hash with its cost and a new salt', async () => {
    const [one, other] = [await passwords.hash(PASSWORD), await passwords.hash(PASSWORD)];
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(other);
    expect(await passwords.check(PASSWORD, one)).toBe('right');
    expect(await passwords.check(`${PASSWORD} `, one)).toBe('wrong');
  });

  test('that was hashed at another cost is right and needs a rehash', async () => {
    const cheap = await cheaply.hash(PASSWORD);
    expect(await cheaply.check(PASSWORD, cheap)).toBe('right');
    expect(await passwords.check(PASSWORD, cheap)).toBe('needs_rehash');
    expect(await passwords.check('another one…', cheap)).toBe('wrong');
  });

  test('is wrong for an unknown user, and a hash that cannot be read is an error', async () => {
    expect(await passwords.check(PASSWORD, null)).toBe('wrong');
    for (const stored of [
      '',
      'plain',
      '$argon2id$v=19$m=9999999,t=1,p=1$c2FsdHNhbHRzYQ$c2FsdHNhbHRzYWx0c2FsdA',
    ]) {
      await expect(passwords.check(PASSWORD, stored)).rejects.toThrow('cannot be read');
    }
  });

  test('waits while others are checked, and is refused if too many wait', async () => {
    const cheap = await cheaply.hash(PASSWORD);
    const all = await Promise.allSettled(Array.from({ length: 40 }, () => passwords.check(PASSWORD, cheap)));
    const refused = all.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(40 - 2 - 32);
    expect(refused[0]).toMatchObject({ reason: { code: 'login_throttled', waitMs: 1_000 } });
    expect(await passwords.check(PASSWORD, cheap)).toBe('needs_rehash');
  });

  test('is the same in every Unicode form', () => {
    expect(normalisePassword('cafe\u0301 au lait \ufb01n')).toBe('café au lait fin');
    expect(normalisePassword('x'.repeat(2_049))).toBeNull();
  });

  test.for([
    ['eleven chars', 'elevenchars'],
    ['many code units, few characters', '\u{1f9a9}'.repeat(6)],
    ['more than 256', 'xy'.repeat(129)],
    ['the name', 'Ada.Lovelace@example'],
    ['one character', 'zzzzzzzzzzzzzzz'],
    ['one character in two cases', 'zZzZzZzZzZzZzZz'],
    ['well known', 'Password-1234'],
    ['well known, in words', 'correct horse battery staple'],
  ])('is weak: %s', ([, password = '']) => {
    expect(() => requireStrongPassword(password, 'ada.lovelace@example')).toThrow(ControlRefusal);
  });

  test('is strong from 12 characters on, and a refusal does not repeat it', () => {
    expect(requireStrongPassword('twelve chars', 'ada')).toBe('twelve chars');
    expect(requireStrongPassword('xy'.repeat(128), 'ada')).toHaveLength(256);
    expect(() => requireStrongPassword('verysecret', 'ada')).toThrow(/^(?!.*verysecret)/);
  });
});
