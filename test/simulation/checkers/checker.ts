/** What a checker is told of, and what it may look at. Each holds one promise of the service. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { Profile } from '#src/domain/profile.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { ClaimWrite, EndWrite, SettleWrite } from '#src/ports/store.ts';
import type { ApiCall } from '../api-call.ts';
import type { Sent } from '../network.ts';
import type { VirtualTime } from '../virtual-time.ts';
import type { Witness } from '../witness.ts';

export class Violation extends Error {
  readonly checker: string;

  constructor(checker: string, message: string) {
    super(message);
    this.name = 'Violation';
    this.checker = checker;
  }
}

/** One life of the service, from its start to its end, however it ends. */
export interface LifeFacts {
  readonly node: string;
  readonly state: 'starting' | 'up' | 'stopping' | 'ended';
  readonly bornMs: number;
  /** When it began to fire. */
  readonly upSinceMs: number;
  readonly stopping: { readonly sinceMs: number; readonly graceMs: number } | null;
}

export interface Scene {
  readonly time: VirtualTime;
  readonly witness: Witness;
  readonly life: LifeFacts | null;
  /** When the store last failed a read or a write, or the clock was set. */
  readonly troubleMs: number;
  readonly clockSetMs: number;
  /** Until when the disk was at a batch that took it long. */
  readonly slowUntilMs: number;
  readonly retentionMs: number;
  /** The verbs asked of the store and not answered, by delivery. */
  isAsked(deliveryId: Delivery['id']): boolean;
  isLostClaim(token: string): boolean;
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
  profile?(before: Profile | null, after: Profile): void;
  gateSaved?(save: GateSave): void;
  /** After everything of one verb. */
  verb?(touched: ReadonlySet<ScheduleId>): void;
  /** The engine decided; nothing is stored yet. */
  claimAsked?(write: ClaimWrite): void;
  claimAnswered?(write: ClaimWrite, answer: ClaimAnswer): void;
  settleAsked?(write: SettleWrite): void;
  endAsked?(write: EndWrite): void;
  putOffAsked?(delivery: Delivery): void;
  /** The engine knows that these are stored, and when they are due. */
  heard?(deliveries: readonly Delivery[]): void;
  /** The network was handed a request, and knows how it ended. */
  sent?(sent: Sent): void;
  exchanged?(sent: Sent): void;
  answered?(call: ApiCall): void;
  lifeEnded?(node: string, how: 'crash' | 'stop'): void;
  clockSet?(byMs: number): void;
  /** After every event. */
  step?(): void;
  /** Faults have stopped, and all that had to happen has had its time. */
  atEnd?(): void;
}

export type CheckerOf = (scene: Scene) => Checker;
