/**
 * Everything is dispatched by somebody: what a dead node held is taken over within five seconds, what was given
 * back is taken at once, a node that is well keeps its lease. When nothing has changed for a while, all hold
 * their even share.
 */
import type { Slot } from '#src/domain/slot.ts';
import { Violation } from '../../checkers/checker.ts';
import type { ClusterChecker, ClusterScene } from '../scene.ts';
import type { HeldSlot } from '../slot-table.ts';

const NAME = 'shares';
const TAKEN_OVER_WITHIN_MS = 5_000;
/** Given back, and everybody is told. */
const TAKEN_WITHIN_MS = 1_000;
/** The same, and nobody hears of it. */
const FOUND_WITHIN_MS = 2_000;
/** After trouble with the store nobody is taken for dead for so long, and then in the next round. */
const LENIENT_MS = 6_500;
const EVEN_WITHIN_MS = 6_000;
const LEASED_WITHIN_MS = 3_000;
const CHECK_EVERY_MS = 100;

export function sharesChecker(scene: ClusterScene): ClusterChecker {
  const { slots, time } = scene;
  /** Freed by others than who held them. */
  const ofTheDead = new Set<Slot>();
  let checkedMs = 0;

  /** Since when every node has been at work undisturbed; null while one is not. */
  const allCalmSince = (): number | null => {
    const since = scene.lives.map(({ calmSinceMs }) => calmSinceMs);
    if (since.length === 0 || since.includes(null)) return null;
    return Math.max(scene.changedMs, ...since.map((ms) => ms ?? 0));
  };

  const isDeadLeased = (): boolean => [...slots.leases.keys()].some((node) => scene.lifeOf(node) === null);

  const free = ({ slot, owner, sinceMs }: HeldSlot, calmMs: number): void => {
    const nowMs = time.elapsedMs;
    if (owner !== null && scene.lifeOf(owner) !== null) return;
    const since = Math.max(owner === null ? sinceMs : scene.endedMs(owner), calmMs);
    const isTold = scene.isPostReliable && sinceMs >= calmMs && !ofTheDead.has(slot);
    const freeWithinMs = isTold ? TAKEN_WITHIN_MS : FOUND_WITHIN_MS;
    const deadWithinMs = nowMs - calmMs <= LENIENT_MS ? LENIENT_MS : TAKEN_OVER_WITHIN_MS;
    // A dead node keeps its share of the free slots as long as its lease. Faults upon faults make that long.
    const wasLeased = scene.diedMs > calmMs - LENIENT_MS || isDeadLeased();
    const isPartOfDead = nowMs - Math.max(scene.diedMs, calmMs) <= deadWithinMs && wasLeased;
    const withinMs = owner === null && !isPartOfDead ? freeWithinMs : deadWithinMs;
    if (nowMs - since > withinMs) {
      throw new Violation(NAME, `slot ${slot} of ${owner} has been nobody's for ${nowMs - since} ms`);
    }
  };

  /** Who stops keeps nothing while its requests end. */
  const handedOver = (): void => {
    for (const { node, stopping, troubleMs } of scene.lives) {
      if (stopping === null || time.elapsedMs - Math.max(stopping.sinceMs, troubleMs) < TAKEN_WITHIN_MS)
        continue;
      const kept = [...slots.all].filter(({ owner }) => owner === node).length;
      if (kept > 0) throw new Violation(NAME, `${node} stops, and keeps ${kept} slots`);
    }
  };

  const even = (calmMs: number): void => {
    if (time.elapsedMs - calmMs < EVEN_WITHIN_MS) return;
    const held = new Map(scene.lives.map(({ node }) => [node, 0]));
    for (const { owner } of slots.all) if (owner !== null) held.set(owner, (held.get(owner) ?? 0) + 1);
    const counts = [...held.values()];
    if (Math.max(...counts) - Math.min(...counts) > 1) {
      throw new Violation(NAME, `shares stay uneven: ${JSON.stringify([...held])}`);
    }
  };

  return {
    name: NAME,
    slot([before, after]) {
      if (after.owner === null && scene.writer !== before.owner) ofTheDead.add(after.slot);
      else ofTheDead.delete(after.slot);
      const calmMs = allCalmSince();
      if (calmMs === null || time.elapsedMs - calmMs < EVEN_WITHIN_MS) return;
      throw new Violation(NAME, `slot ${after.slot} moves to ${after.owner} without need`);
    },
    step() {
      if (time.elapsedMs - checkedMs < CHECK_EVERY_MS) return;
      checkedMs = time.elapsedMs;
      for (const { node, state, hinderedMs, stoodStillMs, upSinceMs, standsStill } of scene.lives) {
        if (state !== 'up' || standsStill) continue;
        const wellMs = Math.max(hinderedMs, stoodStillMs, upSinceMs);
        const isLeased = (slots.leases.get(node) ?? 0) > time.now();
        if (!isLeased && time.elapsedMs - wellMs > LEASED_WITHIN_MS) {
          throw new Violation(NAME, `${node} is well and has no lease`);
        }
      }
      handedOver();
      const calmMs = allCalmSince();
      if (calmMs === null) return;
      for (const slot of slots.all) free(slot, Math.min(calmMs, time.elapsedMs));
      even(calmMs);
    },
  };
}
