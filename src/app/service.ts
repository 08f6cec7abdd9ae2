/**
 * The composition root: the only place that knows which store, vault, clock and server the service is
 * made of. Each step needs the ones before it, and a step that fails undoes them.
 */
import { buildServer } from '#src/api/server.ts';
import { type BootstrapReport, bootstrap } from '#src/control/bootstrap.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import type { SealingWorld } from '#src/control/world.ts';
import { IdMint } from '#src/domain/id.ts';
import { createEgress } from '#src/egress/client.ts';
import { Engine } from '#src/engine/engine.ts';
import { NO_PEERS, PeerHints } from '#src/engine/peer-hints.ts';
import type { ClusterWorld } from '#src/engine/world.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ClusterMetrics, Log } from '#src/ports/telemetry.ts';
import { systemClock } from '#src/system/clock.ts';
import { prometheusMetrics } from '#src/system/metrics.ts';
import { systemRandom } from '#src/system/random.ts';
import { systemTimers } from '#src/system/timers.ts';
import type { Cluster, joinCluster } from './cluster.ts';
import { SettingsError } from './failures.ts';
import { announcement } from './first-start.ts';
import { closeServer, listen } from './listening.ts';
import { nodeName } from './node-name.ts';
import { observedStore } from './observed-store.ts';
import { openStore } from './open-store.ts';
import { openVault } from './open-vault.ts';
import { SETTINGS, type Settings } from './settings.ts';
import { SERVE, type Variation } from './variation.ts';

export interface ServiceIo {
  /** Standard output. */
  readonly print: (text: string) => void;
  readonly log: Log;
}

export interface Service {
  readonly url: string;
  /** Stops accepting, lets what is under way finish within the grace, closes the store. */
  stop(): Promise<void>;
}

export async function startService(
  settings: Settings,
  io: ServiceIo,
  variation: Variation = SERVE,
): Promise<Service> {
  const { isPlayground } = variation;
  const random = systemRandom();
  const metrics = prometheusMetrics();
  const node = nodeName(random);
  const opened = await openStore(settings, { exclusive: true, create: true, node, isPlayground });
  const undo: (() => Promise<void>)[] = [() => opened.close()];
  try {
    const store = variation.over(observedStore(opened, metrics));
    const { databaseUrl: address } = settings;
    const cluster = address === null ? null : await joined(address, store, node, io.log);
    if (cluster !== null) undo.unshift(() => cluster.close());
    const clock = cluster?.clock ?? systemClock;
    const control = { store, clock, random, ids: new IdMint((count) => random.bytes(count)) };
    const vault = await openVault(settings, control, true);
    const make = () => bootstrapDefault({ ...control, vault }, settings);
    const report = cluster === null ? await make() : await cluster.alone(make);
    // Before anything else can fail: what was just made is known nowhere else.
    io.print(announcement(report.made));

    const egress = createEgress({
      allow: settings.egressAllow ?? [],
      allowHttp: settings.egressAllowHttp,
      allowLocalhost: isPlayground,
      certificates: settings.egressCertificates,
      timers: systemTimers,
    });
    undo.unshift(() => egress.close());
    const world = { ...control, egress, vault, timers: systemTimers, log: io.log, metrics, node };
    const engine =
      settings.role === 'api'
        ? null
        : new Engine(
            { ...world, cluster: cluster === null ? null : sharing(cluster, store, metrics) },
            { retentionMs: settings.retentionMs },
          );
    if (engine !== null) cluster?.listen(engine.heard);

    let url = '';
    const server = buildServer({
      store,
      vault,
      clock,
      random,
      log: io.log,
      metrics,
      hints: engine ?? new PeerHints(cluster?.peers ?? NO_PEERS, clock),
      isFiring: () => engine?.isFiring ?? true,
      servesApi: settings.role !== 'dispatcher',
      httpAllowed: settings.egressAllowHttp && settings.egressAllow !== null,
      extend: (server) => variation.extend(server, { ...control, vault, url: () => url }),
    });
    url = await listen(server, settings);
    // Not waited for: it begins with closing the tries of the process before, and the store may be full.
    void engine?.start();
    warnOf(report, io.log);
    return {
      url,
      async stop() {
        try {
          await Promise.all([
            closeServer(server, settings.shutdownGraceMs),
            engine?.stop(settings.shutdownGraceMs),
          ]);
        } finally {
          await inOrder(undo);
        }
      },
    };
  } catch (error) {
    await inOrder(undo);
    throw error;
  }
}

async function inOrder(steps: readonly (() => Promise<void>)[]): Promise<void> {
  for (const step of steps) await step();
}

/** Loaded only here, with all that speaks to PostgreSQL. */
async function joined(...args: Parameters<typeof joinCluster>): Promise<Cluster> {
  const cluster = await import('./cluster.ts');
  return cluster.joinCluster(...args);
}

function sharing(cluster: Cluster, store: ClusterStore, metrics: ClusterMetrics): ClusterWorld {
  const { clock, peers } = cluster;
  return { store, clock, stopwatch: systemTimers, peers, metrics };
}

async function bootstrapDefault(world: SealingWorld, settings: Settings): Promise<BootstrapReport> {
  const keys = { test: settings.bootstrapTestKey, live: settings.bootstrapLiveKey };
  try {
    return await bootstrap(world, { keys, signingSecret: settings.bootstrapSigningSecret });
  } catch (error) {
    if (!(error instanceof ControlRefusal && error.code === 'key_elsewhere')) throw error;
    const { env } = error.subject === 'test' ? SETTINGS.bootstrapTestKey : SETTINGS.bootstrapLiveKey;
    throw new SettingsError(`${env} must be another key: this one belongs to another project.`);
  }
}

function warnOf({ revoked, superseded }: BootstrapReport, log: Log): void {
  for (const mode of revoked) {
    log.warn({ mode }, 'the bootstrap key of this mode has been revoked and stays so');
  }
  for (const mode of superseded) {
    log.warn({ mode }, 'the bootstrap signing secret is now in force; the ones before it sign for 24 h more');
  }
}
