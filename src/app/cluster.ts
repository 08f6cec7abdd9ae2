/** Connects a node to the others that share its store: a common clock, and a channel for hints. */
import { NO_PEERS } from '#src/engine/cluster/hint-forwarder.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { Peers } from '#src/ports/hints.ts';
import type { Log } from '#src/ports/telemetry.ts';
import type { DatabaseAddress } from '#src/store/postgres/address.ts';
import { withAdvisoryLock } from '#src/store/postgres/advisory-lock.ts';
import { PeerChannel } from '#src/store/postgres/peer-channel.ts';
import { systemClock } from '#src/system/clock.ts';
import { ReferenceClock } from '#src/system/reference-clock.ts';
import { systemTimers } from '#src/system/timers.ts';

export interface Cluster {
  readonly clock: ReferenceClock;
  /** Sends hints to the other nodes. */
  readonly peers: Peers;
  /** Runs the work under a lock that all nodes share. */
  runExclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Hints of the other nodes go to `listener` from now on. */
  listen(listener: Peers): void;
  close(): Promise<void>;
}

export async function joinCluster(
  address: DatabaseAddress,
  store: ClusterStore,
  node: string,
  log: Log,
): Promise<Cluster> {
  const clock = new ReferenceClock({
    store,
    clock: systemClock,
    timers: systemTimers,
    stopwatch: systemTimers,
    log,
  });
  let listener: Peers = NO_PEERS;
  const channel = new PeerChannel({
    address,
    timers: systemTimers,
    node,
    listener: {
      due: (due) => listener.due(due),
      rescan: () => listener.rescan(),
      slotsChanged: () => listener.slotsChanged(),
    },
  });
  try {
    // A pooler gives each transaction another session, so there is no session to listen on.
    await Promise.all([clock.start(), address.isPooled ? null : channel.open()]);
  } catch (error) {
    clock.stop();
    throw error;
  }
  return {
    clock,
    peers: address.isPooled ? NO_PEERS : channel,
    runExclusively: (work) => withAdvisoryLock(address, systemTimers, work),
    listen: (next) => {
      listener = next;
    },
    close: async () => {
      clock.stop();
      await channel.close();
    },
  };
}
