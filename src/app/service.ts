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
import type { Hints } from '#src/ports/hints.ts';
import type { Random } from '#src/ports/random.ts';
import type { Log } from '#src/ports/telemetry.ts';
import { systemClock } from '#src/system/clock.ts';
import { prometheusMetrics } from '#src/system/metrics.ts';
import { systemRandom } from '#src/system/random.ts';
import { systemTimers } from '#src/system/timers.ts';
import { SettingsError } from './failures.ts';
import { announcement } from './first-start.ts';
import { closeServer, listen } from './listening.ts';
import { observedStore } from './observed-store.ts';
import { openStore } from './open-store.ts';
import { openVault } from './open-vault.ts';
import { SETTINGS, type Settings } from './settings.ts';

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

export async function startService(settings: Settings, io: ServiceIo): Promise<Service> {
  const clock = systemClock;
  const random = systemRandom();
  const metrics = prometheusMetrics();
  const opened = await openStore({ directory: settings.dataDir, clock, exclusive: true, create: true });
  try {
    const store = observedStore(opened, metrics);
    const control = { store, clock, random, ids: new IdMint((count) => random.bytes(count)) };
    const vault = await openVault(settings, control, true);
    const report = await bootstrapDefault({ ...control, vault }, settings);
    // Before anything else can fail: what was just made is known nowhere else.
    io.print(announcement(report.made));

    const egress = createEgress({
      allow: settings.egressAllow ?? [],
      allowHttp: settings.egressAllowHttp,
      certificates: settings.egressCertificates,
      timers: systemTimers,
    });
    const engine =
      settings.role === 'api'
        ? null
        : new Engine(
            {
              ...control,
              store,
              egress,
              vault,
              timers: systemTimers,
              log: io.log,
              metrics,
              node: nodeName(random),
            },
            { retentionMs: settings.retentionMs },
          );

    const server = buildServer({
      store,
      vault,
      clock,
      random,
      log: io.log,
      metrics,
      hints: engine ?? NO_HINTS,
      isFiring: () => engine?.isFiring ?? true,
      httpAllowed: settings.egressAllowHttp && settings.egressAllow !== null,
    });
    const url = await listen(server, settings);
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
          await egress.close();
          await opened.close();
        }
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Another dispatcher is told by the store alone. */
const NO_HINTS: Hints = { due: () => {}, lookAgain: () => {} };

const NODE_NAME_BYTES = 8;

function nodeName(random: Random): string {
  return Buffer.from(random.bytes(NODE_NAME_BYTES)).toString('hex');
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
