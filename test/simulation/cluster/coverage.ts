/** Where a run of a cluster has been, beyond where a single process gets. */
import { gateKey } from '../checkers/breaker.ts';
import type { ClusterChecker, ClusterSimulationView } from './simulation-view.ts';

export const CLUSTER_SITUATIONS = [
  'a slot given back',
  'a slot taken that nobody held',
  'a slot of the dead freed',
  'a slot lost by a node that lives',
  'a claim refused because its slot had moved',
  'a claim of a dead node closed',
  'an attempt that goes on while its slot is elsewhere',
  'a gate saved for the next owner',
  'an order carried out by another node than it came to',
] as const;
export type ClusterSituation = (typeof CLUSTER_SITUATIONS)[number];

export function clusterCoverageOf(simulation: ClusterSimulationView): {
  readonly checker: ClusterChecker;
  readonly covered: ReadonlyMap<ClusterSituation, number>;
} {
  const covered = new Map<ClusterSituation, number>();
  const count = (situation: ClusterSituation) => covered.set(situation, (covered.get(situation) ?? 0) + 1);
  const { slots, observer } = simulation;
  const orderedFrom = new Map<string, string | null>();
  const checker: ClusterChecker = {
    name: 'coverage',
    slotChanged([before, after]) {
      if (after.owner !== null) count('a slot taken that nobody held');
      else if (simulation.writer === before.owner) count('a slot given back');
      else count('a slot of the dead freed');
      if (simulation.writer !== before.owner && simulation.findInstance(before.owner ?? undefined) !== null) {
        count('a slot lost by a node that lives');
      }
    },
    claimRefused({ delivery }) {
      const { owner } = slots.slotOfGate(gateKey(delivery));
      if (owner !== delivery.claim?.node) count('a claim refused because its slot had moved');
    },
    claimAnswered({ delivery }, answer) {
      const { owner } = slots.slotOfGate(gateKey(delivery));
      if (answer === 'done' && (orderedFrom.get(delivery.id) ?? owner) !== owner) {
        count('an order carried out by another node than it came to');
      }
    },
    delivery({ before, after }) {
      if (after === null) return;
      if (before === null) orderedFrom.set(after.id, simulation.writer);
      const node = before?.claim?.node;
      if (node === undefined || after.status === 'claimed') return;
      if (simulation.findInstance(node) === null && simulation.writer !== node)
        count('a claim of a dead node closed');
    },
    settleRequested({ delivery }, by) {
      const sent = observer.sentOf(delivery.id, delivery.attemptCount);
      if (sent?.node === by.node && !simulation.holds(by, delivery)) {
        count('an attempt that goes on while its slot is elsewhere');
      }
    },
    gateSaved() {
      if (simulation.findInstance(simulation.writer ?? undefined)?.state === 'stopping')
        count('a gate saved for the next owner');
    },
  };
  return { checker, covered };
}
