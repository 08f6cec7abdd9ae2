/**
 * The composition root: the only place that knows which vault, clock and server the service uses. Each step needs the
 * steps before it. If a step fails, the earlier ones are undone.
 */
import { fileURLToPath } from 'node:url';
import { type HomeOptions, mountHome } from '#src/api/home.ts';
import { composeNotification } from '#src/api/notification-body.ts';
import { mountReference, type ReferenceOptions } from '#src/api/reference.ts';
import { buildServer } from '#src/api/server.ts';
import { type BootstrapReport, bootstrap } from '#src/control/bootstrap.ts';
import type { ControlDependencies, SealingDependencies } from '#src/control/dependencies.ts';
import type { About } from '#src/control/http/contract.ts';
import { Passwords } from '#src/control/passwords.ts';
import { PeopleCleaner } from '#src/control/people-cleaner.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import { formatDuration, NS_PER_MS } from '#src/domain/duration.ts';
import { IdMint } from '#src/domain/id.ts';
import { createEgress } from '#src/egress/client.ts';
import { Alerts } from '#src/engine/alerts/alerts.ts';
import { HintForwarder, NO_PEERS } from '#src/engine/cluster/hint-forwarder.ts';
import type { ClusterDependencies } from '#src/engine/dependencies.ts';
import { scanPlanOf } from '#src/engine/due/scan-plan.ts';
import { Engine } from '#src/engine/engine.ts';
import { ReplayRunner } from '#src/engine/replays/replay-runner.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ClusterMetrics, Log } from '#src/ports/telemetry.ts';
import { systemClock } from '#src/system/clock.ts';
import { watchEventLoop } from '#src/system/event-loop.ts';
import { prometheusMetrics } from '#src/system/metrics.ts';
import { systemRandom } from '#src/system/random.ts';
import { systemTimers } from '#src/system/timers.ts';
import type { Cluster, joinCluster } from './cluster.ts';
import { mountDashboard } from './dashboard.ts';
import { messageOf, SettingsError } from './failures.ts';
import { createdKeysText, firstInvitation } from './first-start.ts';
import { closeServer, listen } from './listening.ts';
import { observedStore } from './observed-store.ts';
import { openVault } from './open-vault.ts';
import { packageVersion } from './process.ts';
import type { OpenedStore, Service, ServiceIo } from './service.ts';
import type { ServiceVariant } from './service-variant.ts';
import { SETTINGS, type Settings } from './settings.ts';

/** The script and the style of the reference, from `npm run dashboard:build`. */
const REFERENCE_FOLDER = fileURLToPath(new URL('../../dashboard/dist/docs/', import.meta.url));

export async function composeService(
  settings: Settings,
  io: ServiceIo,
  variant: ServiceVariant,
  { store: opened, node }: OpenedStore,
): Promise<Service> {
  const timers = { ...systemTimers, ...io.timers };
  const random = systemRandom();
  const metrics = prometheusMetrics();
  const unwatch = watchEventLoop((seconds) => metrics.eventLoopDelay(seconds));
  const undo: (() => Promise<void>)[] = [() => opened.close(), async () => unwatch()];
  try {
    const store = variant.wrapStore(observedStore(opened, metrics));
    const { databaseUrl: address } = settings;
    const cluster = address === null ? null : await loadCluster(address, store, node, io.log);
    if (cluster !== null) undo.unshift(() => cluster.close());
    const clock = cluster?.clock ?? io.clock ?? systemClock;
    const control = { store, clock, random, ids: new IdMint((count) => random.bytes(count)) };
    const vault = await openVault(settings, control, true);
    const runExclusively = <T>(work: () => Promise<T>) =>
      cluster === null ? work() : cluster.runExclusively(work);
    const report = await runExclusively(() => bootstrapDefault({ ...control, vault }, settings));
    // Printed before anything else can fail, because the new keys are shown nowhere else.
    io.print(createdKeysText(report.generated));

    const egress = createEgress({
      allow: settings.egressAllow ?? [],
      allowHttp: settings.egressAllowHttp,
      allowLocalhost: variant.isPlayground,
      certificates: settings.egressCertificates,
      keepsPrivateAnswers: variant.isPlayground,
      timers,
      ...io.network,
    });
    undo.unshift(() => egress.close());
    const dependencies = {
      ...control,
      insight: store.insight,
      egress,
      vault,
      composeNotification,
      timers,
      log: io.log,
      metrics,
      node,
    };
    const engine =
      settings.role === 'api'
        ? null
        : new Engine(
            {
              ...dependencies,
              cluster: cluster === null ? null : clusterDependencies(cluster, store, metrics),
            },
            { retentionMs: settings.retentionMs, excerptBytesMax: settings.responseExcerpt },
          );
    if (engine !== null) cluster?.listen(engine.heard);
    const { aheadMs } = scanPlanOf(store);
    const hints = engine ?? new HintForwarder(cluster?.peers ?? NO_PEERS, clock, aheadMs);
    const { retentionMs } = settings;
    const replays = engine === null ? null : new ReplayRunner({ ...dependencies, hints }, { retentionMs });
    const alerts =
      engine === null
        ? null
        : new Alerts(
            { ...dependencies, ownership: engine.ownership },
            { retentionMs, dashboard: publicDashboard(settings) },
          );
    const cleaner = new PeopleCleaner({ ...dependencies, people: store.people }, settings.auditRetentionMs);
    const httpAllowed = settings.egressAllowHttp && settings.egressAllow !== null;

    let url = '';
    const server = buildServer({
      store,
      vault,
      clock,
      timers,
      random,
      log: io.log,
      metrics,
      hints,
      isFiring: () => engine?.isFiring ?? true,
      servesApi: settings.role !== 'dispatcher',
      httpAllowed,
      extend: (server, shared) => {
        if (settings.role !== 'dispatcher') {
          mountHome(
            server,
            homeOf(settings, variant, () => url),
          );
          mountReference(server, referenceOf(settings, variant));
          mountDashboard(server, shared, {
            ...dependencies,
            httpAllowed,
            isCluster: cluster !== null,
            dashboard: publicDashboard(settings),
            wakeReplays: () => replays?.wake(),
            wakeAlerts: () => alerts?.wake(),
            passwords: new Passwords(random),
            publicOrigins: settings.publicOrigins,
            trustedProxies: settings.trustedProxies ?? [],
            about: aboutService(settings, node),
            localSignIn: variant.localSignIn,
          });
        }
        variant.extendServer(server, { ...control, vault, url: () => url });
      },
    });
    url = await listen(server, settings);
    // This is not awaited. The start closes the attempts of the last process, and the store may be full.
    void engine?.start();
    const [dashboardUrl = url] = settings.publicOrigins ?? [];
    if (settings.role !== 'dispatcher' && variant.invitation !== null) {
      await printFirstInvitation(control, dashboardUrl, runExclusively, io, variant.invitation);
    }
    replays?.start();
    alerts?.start();
    cleaner.start();
    warnOfBootstrap(report, io.log);
    return {
      url,
      async stop() {
        try {
          await Promise.all([
            closeServer(server, settings.shutdownGraceMs),
            engine?.stop(settings.shutdownGraceMs),
            replays?.stop(),
            alerts?.stop(),
            cleaner.stop(),
          ]);
        } finally {
          await runInOrder(undo);
        }
      },
    };
  } catch (error) {
    await runInOrder(undo);
    throw error;
  }
}

