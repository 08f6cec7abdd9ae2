import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { StoreUnavailable } from '#src/ports/store.ts';
import { systemTimers } from '#src/system/timers.ts';
import { execute, query } from '#test/postgres/databases.ts';
import { type PostgresServer, startPostgres } from '#test/postgres/server.ts';
import { parseDatabaseAddress } from './address.ts';
import { type ConnectOptions, connect, connector } from './connect.ts';

const CERTIFICATES = join(import.meta.dirname, '../../../test/certificates');
const OPTIONS: ConnectOptions = { timers: systemTimers };
const PASSWORD = 'right:/@?';

const down = '127.0.0.1:1';
let plain: PostgresServer;
let secured: PostgresServer;
let standby: PostgresServer;

beforeAll(async () => {
  const tls = { certificate: join(CERTIFICATES, 'receiver.pem'), key: join(CERTIFICATES, 'receiver.key') };
  [plain, secured] = await Promise.all([startPostgres(), startPostgres({ tls, password: PASSWORD })]);
  standby = await plain.standby();
});
afterAll(async () => {
  for (const server of [standby, plain, secured]) await server[Symbol.asyncDispose]();
});

function addressOf(url: string) {
  const address = parseDatabaseAddress(url);
  if ('wrong' in address) throw new Error(address.wrong);
  return address;
}

async function opened(url: string, options = OPTIONS): Promise<Client> {
  return closedLater(await connect(addressOf(url), options));
}

function closedLater(client: Client): Client {
  onTestFinished(() => client.end());
  return client;
}

async function portOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ port: number }>('SELECT inet_server_port() AS port');
  return rows[0]?.port ?? 0;
}

async function isEncrypted(client: Client): Promise<boolean> {
  const sql = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
  return (await client.query<{ ssl: boolean }>(sql)).rows[0]?.ssl ?? false;
}

async function refusal(url: string, options = OPTIONS): Promise<string> {
  const error: unknown = await opened(url, options).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreUnavailable);
  return error instanceof Error ? error.message : '';
}

const at = (server: PostgresServer) => `127.0.0.1:${server.port}`;

describe('a connection', () => {
  it('has the application name, and returns values in the types of the store', async () => {
    const client = await opened(plain.url());
    const { rows } = await client.query(
      `SELECT 9007199254740991::int8 AS big, e'\\x01"\\\\u0000"'::text AS text, e'\\x01"b"'::varchar AS word, '\\x0102'::bytea AS bytes,
              current_setting('application_name')::name AS name`,
    );
    expect(rows).toEqual([
      { big: 2 ** 53 - 1, text: '\0', word: 'b', bytes: Buffer.from([1, 2]), name: 'sched' },
    ]);
  });

  it('can use a unix socket', async () => {
    const client = await opened(`postgres:///postgres?host=${plain.socketFolder}&port=${plain.port}`);
    const { rows } = await client.query('SELECT inet_server_addr() AS address');
    expect(rows).toEqual([{ address: null }]);
  });

  it('skips hosts that are down, are standbys or are read-only', async () => {
    await using readOnly = await plain.createDatabase();
    await execute(readOnly.url, `ALTER DATABASE ${readOnly.name} SET default_transaction_read_only = on`);
    expect(await refusal(readOnly.url)).toBe(`PostgreSQL cannot be used: ${at(plain)} takes no writes.`);
    expect(await portOf(await opened(`postgres://${down},${at(standby)},${at(plain)}/postgres`))).toBe(
      plain.port,
    );
    expect(await refusal(`postgres://${down},${at(standby)}/postgres`)).toBe(
      `PostgreSQL cannot be used: ${down} refuses connections; ${at(standby)} is a standby.`,
    );
  });

  it('begins with the host that worked last', async () => {
    const held = await silentServer();
    const url = `postgres://127.0.0.1:${held.port},${at(plain)}/postgres?connect_timeout=1`;
    const open = connector(addressOf(url), OPTIONS);
    closedLater(await open());
    closedLater(await open());
    expect(held.connections).toBe(1);
  });

  it('gives up on a server that does not answer in time', async () => {
    const { port } = await silentServer();
    expect(await refusal(`postgres://127.0.0.1:${port}/d?connect_timeout=1&sslmode=disable`)).toBe(
      `PostgreSQL cannot be used: 127.0.0.1:${port} does not answer within 1000 ms.`,
    );
  });

  it('tries every address of a name', async () => {
    const resolve = async () => ['127.0.0.2', '127.0.0.1'];
    const client = await opened(`postgres://db.test:${plain.port}/postgres`, { ...OPTIONS, resolve });
    expect(await portOf(client)).toBe(plain.port);
    const nowhere = await refusal('postgres://db.test:1/postgres', { ...OPTIONS, resolve });
    expect(nowhere).toContain('db.test:1 (127.0.0.2) refuses connections; db.test:1 (127.0.0.1) refuses');
  });

  it('limits the time for a name look-up', async () => {
    const resolve = () => new Promise<never>(() => undefined);
    expect(await refusal('postgres://db.test/d?connect_timeout=1', { ...OPTIONS, resolve })).toContain(
      'db.test:5432 does not answer within 1000 ms',
    );
  });

  it('reports a wrong name, database or socket', async () => {
    expect(await refusal('postgres://nowhere.invalid/d')).toMatch(
      /nowhere\.invalid:5432 (has no address|cannot be)/,
    );
    expect(await refusal(`postgres://${at(plain)}/nothing`)).toContain('has no such database');
    expect(await refusal('postgres:///d?host=/nowhere')).toContain('%2Fnowhere:5432 has no socket there');
  });

  it('ends without ending the process', async () => {
    const client = await opened(plain.url());
    const [row] = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
    const ended = new Promise<void>((resolve) => void client.once('end', () => resolve()));
    await query(plain.url(), `SELECT pg_terminate_backend(${row?.pid})`);
    await ended;
    await expect(client.query('SELECT 1')).rejects.toThrow('not queryable');
  });
});

