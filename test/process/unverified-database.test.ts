/** A password that is sent to an unverified server causes a warning in the log. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '#test/postgres/server.ts';
import { type Finished, startSched } from './sched-process.ts';

const CERTIFICATES = join(import.meta.dirname, '../certificates');
const LINE = 'the connection to PostgreSQL is not verified: set sslmode=verify-full in SCHED_DATABASE_URL';
const env = {
  SCHED_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  SCHED_LOG_LEVEL: 'warn',
};

let server: PostgresServer;
beforeAll(async () => {
  const tls = { certificate: join(CERTIFICATES, 'receiver.pem'), key: join(CERTIFICATES, 'receiver.key') };
  server = await startPostgres({ tls });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Returns the log of one run. */
async function logged(host: string, parameters: string): Promise<readonly Record<string, unknown>[]> {
  await using database = await server.createDatabase();
  const url = `${database.url.replace('127.0.0.1', host)}?${parameters}`;
  await using sched = await startSched({ env: { ...env, SCHED_DATABASE_URL: url } });
  await sched.stop();
  return linesOf(sched.output);
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
