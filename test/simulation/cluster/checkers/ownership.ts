/**
 * A slot has one owner at a time, and every change of owner begins a new epoch. A slot of a live node is
 * neither taken nor freed by others. A node without a lease takes no slot. A node's decision about a delivery
 * or a gate is stored only while the node holds the slot, in the epoch of the decision.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import { gateKey } from '../../checkers/breaker.ts';
import { Violation } from '../../checkers/checker.ts';
import type { ClusterChecker, ClusterSimulationView } from '../simulation-view.ts';
import type { SlotRow } from '../slot-table.ts';

const NAME = 'ownership';
/** The largest difference between the clocks of two nodes. */
const CLOCKS_MS = 150;
/** A node that was undisturbed for this long has no older calls on their way to the store. */
const PROMPT_MS = 1_000;
const DECIDED_BY_OWNERS: ReadonlySet<string> = new Set(['claim', 'endUnsent', 'defer', 'saveGates']);

export function ownershipChecker(simulation: ClusterSimulationView): ClusterChecker {
  const { slots, time } = simulation;

  const hasLease = (node: string, atLeast: number): boolean =>
    (slots.leases.get(node) ?? 0) > time.now() + atLeast;

  /** Other nodes free only the slots of dead nodes. */
  const checkOwnerDied = (owner: string, violation: (what: string) => Violation): void => {
    const leftMs = (slots.leasesBefore.get(owner) ?? 0) - time.now();
    if (leftMs > CLOCKS_MS)
      throw violation(`was freed by ${simulation.writer}, but its owner has a lease for ${leftMs} ms more`);
  };

  /** Only the current owner of the slot writes it, in the current epoch. */
  const checkFence = (gate: string, what: string): void => {
    const { verbInProgress: writing } = simulation;
    if (writing === null || !DECIDED_BY_OWNERS.has(writing.verb)) return;
    const { slot, owner, epoch } = slots.slotOfGate(gate);
    const violation = (why: string) =>
      new Violation(NAME, `${writing.verb} of ${writing.node} for ${what} was accepted: ${why}`);
    if (owner !== writing.node) throw violation(`slot ${slot} is held by ${owner}`);
    const decidedIn = writing.fence?.epochs.get(slot);
    if (decidedIn !== epoch)
      throw violation(`slot ${slot} is in epoch ${epoch}, it was decided in ${decidedIn}`);
  };

  /** Claims in flight, by token. */
  const claiming = new Map<string, { readonly node: string; readonly gate: string }>();
  const hasClaimInFlight = ({ slot, owner }: SlotRow): boolean =>
    [...claiming.values()].some(({ node, gate }) => node === owner && slots.slotOfGate(gate).slot === slot);

  const checkDeliveryFence = (delivery: Delivery): void => checkFence(gateKey(delivery), delivery.id);

  return {
    name: NAME,
    slotChanged([before, after]) {
      const violation = (what: string) =>
        new Violation(NAME, `slot ${after.slot}, held by ${before.owner} in epoch ${before.epoch}, ${what}`);
      if (after.owner === null) {
        if (after.epoch !== before.epoch) throw violation(`was given back into epoch ${after.epoch}`);
        if (simulation.writer !== before.owner) checkOwnerDied(before.owner ?? '', violation);
        if (simulation.writer === before.owner && hasClaimInFlight(before))
          throw violation(
            `was given back by ${simulation.verbInProgress?.verb} while a claim in it was being written`,
          );
        return;
      }
      if (after.epoch !== before.epoch + 1) throw violation(`was taken into epoch ${after.epoch}`);
      if (simulation.writer !== after.owner)
        throw violation(`was taken for ${after.owner} by ${simulation.writer}`);
      if (before.owner !== null && before.owner !== after.owner && hasLease(before.owner, CLOCKS_MS)) {
        throw violation(`was taken by ${after.owner}, and its owner has a lease`);
      }
      // A call that was delayed on its way is judged by when it was made. It does no harm, because fences
      // refuse its writes.
      const instance = simulation.findInstance(after.owner);
      const isPrompt =
        instance !== null &&
        time.elapsedMs - Math.max(instance.storeDisturbedMs, instance.resumedMs) > PROMPT_MS;
      if (isPrompt && !hasLease(after.owner, -CLOCKS_MS))
        throw violation(`was taken by ${after.owner}, which has no lease`);
    },
    claimRequested({ delivery, attempt }, { node }) {
      claiming.set(attempt.id, { node, gate: gateKey(delivery) });
      if (!hasLease(node, 0)) throw new Violation(NAME, `${node} claims ${delivery.id}, and has no lease`);
    },
    claimAnswered({ attempt }) {
      claiming.delete(attempt.id);
    },
    delivery({ before, after }) {
      // An edit may have moved the delivery to another slot. A change by the engine does not.
      if (before !== null && after !== null) checkDeliveryFence(after);
    },
    gateSaved({ partition, endpoint }) {
      checkFence(`${partition}/${endpoint}`, 'a gate');
    },
  };
}
