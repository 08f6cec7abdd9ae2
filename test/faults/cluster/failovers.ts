/**
 * A primary with a synchronous standby, under load. The primary is killed, the standby is promoted, and the
 * dead server returns on its port as the new standby. The nodes know both addresses and find the primary by
 * themselves. A commit is acknowledged only when both servers have it, because the promoted server waits for
 * its standby too. Everything acknowledged therefore survives every failover.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { installedBinaries } from '#test/postgres/binaries.ts';
import { query } from '#test/postgres/databases.ts';
import { type PostgresServer, startPostgres } from '#test/postgres/server.ts';
import { LoadedCluster, type Report, type Run } from './loaded-cluster.ts';
import { waitUntilReady } from './nodes.ts';

interface Failover {
  /** From the kill until the other server was promoted. */
  readonly promotedMs: number;
  /** From the promotion until the killed server follows. */
  readonly rebuiltMs: number;
  /** From then until every node was ready. */
  readonly readyMs: number;
}

export interface FailoverReport extends Report {
  readonly failovers: readonly Failover[];
  readonly majorVersion: number;
}

const NAME = 'follower';
const DATABASE = 'postgres';
const SYNCHRONOUS = { synchronous_standby_names: NAME, synchronous_commit: 'on' };
/** Logs refused writes, because no node may try to write to a standby. */
const LOG_ERRORS = { log_min_messages: 'error' };
const REFUSED_WRITE = /cannot execute .* in a read-only transaction/;
const IN_STEP_EVERY_MS = 50;
const IN_STEP_MS_MAX = 60_000;
const PAUSE_MS = 3_000;

export async function runFailovers(run: Run): Promise<FailoverReport> {
  const { durable } = run;
  const binaries = installedBinaries();
  const settings = { ...SYNCHRONOUS, ...LOG_ERRORS };
  await using pair = new Pair();
  const first = await startPostgres({ durable, settings: LOG_ERRORS, ...(binaries && { binaries }) });
  pair.primary = first;
  pair.standby = await first.standby({ name: NAME, settings });
  await first.configure(SYNCHRONOUS);
  await pair.waitForStandby();

  const hosts = [first.port, pair.standby.port].map((port) => `127.0.0.1:${port}`).join(',');
  const databaseUrl = `postgres://postgres@${hosts}/${DATABASE}?target_session_attrs=read-write`;
  await using cluster = await LoadedCluster.open({ url: () => pair.url, databaseUrl }, run);
  const failovers: Failover[] = [];
  const faults: string[] = [];
  for (let round = 0; round < run.rounds; round++) {
    const startAt = performance.now();
    const { port, refused } = await pair.failOver();
    const promotedAt = performance.now();
    if (refused) faults.push(`round ${round + 1}: a write was tried on the standby`);
    pair.standby = await pair.primary?.standby({ name: NAME, settings, port });
    await pair.waitForStandby();
    const rebuiltAt = performance.now();
    const readyMs = await Promise.all(cluster.nodes.running.map(({ process }) => waitUntilReady(process)));
    failovers.push({
      promotedMs: promotedAt - startAt,
      rebuiltMs: rebuiltAt - promotedAt,
      readyMs: Math.max(...readyMs),
    });
    await sleep(PAUSE_MS);
  }
  const report = await cluster.close();
  return {
    ...report,
    faults: [...faults, ...report.faults],
    failovers,
    majorVersion: first.majorVersion,
  };
}

class Pair implements AsyncDisposable {
  primary: PostgresServer | undefined;
  standby: PostgresServer | undefined;

  get url(): string {
    return this.primary?.url(DATABASE) ?? '';
  }

  /** Kills the primary and promotes the standby. Returns the port of the killed server. */
  async failOver(): Promise<{ readonly port: number; readonly refused: boolean }> {
    const [dead, next] = [this.primary, this.standby];
    if (dead === undefined || next === undefined) throw new Error('There is no pair.');
    await dead.stop('immediate');
    const refused = REFUSED_WRITE.test(next.log);
    await next.promote();
    this.primary = next;
    this.standby = undefined;
    await dead[Symbol.asyncDispose]();
    return { port: dead.port, refused };
  }

  /** Resolves when the standby has caught up and commits wait for it. */
  async waitForStandby(): Promise<void> {
    const until = performance.now() + IN_STEP_MS_MAX;
    const asked = `SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'`;
    while ((await query(this.url, asked)).length === 0) {
      if (performance.now() > until) throw new Error('The standby does not come into step.');
      await sleep(IN_STEP_EVERY_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.standby?.[Symbol.asyncDispose]();
    await this.primary?.[Symbol.asyncDispose]();
  }
}
