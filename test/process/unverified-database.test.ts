/** A password that is sent to an unverified server causes a warning in the log. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDatabase } from '#test/postgres/databases.ts';
import { type PostgresServer, startPostgres } from '#test/postgres/server.ts';
import { runCommand } from './run-command.ts';
import type { Finished } from './sched-process.ts';

const CERTIFICATES = join(import.meta.dirname, '../certificates');
const LINE = 'the connection to PostgreSQL is not verified: set sslmode=verify-full in SCHED_DATABASE_URL';
const env = {
  SCHED_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  SCHED_LOG_LEVEL: 'warn',
  SCHED_PORT: '0',
};

let server: PostgresServer;
let database: TestDatabase;
beforeAll(async () => {
  const tls = { certificate: join(CERTIFICATES, 'receiver.pem'), key: join(CERTIFICATES, 'receiver.key') };
  server = await startPostgres({ tls });
  database = await server.createDatabase();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Returns the log of one run. */
async function logged(host: string, parameters: string): Promise<readonly Record<string, unknown>[]> {
  const url = `${database.url.replace('127.0.0.1', host)}&${parameters}`;
  const finished = await runCommand(['serve'], { env: { ...env, SCHED_DATABASE_URL: url } });
  expect(finished).toMatchObject({ code: 0, stdout: expect.stringContaining('Sched listens on ') });
  return linesOf(finished);
}

function linesOf({ stderr }: Pick<Finished, 'stderr'>): readonly Record<string, unknown>[] {
  const lines = stderr.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

// Linux treats 0.0.0.0 as this machine. Sched does not treat it as loopback.
test.each(['sslmode=disable', 'sslmode=prefer', 'sslmode=require'])(
  'a start without verification warns once and says what to set: %s',
  async (parameters) => {
    const lines = (await logged('0.0.0.0', parameters)).filter(({ msg }) => msg === LINE);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        hosts: `0.0.0.0:${server.port}`,
        sslmode: parameters.replace('sslmode=', ''),
      }),
    ]);
  },
);

test('there is no warning for loopback or a verified server', async () => {
  expect(await logged('127.0.0.1', 'sslmode=disable')).toEqual([]);
  const authority = `sslrootcert=${encodeURIComponent(join(CERTIFICATES, 'ca.pem'))}`;
  expect(await logged('0.0.0.0', `sslmode=verify-ca&${authority}`)).toEqual([]);
});
