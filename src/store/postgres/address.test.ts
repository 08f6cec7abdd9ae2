import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DatabaseAddress, describeAddress, parseDatabaseAddress, unverifiedHosts } from './address.ts';

function read(text: string): DatabaseAddress {
  const address = parseDatabaseAddress(text);
  if ('wrong' in address) throw new Error(address.wrong);
  return address;
}

function reason(text: string): string {
  const address = parseDatabaseAddress(text);
  if (!('wrong' in address)) throw new Error('The address was accepted.');
  return address.wrong;
}

describe('the address of a database', () => {
  it('has defaults for all but the host', () => {
    expect(read('postgres://db')).toEqual({
      hosts: [{ host: 'db', port: 5432 }],
      user: 'postgres',
      password: null,
      database: 'postgres',
      tlsMode: 'prefer',
      rootCertificatePath: null,
      applicationName: 'sched',
      connectTimeoutMs: 5_000,
      isPooled: false,
    });
  });

  it('can give every part', () => {
    const text =
      'postgresql://sched%40home:p%3A%2F%40ss@db.internal:6432/my%20db?sslmode=verify-full&sslrootcert=/etc/ca.pem' +
      '&application_name=sched%201&connect_timeout=7&pgbouncer=true&target_session_attrs=primary';
    expect(read(text)).toEqual({
      hosts: [{ host: 'db.internal', port: 6432 }],
      user: 'sched@home',
      password: 'p:/@ss',
      database: 'my db',
      tlsMode: 'verify-full',
      rootCertificatePath: '/etc/ca.pem',
      applicationName: 'sched 1',
      connectTimeoutMs: 7_000,
      isPooled: true,
    });
  });

  it.each<[string, readonly [string, number][]]>([
    [
      'postgres://a,b/sched?target_session_attrs=read-write',
      [
        ['a', 5432],
        ['b', 5432],
      ],
    ],
    [
      'postgres://u@a:1,10.0.0.1,[::1]:5434,[fe80::1%25eth0]/d',
      [
        ['a', 1],
        ['10.0.0.1', 5432],
        ['::1', 5434],
        ['fe80::1%eth0', 5432],
      ],
    ],
    ['postgres:///d?host=/var/run/postgresql', [['/var/run/postgresql', 5432]]],
    ['postgres://u:p@/d?host=/tmp&port=6000', [['/tmp', 6000]]],
    ['postgres://%2Fvar%2Frun:6000/d', [['/var/run', 6000]]],
    [
      'postgres:///d?host=a,/tmp,::1&port=1,2,3',
      [
        ['a', 1],
        ['/tmp', 2],
        ['::1', 3],
      ],
    ],
    [
      'postgres:///d?host=a,b&port=7',
      [
        ['a', 7],
        ['b', 7],
      ],
    ],
  ])('keeps its hosts in order: %s', (text, hosts) => {
    expect(read(text).hosts).toEqual(hosts.map(([host, port]) => ({ host, port })));
  });

  it('uses the name of the user if it names no database', () => {
    expect(read('postgres://anna@db').database).toBe('anna');
    expect(read('postgres://anna@db/').database).toBe('anna');
  });

  it.each(['sslrootcert=system', 'sslmode=verify-full&sslrootcert=system'])(
    'checks the host name if it trusts the authorities of the system: %s',
    (parameters) => {
      expect(read(`postgres://db?${parameters}`)).toMatchObject({
        tlsMode: 'verify-full',
        rootCertificatePath: null,
      });
    },
  );

  it.each(['disable', 'prefer', 'require', 'verify-ca'])(
    'is refused if it trusts the authorities of the system without checking the name: %s',
    (mode) => {
      expect(reason(`postgres://db?sslmode=${mode}&sslrootcert=system`)).toBe(
        'must have sslmode=verify-full together with sslrootcert=system',
      );
    },
  );

  it('tells which servers on other machines are not verified', () => {
    const unverified = (parameters: string) =>
      unverifiedHosts(read(`postgres:///d?host=db,/tmp,127.0.0.9,::1,localhost,10.0.0.1&${parameters}`)).map(
        ({ host }) => host,
      );
    for (const mode of ['disable', 'prefer', 'require']) {
      expect(unverified(`sslmode=${mode}`)).toEqual(['db', '10.0.0.1']);
    }
    expect(unverified('sslmode=prefer&sslrootcert=/etc/ca.pem')).toEqual(['db', '10.0.0.1']);
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      expect(unverified(`sslmode=${mode}&sslrootcert=/etc/ca.pem`)).toEqual([]);
    }
    expect(unverified('sslrootcert=system')).toEqual([]);
  });

  it.each([
    ['', 'must begin with postgres://'],
    ['mysql://db/sched', 'must begin with postgres://'],
    ['POSTGRES://db', 'must begin with postgres://'],
    ['postgres://', 'has no host'],
    ['postgres://u@/d', 'has no host'],
    ['postgres://a,,b/d', 'has a host that is not valid'],
    ['postgres://a b/d', 'has a host that is not valid'],
    ['postgres://[127.0.0.1]/d', 'has a host that is not valid'],
    ['postgres://::1/d', 'has a host that is not valid'],
    ['postgres://-a/d', 'has a host that is not valid'],
    [`postgres://${'a'.repeat(254)}/d`, 'has a host that is not valid'],
    [`postgres://${'a,'.repeat(16)}a/d`, 'must have at most 16 hosts'],
    ['postgres://a:/d', 'has a port'],
    ['postgres://a:0/d', 'has a port'],
    ['postgres://a:65536/d', 'has a port'],
    ['postgres://a:5e3/d', 'has a port'],
    ['postgres:///d?host=a,b,c&port=1,2', 'must have one port, or one for each host'],
    ['postgres://a/d?host=/tmp', 'must name its hosts once'],
    ['postgres://a/d?port=1', 'must name its hosts once'],
    ['postgres://u%ZZ@a/d', 'must have the user percent-encoded correctly'],
    ['postgres://u:%00@a/d', 'must not have NUL in the password'],
    ['postgres://a/d%FF', 'must have the name of the database percent-encoded correctly'],
    ['postgres://a/d/e', 'percent-encoded inside'],
    ['postgres://a/d#e', 'percent-encoded inside'],
    ['postgres://a/d?sslmode', 'name=value'],
    ['postgres://a/d?sslmode=a=b', 'name=value'],
    ['postgres://a/d?sslmode=require&', 'name=value'],
    ['postgres://a/d?SSLMODE=require', 'name=value'],
    ['postgres://a/d?sslmode=require&sslmode=require', 'has a parameter twice: sslmode'],
    ['postgres://a/d?options=-c', 'has a parameter other than application_name, connect_timeout,'],
    ['postgres://a/d?sslmode=allow', 'must have one of disable, prefer, require, verify-ca, verify-full'],
    ['postgres://a/d?sslmode=verify-ca', 'must name the file of the authority as sslrootcert'],
    ['postgres://a/d?sslmode=require&sslrootcert=', 'must have a file or system as sslrootcert'],
    ['postgres://a/d?pgbouncer=1', 'must have one of true, false as pgbouncer'],
    ['postgres://a/d?connect_timeout=0', 'must have a connect_timeout of 1 to 60 seconds'],
    ['postgres://a/d?connect_timeout=61', 'must have a connect_timeout'],
    ['postgres://a/d?application_name=', 'must have an application_name of 1 to 63 bytes'],
    [`postgres://a/d?application_name=${'ä'.repeat(32)}`, 'must have an application_name'],
  ])('is refused with a reason: %s', (text, why) => {
    expect(reason(text)).toContain(why);
  });

  it('is refused when it is too long', () => {
    expect(reason(`postgres://a/${'d'.repeat(4096)}`)).toBe('must have at most 4096 characters');
  });

  it.each(['any', 'standby', 'prefer-standby', 'read-only', ''])('does not take a standby: %s', (wanted) => {
    expect(reason(`postgres://a,b/d?target_session_attrs=${wanted}`)).toContain('Sched always writes');
  });

  it.each([
    ['postgres://u:secret@a:1,[::1]/my%20db?sslmode=require', 'postgres://a:1,[::1]:5432/my%20db'],
    ['postgres://u:secret@/d?host=/var/run', 'postgres://%2Fvar%2Frun:5432/d'],
  ])('is described without user and password: %s', (text, name) => {
    expect(describeAddress(read(text))).toBe(name);
  });
});

