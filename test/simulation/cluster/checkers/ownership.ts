/**
 * A slot has one owner at a time: every change of owner is a new epoch, none is taken from a node that lives or
 * freed by others, and none is taken by one that does not. What a node decided about a delivery or a gate is stored only while it holds the
 * slot, in the epoch in which it decided.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import { gateKey } from '../../checkers/breaker.ts';
import { Violation } from '../../checkers/checker.ts';
import type { ClusterChecker, ClusterScene } from '../scene.ts';
import type { HeldSlot } from '../slot-table.ts';

const NAME = 'ownership';
/** What clocks of two nodes may differ by. */
const CLOCKS_MS = 150;
/** Undisturbed for so long, a node has nothing on its way that it asked for before. */
const PROMPT_MS = 1_000;
const DECIDED_BY_OWNERS: ReadonlySet<string> = new Set(['claim', 'endUnsent', 'defer', 'saveGates']);

export function ownershipChecker(scene: ClusterScene): ClusterChecker {
  const { slots, time } = scene;

  const lives = (node: string, atLeast: number): boolean =>
    (slots.leases.get(node) ?? 0) > time.now() + atLeast;

  /** Others free only what the dead held. */
  const buried = (owner: string, say: (what: string) => Violation): void => {
    const leftMs = (slots.leasesBefore.get(owner) ?? 0) - time.now();
    if (leftMs > CLOCKS_MS)
      throw say(`was freed by ${scene.writer}, and its owner lives for ${leftMs} ms more`);
  };

  /** Only its owner writes it, as of now. */
  const accepted = (gate: string, what: string): void => {
    const { writing } = scene;
    if (writing === null || !DECIDED_BY_OWNERS.has(writing.verb)) return;
    const { slot, owner, epoch } = slots.ofGate(gate);
    const say = (why: string) =>
      new Violation(NAME, `${writing.verb} of ${writing.node} for ${what} was accepted: ${why}`);
    if (owner !== writing.node) throw say(`slot ${slot} is held by ${owner}`);
    const decidedIn = writing.fence?.epochs.get(slot);
    if (decidedIn !== epoch) throw say(`slot ${slot} is in epoch ${epoch}, it was decided in ${decidedIn}`);
  };

  /** Claims that are being written, by their token. */
  const claiming = new Map<string, { readonly node: string; readonly gate: string }>();
  const isUnderWay = ({ slot, owner }: HeldSlot): boolean =>
    [...claiming.values()].some(({ node, gate }) => node === owner && slots.ofGate(gate).slot === slot);

  const ofDelivery = (delivery: Delivery): void => accepted(gateKey(delivery), delivery.id);

  return {
    name: NAME,
    slot([before, after]) {
      const say = (what: string) =>
        new Violation(NAME, `slot ${after.slot}, held by ${before.owner} in epoch ${before.epoch}, ${what}`);
      if (after.owner === null) {
        if (after.epoch !== before.epoch) throw say(`was given back into epoch ${after.epoch}`);
        if (scene.writer !== before.owner) buried(before.owner ?? '', say);
        if (scene.writer === before.owner && isUnderWay(before))
          throw say(`was given back by ${scene.writing?.verb} while a claim in it was being written`);
        return;
      }
      if (after.epoch !== before.epoch + 1) throw say(`was taken into epoch ${after.epoch}`);
      if (scene.writer !== after.owner) throw say(`was taken for ${after.owner} by ${scene.writer}`);
      if (before.owner !== null && before.owner !== after.owner && lives(before.owner, CLOCKS_MS)) {
        throw say(`was taken by ${after.owner}, and its owner lives`);
      }
      // What was long on its way is judged by when it was asked for: it does no harm, the others see through it.
      const life = scene.lifeOf(after.owner);
      const isPrompt =
        life !== null && time.elapsedMs - Math.max(life.hinderedMs, life.stoodStillMs) > PROMPT_MS;
      if (isPrompt && !lives(after.owner, -CLOCKS_MS))
        throw say(`was taken by ${after.owner}, which has no lease`);
    },
    claimAsked({ delivery, attempt }, { node }) {
      claiming.set(attempt.id, { node, gate: gateKey(delivery) });
      if (!lives(node, 0)) throw new Violation(NAME, `${node} claims ${delivery.id}, and has no lease`);
    },
    claimAnswered({ attempt }) {
      claiming.delete(attempt.id);
    },
    delivery({ before, after }) {
      // An edit may have moved it elsewhere; what sending changes stays where it is.
      if (before !== null && after !== null) ofDelivery(after);
    },
    gateSaved({ partition, endpoint }) {
      accepted(`${partition}/${endpoint}`, 'a gate');
    },
  };
}
