/** Keeps count of the permits that are held, by what the engine asks of the store and what the network sees. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import { bodyBytesOf } from '../bodies.ts';
import type { Checker, LifeFacts } from './checker.ts';
import { Permits, type Punctuality } from './permits.ts';
import type { Scene } from './scene.ts';

/** A delivery that is found later than this waits as overdue work. */
const OVERDUE_AFTER_MS = 1_000;

type Counting = Required<
  Pick<
    Checker,
    | 'delivery'
    | 'claimAnswered'
    | 'settleAsked'
    | 'exchanged'
    | 'deferAsked'
    | 'endAsked'
    | 'unasked'
    | 'lifeEnded'
  >
>;

export interface CountedPermits {
  readonly permits: Permits;
  /** In which queue of its endpoint it waits, or waited until now; both where nobody can say. */
  readonly waitsAs: (delivery: Delivery, dueMs: number) => readonly Punctuality[];
  /** To be told of by the checker after its own judgement of that claim. */
  readonly claimAsked: (write: ClaimWrite, by: LifeFacts) => void;
  /** The other events that the count depends on. */
  readonly counting: Counting;
}

export function countedPermits(scene: Scene): CountedPermits {
  const { time, witness } = scene;
  const permits = new Permits(scene.permitsMax);
  /** Since when it has been as it is; a claim counts for the next attempt only. */
  const changedMs = new Map<DeliveryId, number>();

  const waitsAs = (delivery: Delivery, dueMs: number): readonly Punctuality[] => {
    if (time.elapsedMs - dueMs <= OVERDUE_AFTER_MS) return ['in_time'];
    const knownMs = changedMs.get(delivery.id);
    const undisturbedMs = scene.undisturbedSinceMs(delivery);
    const wasKnown = knownMs !== undefined && undisturbedMs !== null;
    return wasKnown && Math.max(knownMs, undisturbedMs) <= dueMs ? ['in_time'] : ['in_time', 'overdue'];
  };

  const hold = (token: string, delivery: Delivery, dueMs: number, by: LifeFacts): void => {
    const schedule = witness.schedules.get(delivery.scheduleId);
    const bodyBytes = schedule === undefined ? null : bodyBytesOf(schedule);
    const kinds = waitsAs(delivery, dueMs);
    permits.hold(token, { delivery, kinds, bodyBytes, node: by.node }, time.elapsedMs);
  };
  const release = (token: string): void => permits.release(token, time.elapsedMs);
  const holdUnsent = (delivery: Delivery, by: LifeFacts): void => {
    const dueAt = witness.deliveries.get(delivery.id)?.dueAt ?? null;
    hold(delivery.id, delivery, dueAt === null ? time.elapsedMs : time.elapsedAt(dueAt), by);
  };

  return {
    permits,
    waitsAs,
    claimAsked({ delivery, attempt }, by) {
      hold(tokenOf(attempt), delivery, time.elapsedAt(attempt.dueAt), by);
    },
    counting: {
      delivery({ after }) {
        if (after !== null && after.status !== 'claimed') changedMs.set(after.id, time.elapsedMs);
      },
      claimAnswered({ attempt }, answer) {
        if (answer !== 'done') release(tokenOf(attempt));
      },
      settleAsked: ({ attempt }) => release(tokenOf(attempt)),
      exchanged: (sent) => release(tokenOf(sent)),
      deferAsked: holdUnsent,
      endAsked: ({ delivery }, by) => holdUnsent(delivery, by),
      unasked(deliveries) {
        for (const { id } of deliveries) release(id);
      },
      lifeEnded: ({ node }) => permits.releaseAllOf(node, time.elapsedMs),
    },
  };
}

function tokenOf({ deliveryId, attemptNo }: Pick<Attempt, 'deliveryId' | 'attemptNo'>): string {
  return `${deliveryId}/${attemptNo}`;
}
