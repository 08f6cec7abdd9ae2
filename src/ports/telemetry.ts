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
  /** One API request answered. `route` is the pattern, never the path with its ids. */
  requestServed(method: string, route: string, status: number, seconds: number): void;
  /** One store verb carried out, from the call to its answer. */
  storeVerb(verb: string, outcome: 'ok' | 'error', seconds: number): void;
}

export interface ProcessMetrics {
  /** How late the event loop came back to a timer. */
  eventLoopDelay(seconds: number): void;
}

export interface AttemptFacts {
  readonly outcome: AttemptOutcome;
  /** What its delivery became. */
  readonly status: DeliveryStatus;
  readonly seconds: number;
}

/** What can be read off the engine at any moment. */
export interface EngineGauges {
  /** Due deliveries in memory that wait for their turn. */
  readonly waiting: number;
  readonly inFlight: number;
  readonly breakers: { readonly open: number; readonly halfOpen: number };
}

export interface EngineMetrics {
  /** How late after its due instant a delivery was claimed, and its request handed to the network. */
  lateness(stage: 'claim' | 'send', seconds: number): void;
  attemptFinished(facts: AttemptFacts): void;
  /** Deliveries ended without an attempt, or deferred by the gate. */
  unsent(what: 'expired' | 'dead_letter' | 'deferred'): void;
  /** Reads the gauges whenever the metrics are asked for. */
  watch(read: () => EngineGauges): void;
}

/** What can be read off a node among others at any moment. */
export interface ClusterGauges {
  readonly slotsOwned: number;
  /** Living ones, this one among them, as of its last renewal. */
  readonly nodes: number;
  readonly clockOffsetSeconds: number;
  readonly isClockSynchronized: boolean;
  readonly isLeaseValid: boolean;
}

export interface ClusterMetrics {
  leaseRenewalFailed(): void;
  /** `lost` means that another node took the slots, because this node did not renew its lease in time. */
  slotsMoved(how: 'gained' | 'released' | 'lost', count: number): void;
  /** Reads the gauges whenever the metrics are asked for. */
  watchCluster(read: () => ClusterGauges): void;
}

/** The metrics as a Prometheus server scrapes them. */
export interface Exposition {
  readonly contentType: string;
  exposition(): Promise<string>;
}
