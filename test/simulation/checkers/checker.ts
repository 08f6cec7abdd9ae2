/** A checker verifies one promise of the service. The simulation calls it with events. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { ClaimWrite, EndWrite, LoadedDelivery, SettleWrite } from '#src/ports/store.ts';
import type { ApiCall } from '../api-call.ts';
import type { SentRequest } from '../network.ts';
import type { RequestFacts } from '../request.ts';

export class Violation extends Error {
  readonly checker: string;

  constructor(checker: string, message: string) {
    super(message);
    this.name = 'Violation';
    this.checker = checker;
  }
}

/** One process of the service or one node, from its start to its end. */
export interface InstanceFacts {
  readonly node: string;
  readonly state: 'starting' | 'up' | 'stopping' | 'ended';
  readonly startedMs: number;
  /** When it began to send deliveries. */
  readonly upSinceMs: number;
  readonly stopping: { readonly sinceMs: number; readonly graceMs: number } | null;
  /** When it was last disturbed: its store failed, the clock was set, it was paused, or its lease ran out. */
  readonly disturbedMs: number;
  /** When it last continued after a pause. */
  readonly resumedMs: number;
  /** When its lease was last invalid. Until then other nodes considered it dead. */
  readonly leaseInvalidMs: number;
  /** The time by its own clock. */
  now(): Instant;
}

export interface DeliveryChange {
  readonly before: Delivery | null;
  /** Null when the delivery was removed. */
  readonly after: Delivery | null;
  readonly attemptsBefore: readonly Attempt[];
  readonly attempts: readonly Attempt[];
}

export interface RequestedClaim extends ClaimWrite {
  readonly attempt: Attempt;
}

export type ClaimAnswer = 'done' | 'stale' | 'failed';

export interface GateSave {
  readonly partition: Partition;
  readonly endpoint: string;
  /** The saved text, not parsed. Null when the gate was removed. */
  readonly state: string | null;
}

export interface Checker {
  readonly name: string;
  /** The next four events report durable changes. */
  delivery?(change: DeliveryChange): void;
  schedule?(before: Schedule | null, after: Schedule | null): void;
  profile?(before: EndpointProfile | null, after: EndpointProfile): void;
  gateSaved?(save: GateSave): void;
  /** The cleaner begins to remove what retention does not keep at this time. */
  cleanerRound?(trustedAt: Instant): void;
  /** All steps of one verb are done. `touched`: schedules that changed, or whose deliveries or payloads did. */
  verbEnded?(touched: ReadonlySet<ScheduleId>): void;
  /** The engine has read these deliveries and their schedules, at some time since `sinceMs`. */
  loaded?(loaded: readonly LoadedDelivery[], sinceMs: number, by: InstanceFacts): void;
  /** The engine has decided, but nothing is stored yet. */
  claimRequested?(write: RequestedClaim, by: InstanceFacts): void;
  claimAnswered?(write: RequestedClaim, answer: ClaimAnswer): void;
  settleRequested?(write: SettleWrite, by: InstanceFacts): void;
  endRequested?(write: EndWrite, by: InstanceFacts): void;
  deferRequested?(delivery: Delivery, by: InstanceFacts): void;
  /** A claim, settlement, end or deferral of these deliveries was answered or failed. */
  writesEnded?(deliveries: readonly Delivery[]): void;
  /** The engine knows that these deliveries are stored, and when they are due. */
  learned?(deliveries: readonly Delivery[]): void;
  /** The network received a request, or knows how it ended. */
  requestSent?(sent: SentRequest): void;
  requestEnded?(sent: SentRequest): void;
  /** A client sends a request, perhaps again. */
  callSent?(call: RequestFacts): void;
  callAnswered?(call: ApiCall): void;
  instanceEnded?(instance: InstanceFacts, how: 'crash' | 'stop'): void;
  /**
   * The next dispatcher of these endpoints knows only the saved state of their gates. `given_back` means that
   * the previous dispatcher had the time to save them.
   */
  gatesMoved?(isAmong: (gate: string) => boolean, how: 'given_back' | 'lost'): void;
  clockSet?(byMs: number): void;
  /** Called after every event. */
  step?(): void;
  /** Faults have stopped, and everything due has had the time to end. */
  atEnd?(): void;
}
