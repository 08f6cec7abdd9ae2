/** Every entry of the table, and each error without a code as the real driver reports it. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Client, DatabaseError } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StoreUnavailable } from '#src/ports/store.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import {
  ERRORS,
  type ErrorMeaning,
  isAboutTls,
  isTemporary,
  isUnavailable,
  meaningOf,
  unavailableInstead,
  wordsOf,
} from './errors.ts';

/** A code of each entry, by its meaning. */
const CODES: Readonly<Record<Exclude<ErrorMeaning, 'broken'>, readonly string[]>> = {
  unavailable: [
    '08006',
    '08P01',
    '25006',
    '25P03',
    '25P04',
    '28000',
    '28P01',
    '3D000',
    '40003',
    '53100',
    '53300',
    '57P01',
    '57P02',
    '57P03',
    '57P04',
    '57P05',
    '58030',
    '28P02',
    'EADDRNOTAVAIL',
    'EAI_AGAIN',
    'EAI_FAIL',
    'ECONNABORTED',
    'ECONNREFUSED',
    'ECONNRESET',
    'EHOSTDOWN',
    'EHOSTUNREACH',
    'ENETDOWN',
    'ENETRESET',
    'ENETUNREACH',
    'ENOENT',
    'ENOTFOUND',
    'EPIPE',
    'EPROTO',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'ERR_STREAM_DESTROYED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ETIMEDOUT',
  ],
  retry: ['40001', '40P01', '57014'],
  locked: ['55P03'],
  not_held: ['22012'],
  foreign: ['42P07'],
};
const ABOUT_TLS: ReadonlySet<string> = new Set([
  '28000',
  'EPROTO',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);
const BROKEN = [
  '22003',
  '23505',
  '25P02',
  '40000',
  '42P01',
  '42501',
  'XX000',
  '57P06',
  'ENOSPC',
  'ERR_ASSERTION',
];

const SQLSTATE = /^[0-9A-Z]{5}$/;

function withCode(code: string): Error {
  if (!SQLSTATE.test(code) || code.startsWith('E')) return Object.assign(new Error('reason'), { code });
  return Object.assign(new DatabaseError('reason', 0, 'error'), { code });
}

const ENTRIES = Object.entries(CODES).flatMap(([meaning, codes]) =>
  codes.map((code) => [code, meaning] as const),
);

describe('an error', () => {
  it.each(ENTRIES)('%s is %s', (code, meaning) => {
    const error = withCode(code);
    expect(meaningOf(error)).toBe(meaning);
    expect(isUnavailable(error)).toBe(meaning === 'unavailable');
    expect(isTemporary(error)).toBe(['unavailable', 'retry', 'locked'].includes(meaning));
    expect(isAboutTls(error)).toBe(ABOUT_TLS.has(code));
  });

  it.each(BROKEN)('%s is broken', (code) => {
    expect(meaningOf(withCode(code))).toBe('broken');
    expect(unavailableInstead(withCode(code))).toMatchObject({ code, message: 'reason' });
  });

  it.each([new Error('Something else'), new TypeError('no'), 'Connection terminated', undefined])(
    'without a code is broken: %s',
    (error) => {
      expect(meaningOf(error)).toBe('broken');
      expect(unavailableInstead(error)).toBe(error);
      expect(isAboutTls(error)).toBe(false);
    },
  );

  it('has words for people if it is known', () => {
    expect(Object.fromEntries(ENTRIES.map(([code]) => [code, wordsOf(withCode(code))]))).toMatchObject({
      '28P01': 'refuses the password',
      '3D000': 'has no such database',
      '53300': 'has no connection left',
      '57P03': 'is starting or stopping',
      EAI_AGAIN: 'cannot be looked up',
      ECONNREFUSED: 'refuses connections',
      ENOENT: 'has no socket there',
      ENOTFOUND: 'has no address',
      '57P01': 'fails: reason',
    });
    expect(wordsOf('text')).toBe('fails: text');
  });

  it('becomes StoreUnavailable with its cause', () => {
    const cause = withCode('57P01');
    const error = unavailableInstead(cause);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toMatchObject({ message: 'PostgreSQL: reason.', cause });
    expect(isUnavailable(error)).toBe(true);
    expect(unavailableInstead(error)).toBe(error);
    for (const code of ['40001', '55P03']) {
      expect(unavailableInstead(withCode(code))).toBeInstanceOf(StoreUnavailable);
    }
    for (const code of ['22012', '42P07']) expect(unavailableInstead(withCode(code))).toMatchObject({ code });
  });
});

/** The driver gives these no code. When an update of the driver changes a text, its test fails. */
const OF_THE_DRIVER: Readonly<Record<string, () => Promise<unknown>>> = {
  'Connection terminated': async () => {
    const client = await connected();
    const sent = client.query('SELECT pg_sleep(60)').catch((error: unknown) => error);
    void client.end();
    client.connection.stream.destroy();
    return sent;
  },
  'Connection terminated unexpectedly': async () => {
    const client = await connected();
    const sent = client.query('SELECT pg_sleep(60)').catch((error: unknown) => error);
    client.connection.stream.destroy();
    return sent;
  },
  'Client has encountered a connection error and is not queryable': async () => {
    const client = await connected();
    const ended = new Promise((resolve) => client.once('end', resolve));
    client.connection.stream.destroy();
    await ended;
    return client.query('SELECT 1').catch((error: unknown) => error);
  },
  'Client was closed and is not queryable': async () => {
    const client = await connected();
    void client.end();
    return client.query('SELECT 1').catch((error: unknown) => error);
  },
  'The server does not support SSL connections': async () =>
    connecting(await sharedPostgres(), { rejectUnauthorized: false }),
  'There was an error establishing an SSL connection': async () => {
    const url = await serverThat((socket) => socket.once('data', () => socket.write('?')));
    return connecting(url, { rejectUnauthorized: false });
  },
};

describe('an error of the driver', () => {
  it.each(Object.entries(OF_THE_DRIVER))('is recognised: %s', async (message, provoke) => {
    const error = await provoke();
    expect(error).toMatchObject({ message });
    expect(error).not.toHaveProperty('code');
    expect(meaningOf(error)).toBe('unavailable');
    expect(isAboutTls(error)).toBe(message.includes('SSL'));
  });

  it('has a code if the server or the system gave one', async () => {
    const client = await connected();
    const ended = client.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(codeOf);
    expect(await ended).toBe('57P01');
    expect(codeOf(await connecting('postgres://127.0.0.1:1/d'))).toBe('ECONNREFUSED');
    const url = await serverThat((socket) => socket.resetAndDestroy());
    expect(codeOf(await connecting(url))).toBe('ECONNRESET');
    const checked = await connected();
    expect(await checked.query('SELECT 1 / count(*) FROM pg_class WHERE false').catch(codeOf)).toBe('22012');
    expect(
      await checked.query('CREATE TEMPORARY TABLE t (); CREATE TEMPORARY TABLE t ()').catch(codeOf),
    ).toBe('42P07');
    expect(await checked.query('SET statement_timeout = 1; SELECT pg_sleep(60)').catch(codeOf)).toBe('57014');
  });
});

it('every entry of the table has a test', () => {
  const keys = ENTRIES.map(([code]) =>
    code in ERRORS
      ? code
      : Object.keys(ERRORS).find((key) => key.endsWith('*') && code.startsWith(key.slice(0, -1))),
  );
  expect(new Set([...keys, ...Object.keys(OF_THE_DRIVER)])).toEqual(new Set(Object.keys(ERRORS)));
});

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: await sharedPostgres(), pipeline: true });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => void client.connection.stream.destroy());
  return client;
}

async function connecting(url: string, ssl: ConnectionOptions | false = false): Promise<unknown> {
  const client = new Client({ connectionString: url, ssl });
  client.on('error', () => undefined);
  onTestFinished(() => void client.connection.stream.destroy());
  return client.connect().then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** The URL of a server that is not PostgreSQL. */
async function serverThat(serve: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `postgres://127.0.0.1:${(server.address() as AddressInfo).port}/d`;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error;
}
