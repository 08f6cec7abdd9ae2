/** Counts the permits in use, from the engine's writes to the store and from the requests on the network. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Checker, InstanceFacts, RequestedClaim } from './checker.ts';
import { Permits, type Punctuality } from './permits.ts';
import type { SimulationView } from './simulation-view.ts';

/** A delivery that is found later than this waits in the overdue queue. */
const OVERDUE_AFTER_MS = 1_000;

type Counting = Required<
  Pick<
    Checker,
    | 'delivery'
    | 'claimAnswered'
    | 'settleRequested'
    | 'requestEnded'
    | 'deferRequested'
    | 'endRequested'
    | 'writesEnded'
    | 'instanceEnded'
  >
>;

export interface CountedPermits {
  readonly permits: Permits;
  /** The queue of its endpoint in which the delivery waits or waited. Both, where it is not certain. */
  readonly waitsAs: (delivery: Delivery, dueMs: number) => readonly Punctuality[];
  /** The checker calls this after it has judged the claim itself. */
  readonly claimRequested: (write: RequestedClaim, by: InstanceFacts) => void;
  /** The other events that the count depends on. */
  readonly counting: Counting;
}

export function countedPermits(simulation: SimulationView): CountedPermits {
  const { time, observer } = simulation;
  const permits = new Permits(simulation.permitsMax);
  /** When a delivery last changed. A claim counts for the next attempt only. */
  const changedMs = new Map<DeliveryId, number>();

  const waitsAs = (delivery: Delivery, dueMs: number): readonly Punctuality[] => {
    if (time.elapsedMs - dueMs <= OVERDUE_AFTER_MS) return ['in_time'];
    const knownMs = changedMs.get(delivery.id);
    const undisturbedMs = simulation.undisturbedSinceMs(delivery);
    const wasKnown = knownMs !== undefined && undisturbedMs !== null;
    return wasKnown && Math.max(knownMs, undisturbedMs) <= dueMs ? ['in_time'] : ['in_time', 'overdue'];
  };

  const hold = (token: string, delivery: Delivery, dueMs: number, by: InstanceFacts): void => {
    const bodyBytes = simulation.payloads.bodyBytesOf(delivery.id);
    const kinds = waitsAs(delivery, dueMs);
    permits.hold(token, { delivery, kinds, bodyBytes, node: by.node }, time.elapsedMs);
  };
  const release = (token: string): void => permits.release(token, time.elapsedMs);
  const holdUnsent = (delivery: Delivery, by: InstanceFacts): void => {
    const dueAt = observer.deliveries.get(delivery.id)?.dueAt ?? null;
    hold(delivery.id, delivery, dueAt === null ? time.elapsedMs : time.elapsedAt(dueAt), by);
  };

  return {
    permits,
    waitsAs,
    claimRequested({ delivery, attempt }, by) {
      hold(tokenOf(attempt), delivery, time.elapsedAt(attempt.dueAt), by);
    },
    counting: {
      delivery({ after }) {
        if (after !== null && after.status !== 'claimed') changedMs.set(after.id, time.elapsedMs);
      },
      claimAnswered({ attempt }, answer) {
        if (answer !== 'done') release(tokenOf(attempt));
      },
      settleRequested: ({ attempt }) => release(tokenOf(attempt)),
      requestEnded: (sent) => release(tokenOf(sent)),
      deferRequested: holdUnsent,
      endRequested: ({ delivery }, by) => holdUnsent(delivery, by),
      writesEnded(deliveries) {
        for (const { id } of deliveries) release(id);
      },
      instanceEnded: ({ node }) => permits.releaseAllOf(node, time.elapsedMs),
    },
  };
}

function tokenOf({ deliveryId, attemptNo }: Pick<Attempt, 'deliveryId' | 'attemptNo'>): string {
  return `${deliveryId}/${attemptNo}`;
}