function homeOf(settings: Settings, { home }: ServiceVariant, url: () => string): HomeOptions {
  return {
    version: packageVersion(),
    dashboard: dashboardAddress(settings),
    inbox: home.inbox,
    curl: (reader) => home.curl(url(), reader),
    url,
  };
}

function referenceOf(settings: Settings, { reference }: ServiceVariant): ReferenceOptions {
  return { folder: REFERENCE_FOLDER, dashboard: dashboardAddress(settings), dev: reference };
}

/** The address of the dashboard for links in alerts; null if it is not known. */
function publicDashboard(settings: Settings): string | null {
  return settings.publicOrigins === null ? null : dashboardAddress(settings);
}

/** A dashboard with an address of its own refuses requests under any other name. */
function dashboardAddress({ publicOrigins }: Settings): string {
  const [origin = ''] = publicOrigins ?? [];
  return `${origin}/dashboard`;
}

function aboutService({ databaseUrl, retentionMs }: Settings, node: string): About {
  return {
    version: packageVersion(),
    store: databaseUrl === null ? 'sqlite' : 'postgres',
    retention: retentionMs === 0 ? null : formatDuration(BigInt(retentionMs) * NS_PER_MS),
    node,
  };
}

async function runInOrder(steps: readonly (() => Promise<void>)[]): Promise<void> {
  for (const step of steps) await step();
}

/** Loads the code for PostgreSQL only when it is needed. */
async function loadCluster(...args: Parameters<typeof joinCluster>): Promise<Cluster> {
  const cluster = await import('./cluster.ts');
  return cluster.joinCluster(...args);
}

function clusterDependencies(
  cluster: Cluster,
  store: ClusterStore,
  metrics: ClusterMetrics,
): ClusterDependencies {
  const { clock, peers } = cluster;
  return { store, clock, stopwatch: systemTimers, peers, metrics, version: packageVersion() };
}

async function bootstrapDefault(
  dependencies: SealingDependencies,
  settings: Settings,
): Promise<BootstrapReport> {
  const keys = { test: settings.bootstrapTestKey, live: settings.bootstrapLiveKey };
  try {
    return await bootstrap(dependencies, { keys, signingSecret: settings.bootstrapSigningSecret });
  } catch (error) {
    throw error instanceof ControlRefusal ? (wrongBootstrapSetting(error) ?? error) : error;
  }
}

function wrongBootstrapSetting({ code, subject }: ControlRefusal): SettingsError | null {
  if (code === 'key_elsewhere') {
    const { env } = subject === 'test' ? SETTINGS.bootstrapTestKey : SETTINGS.bootstrapLiveKey;
    return new SettingsError(`${env} must be another key, because this one belongs to another project.`);
  }
  if (code !== 'secret_not_standard') return null;
  const { env } = SETTINGS.bootstrapSigningSecret;
  return new SettingsError(
    `${env} must be whsec_ and base64, because the endpoint profile ${subject} uses Standard Webhooks.`,
  );
}

/** The service starts even if the store refuses the write. The next start does it. */
async function printFirstInvitation(
  dependencies: ControlDependencies,
  url: string,
  runExclusively: <T>(work: () => Promise<T>) => Promise<T>,
  { print, log }: ServiceIo,
  invitation: (link: string) => string,
): Promise<void> {
  try {
    const link = await firstInvitation(dependencies, url, runExclusively);
    if (link !== null) print(invitation(link));
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'the invitation for the first admin could not be created');
  }
}

function warnOfBootstrap({ revoked, superseded }: BootstrapReport, log: Log): void {
  for (const mode of revoked) {
    log.warn(
      { mode },
      'the bootstrap key of this mode was revoked and stays revoked: remove it from the settings',
    );
  }
  for (const mode of superseded) {
    log.warn({ mode }, 'the bootstrap signing secret was replaced: earlier secrets stay valid for 24 h');
  }
}
