import type { AttemptOutcome, DeliveryStatus } from '#src/domain/delivery.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type LogFields = Readonly<Record<string, string | number | boolean | null>>;

/** Structured logs. Fields never hold secrets, header values or bodies. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export interface Metrics {
  /** Counts an answered API request. `route` is the pattern, never the path with its ids. */
  requestServed(method: string, route: string, status: number, seconds: number): void;
  /** Counts a store verb, from the call to its answer. */
  storeVerb(verb: string, outcome: 'ok' | 'error', seconds: number): void;
}

export interface ProcessMetrics {
  /** Records how late the event loop was for a timer. */
  eventLoopDelay(seconds: number): void;
}

export interface AttemptFacts {
  readonly outcome: AttemptOutcome;
  /** The status of its delivery after the attempt. */
  readonly status: DeliveryStatus;
  readonly seconds: number;
}

/** The current numbers of the engine. */
export interface EngineGauges {
  /** Due deliveries in memory that wait to be sent. */
  readonly waiting: number;
  readonly inFlight: number;
  readonly breakers: { readonly open: number; readonly halfOpen: number };
}

export interface EngineMetrics {
  /** Records how long after its due instant a delivery was claimed, or its request was sent. */
  lateness(stage: 'claim' | 'send', seconds: number): void;
  attemptFinished(facts: AttemptFacts): void;
  /** Counts deliveries that ended without an attempt or were deferred by the gate. */
  unsent(what: 'expired' | 'dead_letter' | 'deferred'): void;
  /** Registers the function that reads the gauges whenever metrics are requested. */
  watch(read: () => EngineGauges): void;
}

/** The current numbers of a node in a cluster. */
export interface ClusterGauges {
  readonly slotsOwned: number;
  /** The live nodes, including this one, as of its last renewal. */
  readonly nodes: number;
  readonly clockOffsetSeconds: number;
  readonly isClockSynchronized: boolean;
  readonly isLeaseValid: boolean;
}

export interface ClusterMetrics {
  leaseRenewalFailed(): void;
  /** `lost` means that another node took the slots, because this node did not renew its lease in time. */
  slotsMoved(how: 'gained' | 'released' | 'lost', count: number): void;
  /** Registers the function that reads the gauges whenever metrics are requested. */
  watchCluster(read: () => ClusterGauges): void;
}

/** The metrics in the format that Prometheus scrapes. */
export interface Exposition {
  readonly contentType: string;
  exposition(): Promise<string>;
}