describe('a password', () => {
  const host = () => `127.0.0.1:${secured.port}`;

  it('is sent after percent-decoding', async () => {
    expect(await portOf(await opened(secured.url()))).toBe(secured.port);
  });

  it('is not shown when it is wrong, and not taken from elsewhere when it is missing', async () => {
    const wrong = await refusal(`postgres://postgres:hunter2@${host()}/postgres`);
    expect(wrong).toBe(`PostgreSQL cannot be used: ${host()} refuses the password.`);
    process.env.PGPASSWORD = PASSWORD;
    onTestFinished(() => void delete process.env.PGPASSWORD);
    expect(await refusal(`postgres://postgres@${host()}/postgres`)).toContain('asks for a password');
  });
});

describe('TLS', () => {
  const url = (parameters: string) => `${secured.url()}?${parameters}`;
  const authority = `sslrootcert=${join(CERTIFICATES, 'ca.pem')}`;

  it.each([
    'sslmode=prefer',
    'sslmode=require',
    `sslmode=verify-ca&${authority}`,
    `sslmode=verify-full&${authority}`,
  ])('is used: %s', async (parameters) => {
    expect(await isEncrypted(await opened(url(parameters)))).toBe(true);
  });

  it('is preferred, but not required', async () => {
    expect(await isEncrypted(await opened(`${plain.url()}?sslmode=prefer`))).toBe(false);
    expect(await isEncrypted(await opened(url('sslmode=disable')))).toBe(false);
    expect(await refusal(`${plain.url()}?sslmode=require`)).toContain('does not support SSL');
  });

  it('checks the authority of the certificate if the mode requires it', async () => {
    expect(await refusal(url('sslmode=verify-full'))).toContain('certificate');
    expect(await refusal(url('sslrootcert=system'))).toContain('certificate');
    const other = `sslrootcert=${join(CERTIFICATES, 'untrusted.pem')}`;
    expect(await refusal(url(`sslmode=require&${other}`))).toContain('certificate');
    expect(await refusal(url('sslmode=verify-ca&sslrootcert=/nowhere'))).toContain('cannot be read (ENOENT)');
  });

  it('checks the host name of the certificate if the mode requires it', async () => {
    const resolve = async () => ['127.0.0.1'];
    const named = (name: string, mode: string) =>
      url(`sslmode=${mode}&${authority}`).replace('127.0.0.1', name);
    const options = { ...OPTIONS, resolve };
    expect(await isEncrypted(await opened(named('db.receiver.test', 'verify-full'), options))).toBe(true);
    expect(await refusal(named('db.test', 'verify-full'), options)).toContain('altnames');
    expect(await isEncrypted(await opened(named('db.test', 'verify-ca'), options))).toBe(true);
  });
});

async function silentServer() {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    port,
    get connections() {
      return connections;
    },
  };
}
