/**
 * Nothing due is left lying while the service is up and the store works, and nothing stays claimed that nobody
 * works on. In calm times what is due is claimed on time, to the few milliseconds a timer may be late.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import { isWaitingStatus } from '../witness.ts';
import { gateKey } from './breaker.ts';
import { type Checker, type LifeFacts, Violation } from './checker.ts';
import { countedPermits } from './counted-permits.ts';
import { OwnBursts } from './own-bursts.ts';
import type { Scene } from './scene.ts';

const NAME = 'punctuality';
/** After trouble: a rest, a look, and what they take. */
const UNFIRED_MS_MAX = 2_500;
const ABANDONED_MS_MAX = 3_000;
const LATE_MS_MAX = 60;
/** To close what was left open, on a slow disk. */
const STARTS_WITHIN_MS = 15_000;
/** So long nothing is claimed after the store failed. */
const RESTS_MS = 700;
/** Known so long, a delivery is in memory when it is due. */
const KNOWN_MS = 3_000;
const CHECK_EVERY_MS = 100;

export function punctualityChecker(scene: Scene): Checker {
  const { time, witness } = scene;
  /** Since when a delivery has been as it is, and due. */
  const dueSince = new Map<DeliveryId, { readonly revision: number; readonly ms: number }>();
  const changedMs = new Map<DeliveryId, number>();
  /** When the dispatcher was told of a delivery as it is. */
  const heardMs = new Map<DeliveryId, { readonly revision: number; readonly ms: number }>();
  const ownBursts = new OwnBursts();
  let checkedMs = 0;

  /** The process, if there is one. */
  const life = (): LifeFacts | null => scene.lives[0] ?? null;
  const calmSince = (): number => Math.max(scene.troubleMs, life()?.upSinceMs ?? 0);
  /** A disk that takes long is waited for: only so many batches are under way at once. */
  const slowSince = (): number => Math.min(scene.slowUntilMs, time.elapsedMs);

  const { permits, waitsAs, claimAsked, counting } = countedPermits(scene);
  /** When the endpoint was last seen without a permit to spare. */
  const fullMs = new Map<string, number>();

  const unfired = (delivery: Delivery, nowMs: number): void => {
    const { id, revision, dueAt } = delivery;
    if (dueAt === null || dueAt > time.now() || witness.isToBeSwept(delivery)) {
      dueSince.delete(id);
      return;
    }
    const known = dueSince.get(id);
    if (known?.revision !== revision) dueSince.set(id, { revision, ms: nowMs });
    const key = gateKey(delivery);
    const since = Math.max(
      known?.revision === revision ? known.ms : nowMs,
      calmSince(),
      slowSince(),
      fullMs.get(key) ?? 0,
    );
    if (nowMs - since > UNFIRED_MS_MAX && !scene.isAsked(id)) {
      const kinds = waitsAs(delivery, time.elapsedAt(dueAt));
      if (kinds.some((kind) => permits.isFull(delivery, kind))) {
        fullMs.set(key, nowMs);
        return;
      }
      throw new Violation(NAME, `${id} was due at ${new Date(dueAt).toISOString()} and lies there`);
    }
  };

  const abandoned = (delivery: Delivery, nowMs: number): void => {
    const { id, attemptCount, claim } = delivery;
    const sent = witness.sentOf(id, attemptCount);
    const isOurs = claim?.node === life()?.node;
    if (isOurs && ((sent !== null && sent.fortune === null) || scene.isAsked(id))) return;
    const endedMs = (isOurs && sent?.endedMs) || 0;
    const since = Math.max(changedMs.get(id) ?? 0, endedMs, calmSince(), slowSince());
    if (nowMs - since > ABANDONED_MS_MAX && !scene.isAsked(id)) {
      throw new Violation(NAME, `${id} stays claimed by ${isOurs ? 'us' : claim?.node}, nobody works on it`);
    }
  };

  /** Whether there was a moment since then when no permit was to be had. */
  const wasFull = (delivery: Delivery, dueMs: number, sinceMs: number): boolean =>
    waitsAs(delivery, dueMs).some((kind) => permits.wasFullSince(delivery, kind, sinceMs));

  const lateMsMax = (delivery: Delivery, sinceMs: number): number =>
    LATE_MS_MAX + ownBursts.waitMsMax(delivery, sinceMs);

  const lateSince = (delivery: Delivery, dueMs: number, sinceMs: number): void => {
    const lateMs = time.elapsedMs - sinceMs;
    if (lateMs <= lateMsMax(delivery, sinceMs) || wasFull(delivery, dueMs, sinceMs)) return;
    throw new Violation(NAME, `${delivery.id} was fired ${lateMs} ms after it was due and known`);
  };

  const claimed = ({ delivery, attempt }: ClaimWrite): void => {
    const dueMs = time.elapsedAt(attempt.dueAt);
    const knownMs = changedMs.get(delivery.id) ?? 0;
    const lateMs = attempt.firedAt - attempt.dueAt;
    // While the disk is at it, the next batches wait.
    if (scene.slowUntilMs >= dueMs) return;
    const heard = heardMs.get(delivery.id);
    // It counts from the revision that is claimed here.
    if (heard?.revision === delivery.revision - 1 && calmSince() + RESTS_MS < knownMs) {
      lateSince(delivery, dueMs, Math.max(dueMs, heard.ms));
    }
    if (dueMs - Math.max(knownMs, calmSince()) < KNOWN_MS) return;
    if (lateMs <= lateMsMax(delivery, dueMs) || wasFull(delivery, dueMs, dueMs)) return;
    throw new Violation(NAME, `${delivery.id} was fired ${lateMs} ms late`);
  };

  return {
    ...counting,
    name: NAME,
    heard(deliveries) {
      for (const { id, revision } of deliveries) heardMs.set(id, { revision, ms: time.elapsedMs });
    },
    delivery(change) {
      const { after } = change;
      counting.delivery(change);
      if (after !== null) changedMs.set(after.id, time.elapsedMs);
    },
    claimAsked(write, by) {
      claimed(write);
      ownBursts.claimed(write.delivery, time.elapsedMs);
      claimAsked(write, by);
    },
    step() {
      const nowMs = time.elapsedMs;
      const current = life();
      if (current?.state === 'starting') {
        const since = Math.max(current.bornMs, scene.troubleMs);
        if (nowMs - since > STARTS_WITHIN_MS) throw new Violation(NAME, 'a start does not end');
      }
      if (current?.state !== 'up' || nowMs - checkedMs < CHECK_EVERY_MS) return;
      checkedMs = nowMs;
      for (const id of witness.open) {
        const delivery = witness.deliveries.get(id);
        if (delivery === undefined) continue;
        if (delivery.status === 'claimed') abandoned(delivery, nowMs);
        else if (isWaitingStatus(delivery.status)) unfired(delivery, nowMs);
      }
    },
  };
}
