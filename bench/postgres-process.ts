/** The processes of a PostgreSQL server on this machine. */
import { readFileSync } from 'node:fs';
import { query } from '../test/postgres/databases.ts';
import { familyCpuMsOf, parentOf } from './process-figures.ts';

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);
const PROGRAM = 'postgres';

/**
 * Returns a function that tells the processor time of all processes of the server so far. It tells null if they are
 * not found, for example because the server runs on another machine or in a container.
 */
export async function postgresCpuMeter(url: string): Promise<() => number | null> {
  const pid = LOOPBACK.has(new URL(url).hostname) ? await postmasterOf(url) : null;
  return () => (pid === null ? null : familyCpuMsOf(pid));
}

/** Every server has one checkpointer. The first process of the server is its parent. */
async function postmasterOf(url: string): Promise<number | null> {
  const [row] = await query(url, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
  const { pid } = row as { readonly pid: number };
  const postmaster = isPostgres(pid) ? parentOf(pid) : null;
  return postmaster !== null && isPostgres(postmaster) ? postmaster : null;
}

/** A server in a container may have the process id of any other process here. */
function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === PROGRAM;
  } catch {
    return false;
  }
}
