/** Where a run of a cluster has been, beyond where a single process gets. */
import { gateKey } from '../checkers/breaker.ts';
import type { ClusterChecker, ClusterScene } from './scene.ts';

export const CLUSTER_PLACES = [
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
export type ClusterPlace = (typeof CLUSTER_PLACES)[number];

export function clusterCoverageOf(scene: ClusterScene): {
  readonly checker: ClusterChecker;
  readonly seen: ReadonlyMap<ClusterPlace, number>;
} {
  const seen = new Map<ClusterPlace, number>();
  const see = (place: ClusterPlace) => seen.set(place, (seen.get(place) ?? 0) + 1);
  const { slots, witness } = scene;
  const orderedFrom = new Map<string, string | null>();
  const checker: ClusterChecker = {
    name: 'coverage',
    slot([before, after]) {
      if (after.owner !== null) see('a slot taken that nobody held');
      else if (scene.writer === before.owner) see('a slot given back');
      else see('a slot of the dead freed');
      if (scene.writer !== before.owner && scene.lifeOf(before.owner ?? undefined) !== null) {
        see('a slot lost by a node that lives');
      }
    },
    refused({ delivery }) {
      const { owner } = slots.ofGate(gateKey(delivery));
      if (owner !== delivery.claim?.node) see('a claim refused because its slot had moved');
    },
    claimAnswered({ delivery }, answer) {
      const { owner } = slots.ofGate(gateKey(delivery));
      if (answer === 'done' && (orderedFrom.get(delivery.id) ?? owner) !== owner) {
        see('an order carried out by another node than it came to');
      }
    },
    delivery({ before, after }) {
      if (after === null) return;
      if (before === null) orderedFrom.set(after.id, scene.writer);
      const node = before?.claim?.node;
      if (node === undefined || after.status === 'claimed') return;
      if (scene.lifeOf(node) === null && scene.writer !== node) see('a claim of a dead node closed');
    },
    settleAsked({ delivery }, by) {
      const sent = witness.sentOf(delivery.id, delivery.attemptCount);
      if (sent?.node === by.node && !scene.holds(by, delivery)) {
        see('an attempt that goes on while its slot is elsewhere');
      }
    },
    gateSaved() {
      if (scene.lifeOf(scene.writer ?? undefined)?.state === 'stopping')
        see('a gate saved for the next owner');
    },
  };
  return { checker, seen };
}
