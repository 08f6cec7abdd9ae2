/** The processor time of a database. It is read from `/proc`, which only Linux has. */
import { describe, expect, test } from 'vitest';
import { query } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { postgresCpuMeter } from '../../bench/postgres-process.ts';

const WORK = 'SELECT count(*) FROM generate_series(1, 3000000)';
const WORK_MS_MIN = 50;

describe.runIf(process.platform === 'linux')('the processor time of PostgreSQL', () => {
  test('includes that of sessions that have ended', async () => {
    const url = await sharedPostgres();
    const meter = await postgresCpuMeter(url);
    const before = meter() ?? expect.fail('the server was not found');
    await query(url, WORK);
    expect((meter() ?? 0) - before).toBeGreaterThan(WORK_MS_MIN);
  });

  test('is not known for a server on another machine', async () => {
    const meter = await postgresCpuMeter('postgres://postgres@db.example:5432/postgres');
    expect(meter()).toBeNull();
  });
});
