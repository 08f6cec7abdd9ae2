/**
 * Starts the service. The store is opened first: that waits for a thread of its own or for another machine, and the rest
 * of the code is loaded meanwhile. So this file imports little.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isLoopbackHost } from '#src/domain/public-address.ts';
import { prepareZones } from '#src/domain/zone.ts';
import type { EgressOptions } from '#src/egress/client.ts';
import type { Clock, Timers } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';
import { describeHost, unverifiedHosts } from '#src/store/postgres/address.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { systemClock } from '#src/system/clock.ts';
import { systemRandom } from '#src/system/random.ts';
import { openStore } from './open-store.ts';
import { nodeName } from './process.ts';
import { SERVE, type ServiceVariant } from './service-variant.ts';
import type { Settings } from './settings.ts';

export interface ServiceIo {
  /** Writes to standard output. */
  readonly print: (text: string) => void;
  readonly log: Log;
  /** The default is the clock of the machine. Nodes on PostgreSQL follow the clock of the database instead. */
  readonly clock?: Clock;
  /** The default is the timers of the process. */
  readonly timers?: Timers;
  /** The default is the network of the machine. */
  readonly network?: Pick<EgressOptions, 'resolve' | 'connect'>;
}

export interface Service {
  readonly url: string;
  /** Stops accepting requests, waits for requests and attempts in flight within the grace, and closes the store. */
  stop(): Promise<void>;
}

/** The store, and the name of this process among all that use it. */
export interface OpenedStore {
  readonly store: SqlStore;
  readonly node: string;
}

export async function startService(
  settings: Settings,
  io: ServiceIo,
  variant: ServiceVariant = SERVE,
): Promise<Service> {
  const { isPlayground } = variant;
  requireLoopback(settings, variant);
  warnOfUnverified(settings, io.log);
  const node = nodeName(systemRandom());
  const [store, composition] = await Promise.allSettled([
    openStore(settings, { exclusive: true, create: true, node, isPlayground }),
    loadMeanwhile(),
  ]);
  if (store.status === 'rejected') throw store.reason;
  if (composition.status === 'rejected') {
    await store.value.close();
    throw composition.reason;
  }
  return composition.value.composeService(settings, io, variant, { store: store.value, node });
}

/** Loading blocks the process. One turn of the event loop before lets the client of PostgreSQL begin to connect. */
async function loadMeanwhile(): Promise<typeof import('./compose-service.ts')> {
  await nextTurn();
  const composition = await import('./compose-service.ts');
  prepareZones(systemClock.now());
  return composition;
}

/** The keys of `sched dev` are public and its dashboard has no password, so no other machine may reach it. */
function requireLoopback({ host }: Settings, { isPlayground }: ServiceVariant): void {
  if (isPlayground && !isLoopbackHost(host)) throw new Error('sched dev listens on loopback addresses only.');
}

/** Warns before the first connection, because that sends the password. */
function warnOfUnverified({ databaseUrl }: Settings, log: Log): void {
  const hosts = databaseUrl === null ? [] : unverifiedHosts(databaseUrl);
  if (databaseUrl === null || hosts.length === 0) return;
  log.warn(
    { hosts: hosts.map(describeHost).join(','), sslmode: databaseUrl.tlsMode },
    'the connection to PostgreSQL is not verified: set sslmode=verify-full in SCHED_DATABASE_URL',
  );
}
