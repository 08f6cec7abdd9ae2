/** Where a run has been: what the simulation never does, it cannot find. */
import type { ScheduleId } from '#src/domain/id.ts';
import type { Checker } from './checkers/checker.ts';
import type { Scene } from './checkers/scene.ts';
import { HANGING_HOST, PROMPT_HOST, type Sent } from './network.ts';
import { isWaitingStatus } from './witness.ts';

/** A flood is at least so many requests that hang at the same time. */
const FLOOD_REQUESTS = 5;

export const PLACES = [
  'succeeded',
  'dead_letter',
  'expired after an attempt',
  'expired unsent',
  'dead_letter unsent',
  'canceled while waiting',
  'canceled while being sent',
  'paused while waiting',
  'paused while being sent',
  'resumed',
  'swept by a later piece',
  'retried',
  'interrupted',
  'timed out',
  'deferred by the breaker',
  'deferred with a reservation',
  'a reserved turn taken',
  'brought forward',
  'a claim came too late',
  'a claim whose answer was lost',
  'an occurrence claimed',
  'a replay sent',
  'moved',
  'removed by retention',
  'crashed with a request under way',
  'stopped with a request under way',
  'an API call answered 503',
  'an API call answered again from its receipt',
  'an API call refused',
  'sent beside the flood of another customer',
] as const;
export type Place = (typeof PLACES)[number];

export function coverageOf(scene: Scene): { readonly checker: Checker; readonly seen: Map<Place, number> } {
  const seen = new Map<Place, number>();
  const see = (place: Place) => seen.set(place, (seen.get(place) ?? 0) + 1);
  const { witness, time } = scene;
  /** Schedules whose last order had not reached all deliveries after the verb before. */
  const sweeping = new Set<ScheduleId>();
  const hanging = new Set<Sent>();
  const checker: Checker = {
    name: 'coverage',
    delivery({ before, after, attempts }) {
      if (before === null) return;
      if (after === null) return void see('removed by retention');
      const wasClaimed = before.status === 'claimed';
      const changed = before.status !== after.status;
      if (changed && after.status === 'succeeded') see('succeeded');
      if (changed && after.status === 'dead_letter') see(wasClaimed ? 'dead_letter' : 'dead_letter unsent');
      if (changed && after.status === 'expired')
        see(wasClaimed ? 'expired after an attempt' : 'expired unsent');
      if (changed && after.status === 'canceled') {
        see(wasClaimed ? 'canceled while being sent' : 'canceled while waiting');
      }
      if (changed && after.status === 'paused')
        see(wasClaimed ? 'paused while being sent' : 'paused while waiting');
      if (before.status === 'paused' && isWaitingStatus(after.status)) see('resumed');
      const isHeld = after.status === 'paused' || after.status === 'canceled';
      const pendingId = witness.schedules.get(after.scheduleId)?.pendingId;
      if (!wasClaimed && changed && isHeld && sweeping.has(after.scheduleId) && pendingId !== after.id) {
        see('swept by a later piece');
      }
      if (wasClaimed && after.status === 'retry_scheduled') see('retried');
      if (wasClaimed && attempts.at(-1)?.error === 'interrupted') see('interrupted');
      if (wasClaimed && attempts.at(-1)?.error === 'timeout') see('timed out');
      if (!changed && before.scheduledFor !== after.scheduledFor) see('moved');
      if (after.status === 'claimed' && before.reserved) see('a reserved turn taken');
      if (after.status === 'claimed' && after.replayOf !== null) see('a replay sent');
    },
    verb(touched) {
      for (const id of touched) {
        if (witness.sweeps.has(id)) sweeping.add(id);
        else sweeping.delete(id);
      }
    },
    deferAsked({ reserved, dueAt }, by) {
      if (reserved) see('deferred with a reservation');
      else see(dueAt === by.now() ? 'brought forward' : 'deferred by the breaker');
    },
    claimAnswered({ advanced }, answer) {
      if (answer === 'stale') see('a claim came too late');
      if (answer === 'failed') see('a claim whose answer was lost');
      if (answer === 'done' && advanced !== null) see('an occurrence claimed');
    },
    lifeEnded({ node }, how) {
      for (const sent of witness.sent.values()) {
        if (sent.node === node && sent.fortune?.kind === 'orphaned' && sent.endedMs === time.elapsedMs) {
          see(how === 'crash' ? 'crashed with a request under way' : 'stopped with a request under way');
        }
      }
    },
    sent(sent) {
      if (isTo(sent, HANGING_HOST)) hanging.add(sent);
      if (isTo(sent, PROMPT_HOST) && hanging.size >= FLOOD_REQUESTS)
        see('sent beside the flood of another customer');
    },
    exchanged(sent) {
      const { fortune, node } = sent;
      hanging.delete(sent);
      if (fortune?.kind === 'broken_off' && scene.lifeOf(node)?.state === 'stopping') {
        see('stopped with a request under way');
      }
    },
    answered({ error, replayed }) {
      if (replayed) see('an API call answered again from its receipt');
      if (error !== null) {
        see(error.name === 'StoreUnavailable' ? 'an API call answered 503' : 'an API call refused');
      }
    },
  };
  return { checker, seen };
}

function isTo({ url }: Sent, host: string): boolean {
  return new URL(url).hostname === host;
}
