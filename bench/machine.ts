/** Describes the machine of a run, for the report. */
import { execFile } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { Machine } from './results.ts';

const BYTES_PER_GB = 1024 ** 3;

export async function machineOf(databaseUrl: string): Promise<Machine> {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / BYTES_PER_GB),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    postgres: await postgresVersion(databaseUrl),
    redis: await redisVersion(),
  };
}

async function postgresVersion(connectionString: string): Promise<string> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return rows[0]?.server_version ?? 'unknown';
  } finally {
    await client.end();
  }
}

async function redisVersion(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('redis-server', ['--version']);
    return /v=(\S+)/.exec(stdout)?.[1] ?? 'unknown';
  } catch {
    return null;
  }
}