describe('any address', () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((text) => !text.includes('\0'));
  const host = fc.oneof(
    fc.domain().filter((text) => text.length <= 253),
    fc.ipV4(),
    fc.ipV6().map((text) => `[${text}]`),
    name.map((text) => encodeURIComponent(`/${text}`)),
  );
  const at = fc.record({ host, port: fc.option(fc.integer({ min: 1, max: 65_535 })) });

  it('is parsed to its parts, and its description has the same hosts', () => {
    fc.assert(
      fc.property(
        name,
        name,
        name,
        fc.array(at, { minLength: 1, maxLength: 16 }),
        (user, password, database, ats) => {
          const list = ats.map(({ host, port }) => (port === null ? host : `${host}:${port}`)).join(',');
          const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
          const address = read(`postgres://${login}@${list}/${encodeURIComponent(database)}`);
          expect(address).toMatchObject({ user, password, database });
          expect(address.hosts.map(({ port }) => port)).toEqual(ats.map(({ port }) => port ?? 5_432));
          const again = read(describeAddress(address));
          expect(again).toMatchObject({ hosts: address.hosts, database, password: null });
        },
      ),
    );
  });

  it('never shows a password in an error, however badly it was encoded', () => {
    const secret = fc.string({
      unit: fc.constantFrom('qzq', 'zqz', ...':/?#@&=%,[]'.split('')),
      minLength: 1,
      maxLength: 12,
    });
    const ending = fc.constantFrom('@db/sched', '@db:5432/sched?sslmode=require', '/sched', '');
    fc.assert(
      fc.property(secret, ending, (password, rest) => {
        const address = parseDatabaseAddress(`postgres://user:${password}${rest}`);
        if ('wrong' in address) expect(address.wrong).not.toMatch(/qz|zq/);
      }),
      { examples: [['@?qzq=', '/sched']] },
    );
  });

  it('is parsed or refused, and never throws', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab1:/?#@&=%,[]. '.split('')), maxLength: 40 });
    fc.assert(fc.property(text, (rest) => void parseDatabaseAddress(`postgres://${rest}`)));
  });
});
