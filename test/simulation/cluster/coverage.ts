/** Counts the situations of a cluster that a single process cannot reach. */
import type { DeliveryId } from '#src/domain/id.ts';
import { gateKey } from '../checkers/breaker.ts';
import type { ClusterChecker, ClusterSimulationView } from './simulation-view.ts';

export const CLUSTER_SITUATIONS = [
  'a slot given back',
  'a free slot taken',
  'a slot of a dead node freed',
  'a slot lost by a live node',
  'a claim refused because its slot had moved',
  'a claim of a dead node closed',
  'an attempt that continues after its slot moved',
  'a gate saved for the next owner',
  'a delivery sent by another node than created it',
  'a notification of an attempt of a dead node',
  'a notification sent by another node than made it',
] as const;
export type ClusterSituation = (typeof CLUSTER_SITUATIONS)[number];

export function clusterCoverageOf(simulation: ClusterSimulationView): {
  readonly checkers: readonly ClusterChecker[];
  readonly covered: ReadonlyMap<ClusterSituation, number>;
} {
  const covered = new Map<ClusterSituation, number>();
  const count = (situation: ClusterSituation) => covered.set(situation, (covered.get(situation) ?? 0) + 1);
  const { slots, observer } = simulation;
  const createdBy = new Map<string, string | null>();
  /** The last attempt of the delivery may be of a node that has died, and another has closed it. */
  const noteMade = (of: DeliveryId): void => {
    const told = observer.deliveries.get(of);
    const sent = told === undefined ? null : observer.sentOf(told.id, told.attemptCount);
    const isOfDead = sent !== null && simulation.findInstance(sent.node) === null;
    if (isOfDead && simulation.writer !== sent.node) count('a notification of an attempt of a dead node');
  };
  const checker: ClusterChecker = {
    name: 'coverage',
    slotChanged([before, after]) {
      if (after.owner !== null) count('a free slot taken');
      else if (simulation.writer === before.owner) count('a slot given back');
      else count('a slot of a dead node freed');
      if (simulation.writer !== before.owner && simulation.findInstance(before.owner ?? undefined) !== null) {
        count('a slot lost by a live node');
      }
    },
    claimRefused({ delivery }) {
      const { owner } = slots.slotOfGate(gateKey(delivery));
      if (owner !== delivery.claim?.node) count('a claim refused because its slot had moved');
    },
    claimAnswered({ delivery }, answer) {
      const { owner } = slots.slotOfGate(gateKey(delivery));
      if (answer === 'done' && (createdBy.get(delivery.id) ?? owner) !== owner) {
        count('a delivery sent by another node than created it');
        if (delivery.notificationOf !== null) count('a notification sent by another node than made it');
      }
    },
    delivery({ before, after }) {
      if (after === null) return;
      if (before === null) createdBy.set(after.id, simulation.writer);
      if (before === null && after.notificationOf !== null) noteMade(after.notificationOf);
      const node = before?.claim?.node;
      if (node === undefined || after.status === 'claimed') return;
      if (simulation.findInstance(node) === null && simulation.writer !== node)
        count('a claim of a dead node closed');
    },
    settleRequested({ delivery }, by) {
      const sent = observer.sentOf(delivery.id, delivery.attemptCount);
      if (sent?.node === by.node && !simulation.holds(by, delivery)) {
        count('an attempt that continues after its slot moved');
      }
    },
    gateSaved() {
      if (simulation.findInstance(simulation.writer ?? undefined)?.state === 'stopping')
        count('a gate saved for the next owner');
    },
  };
  return { checkers: [checker], covered };
}
