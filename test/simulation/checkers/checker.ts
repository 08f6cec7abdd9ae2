/** What a checker is told of, and what it may look at. Each holds one promise of the service. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { ClaimWrite, EndWrite, SettleWrite } from '#src/ports/store.ts';
import type { ApiCall } from '../api-call.ts';
import type { SentRequest } from '../network.ts';

export class Violation extends Error {
  readonly checker: string;

  constructor(checker: string, message: string) {
    super(message);
    this.name = 'Violation';
    this.checker = checker;
  }
}

/** One life of the service or of one of its nodes, from its start to its end, however it ends. */
export interface InstanceFacts {
  readonly node: string;
  readonly state: 'starting' | 'up' | 'stopping' | 'ended';
  readonly startedMs: number;
  /** When it began to fire. */
  readonly upSinceMs: number;
  readonly stopping: { readonly sinceMs: number; readonly graceMs: number } | null;
  /** When it was last kept from its work: its store failed, the clock was set, it stood still, its lease ran out. */
  readonly disturbedMs: number;
  /** When it last went on after it had stood still. */
  readonly resumedMs: number;
  /** When its lease last was not valid: until then others took it for dead. */
  readonly leaseInvalidMs: number;
  /** What time it is for it, provided that it is told right. */
  now(): Instant;
}

export interface DeliveryChange {
  readonly before: Delivery | null;
  /** Null: removed. */
  readonly after: Delivery | null;
  readonly attemptsBefore: readonly Attempt[];
  readonly attempts: readonly Attempt[];
}

export type ClaimAnswer = 'done' | 'stale' | 'failed';

export interface GateSave {
  readonly partition: Partition;
  readonly endpoint: string;
  /** As it was saved, unread; null when it was removed. */
  readonly state: string | null;
}

export interface Checker {
  readonly name: string;
  /** Something was made durable. */
  delivery?(change: DeliveryChange): void;
  schedule?(before: Schedule | null, after: Schedule | null): void;
  profile?(before: EndpointProfile | null, after: EndpointProfile): void;
  gateSaved?(save: GateSave): void;
  /** After everything of one verb. */
  verbEnded?(touched: ReadonlySet<ScheduleId>): void;
  /** The engine decided; nothing is stored yet. */
  claimRequested?(write: ClaimWrite, by: InstanceFacts): void;
  claimAnswered?(write: ClaimWrite, answer: ClaimAnswer): void;
  settleRequested?(write: SettleWrite, by: InstanceFacts): void;
  endRequested?(write: EndWrite, by: InstanceFacts): void;
  deferRequested?(delivery: Delivery, by: InstanceFacts): void;
  /** A claim, a settling, an end or a deferral of these was answered, or failed. */
  writesEnded?(deliveries: readonly Delivery[]): void;
  /** The engine knows that these are stored, and when they are due. */
  learned?(deliveries: readonly Delivery[]): void;
  /** The network was handed a request, and knows how it ended. */
  requestSent?(sent: SentRequest): void;
  requestEnded?(sent: SentRequest): void;
  callAnswered?(call: ApiCall): void;
  instanceEnded?(instance: InstanceFacts, how: 'crash' | 'stop'): void;
  /**
   * Whoever dispatches these endpoints next knows of their gates what was saved. `given_back`: whoever did so
   * before had the time to save them.
   */
  gatesMoved?(isAmong: (gate: string) => boolean, how: 'given_back' | 'lost'): void;
  clockSet?(byMs: number): void;
  /** After every event. */
  step?(): void;
  /** Faults have stopped, and all that had to happen has had its time. */
  atEnd?(): void;
}
