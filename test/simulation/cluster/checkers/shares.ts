/**
 * Every slot has an owner. The slots of a dead node are taken over within five seconds, and slots that were
 * given back are taken at once. A healthy node keeps its lease. When nothing has changed for a while, all
 * nodes hold an even share.
 */
import type { Slot } from '#src/domain/slot.ts';
import { Violation } from '../../checkers/checker.ts';
import type { ClusterChecker, ClusterSimulationView } from '../simulation-view.ts';
import type { SlotRow } from '../slot-table.ts';

const NAME = 'shares';
const TAKEN_OVER_WITHIN_MS = 5_000;
/** The limit for slots that were given back with a hint to all nodes. */
const TAKEN_WITHIN_MS = 1_000;
/** The limit for slots that were given back without a hint. */
const FOUND_WITHIN_MS = 2_000;
/** After a store failure no node is considered dead for this long, plus one round. */
const LENIENT_MS = 6_500;
const EVEN_WITHIN_MS = 6_000;
const LEASED_WITHIN_MS = 3_000;
const CHECK_EVERY_MS = 100;

export function sharesChecker(simulation: ClusterSimulationView): ClusterChecker {
  const { slots, time } = simulation;
  /** Slots that were freed by other nodes than their owner. */
  const freedByOthers = new Set<Slot>();
  let checkedMs = 0;
  /** When a node that had ended was last seen to have a lease. */
  let deadLeaseMs = Number.NEGATIVE_INFINITY;

  /** Since when all nodes have worked undisturbed, or null while one does not. */
  const allUndisturbedSince = (): number | null => {
    const since = simulation.instances.map(({ undisturbedSinceMs }) => undisturbedSinceMs);
    if (since.length === 0 || since.includes(null)) return null;
    return Math.max(simulation.changedMs, ...since.map((ms) => ms ?? 0));
  };

  const hasLeasedDeadNode = (): boolean =>
    [...slots.leases.keys()].some((node) => simulation.findInstance(node) === null);

  const checkFreeSlot = ({ slot, owner, sinceMs }: SlotRow, undisturbedMs: number): void => {
    const nowMs = time.elapsedMs;
    if (owner !== null && simulation.findInstance(owner) !== null) return;
    const since = Math.max(owner === null ? sinceMs : simulation.endedMs(owner), undisturbedMs);
    const isHinted = simulation.areHintsReliable && sinceMs >= undisturbedMs && !freedByOthers.has(slot);
    const freeWithinMs = isHinted ? TAKEN_WITHIN_MS : FOUND_WITHIN_MS;
    const deadWithinMs = nowMs - undisturbedMs <= LENIENT_MS ? LENIENT_MS : TAKEN_OVER_WITHIN_MS;
    // A dead node keeps its share of the free slots for as long as its lease. A lease that it renewed while it
    // died may be stored later. Repeated faults make that longer.
    const wasLeased =
      simulation.diedMs > undisturbedMs - LENIENT_MS || nowMs - deadLeaseMs <= FOUND_WITHIN_MS;
    const isShareOfDeadNode = nowMs - Math.max(simulation.diedMs, undisturbedMs) <= deadWithinMs && wasLeased;
    const withinMs = owner === null && !isShareOfDeadNode ? freeWithinMs : deadWithinMs;
    if (nowMs - since > withinMs) {
      throw new Violation(NAME, `slot ${slot} of ${owner} has had no live owner for ${nowMs - since} ms`);
    }
  };

  /** A node that stops keeps no slots while its requests end. */
  const checkHandOver = (): void => {
    for (const { node, stopping, disturbedMs } of simulation.instances) {
      if (stopping === null || time.elapsedMs - Math.max(stopping.sinceMs, disturbedMs) < TAKEN_WITHIN_MS)
        continue;
      const kept = [...slots.all].filter(({ owner }) => owner === node).length;
      if (kept > 0) throw new Violation(NAME, `${node} stops and keeps ${kept} slots`);
    }
  };

  const checkEvenShares = (undisturbedMs: number): void => {
    if (time.elapsedMs - undisturbedMs < EVEN_WITHIN_MS) return;
    const held = new Map(simulation.instances.map(({ node }) => [node, 0]));
    for (const { owner } of slots.all) if (owner !== null) held.set(owner, (held.get(owner) ?? 0) + 1);
    const counts = [...held.values()];
    if (Math.max(...counts) - Math.min(...counts) > 1) {
      throw new Violation(NAME, `shares stay uneven: ${JSON.stringify([...held])}`);
    }
  };

  return {
    name: NAME,
    slotChanged([before, after]) {
      if (after.owner === null && simulation.writer !== before.owner) freedByOthers.add(after.slot);
      else freedByOthers.delete(after.slot);
      const undisturbedMs = allUndisturbedSince();
      if (undisturbedMs === null || time.elapsedMs - undisturbedMs < EVEN_WITHIN_MS) return;
      throw new Violation(NAME, `slot ${after.slot} moves to ${after.owner} without need`);
    },
    step() {
      if (time.elapsedMs - checkedMs < CHECK_EVERY_MS) return;
      checkedMs = time.elapsedMs;
      if (hasLeasedDeadNode()) deadLeaseMs = checkedMs;
      for (const { node, state, storeDisturbedMs, resumedMs, upSinceMs, isPaused } of simulation.instances) {
        if (state !== 'up' || isPaused) continue;
        const wellMs = Math.max(storeDisturbedMs, resumedMs, upSinceMs);
        const isLeased = (slots.leases.get(node) ?? 0) > time.now();
        if (!isLeased && time.elapsedMs - wellMs > LEASED_WITHIN_MS) {
          throw new Violation(NAME, `${node} is healthy and has no lease`);
        }
      }
      checkHandOver();
      const undisturbedMs = allUndisturbedSince();
      if (undisturbedMs === null) return;
      for (const slot of slots.all) checkFreeSlot(slot, Math.min(undisturbedMs, time.elapsedMs));
      checkEvenShares(undisturbedMs);
    },
  };
}
