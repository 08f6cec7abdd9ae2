/** What a node needs to share a store with others: the clock they go by, and a way to tell each other. */
import { NO_PEERS } from '#src/engine/cluster/peer-hints.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { Peers } from '#src/ports/hints.ts';
import type { Log } from '#src/ports/telemetry.ts';
import type { DatabaseAddress } from '#src/store/postgres/address.ts';
import { withAdvisoryLock } from '#src/store/postgres/advisory-lock.ts';
import { connector } from '#src/store/postgres/connect.ts';
import { PeerChannel } from '#src/store/postgres/peer-channel.ts';
import { systemClock } from '#src/system/clock.ts';
import { ReferenceClock } from '#src/system/reference-clock.ts';
import { systemTimers } from '#src/system/timers.ts';

export interface Cluster {
  readonly clock: ReferenceClock;
  /** Tells the others. */
  readonly peers: Peers;
  /** Does the work while no other node does the like. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** From now on, what the others tell is told to `heard`. */
  listen(heard: Peers): void;
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
  await clock.start();
  let heard: Peers = NO_PEERS;
  const channel = new PeerChannel({
    connect: connector(address, { timers: systemTimers, decodeText: (text) => text }),
    timers: systemTimers,
    node,
    listener: {
      due: (due) => heard.due(due),
      rescan: () => heard.rescan(),
      slotsChanged: () => heard.slotsChanged(),
    },
  });
  // A pooler gives every transaction another session: there is none to listen on.
  if (!address.isPooled) {
    await channel.open().catch((error: unknown) => {
      clock.stop();
      throw error;
    });
  }
  return {
    clock,
    peers: address.isPooled ? NO_PEERS : channel,
    alone: (work) => withAdvisoryLock(address, systemTimers, work),
    listen: (listener) => {
      heard = listener;
    },
    close: async () => {
      clock.stop();
      await channel.close();
    },
  };
}
