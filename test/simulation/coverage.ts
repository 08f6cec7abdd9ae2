/**
 * Counts the situations that a run reached. The simulation cannot find a bug in a situation that never
 * occurs.
 */
import type { ScheduleId } from '#src/domain/id.ts';
import type { Checker } from './checkers/checker.ts';
import type { SimulationView } from './checkers/simulation-view.ts';
import { NAMED_SITUATIONS, namedCoverage } from './named-coverage.ts';
import { HANGING_HOST, PROMPT_HOST, type SentRequest } from './network.ts';
import { NOTIFICATION_SITUATIONS, notificationCoverage } from './notification-coverage.ts';
import { isWaitingStatus } from './observer.ts';

/** This many requests that hang at the same time count as a flood. */
const FLOOD_REQUESTS = 5;

export const SITUATIONS = [
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
  'swept by a later batch',
  'retried',
  'interrupted',
  'timed out',
  'deferred by the breaker',
  'deferred with a reservation',
  'a reservation used',
  'released early',
  'a claim came too late',
  'a claim whose answer was lost',
  'an occurrence claimed',
  'a replay sent',
  'moved',
  'removed by retention',
  'crashed with a request in flight',
  'stopped with a request in flight',
  'an API call answered 503',
  'a repeated API call answered from its receipt',
  'an API call refused',
  'sent beside the flood of another customer',
  ...NAMED_SITUATIONS,
  ...NOTIFICATION_SITUATIONS,
] as const;
export type Situation = (typeof SITUATIONS)[number];

export function coverageOf(simulation: SimulationView): {
  readonly checkers: readonly Checker[];
  readonly covered: Map<Situation, number>;
} {
  const covered = new Map<Situation, number>();
  const count = (situation: Situation) => covered.set(situation, (covered.get(situation) ?? 0) + 1);
  const { observer, time } = simulation;
  /** Schedules whose last action had not reached all deliveries after the previous verb. */
  const sweeping = new Set<ScheduleId>();
  const hanging = new Set<SentRequest>();
  const checker: Checker = {
    name: 'coverage',
    delivery({ before, after, attempts }) {
      if (before === null) return;
      if (after === null) return void count('removed by retention');
      const wasClaimed = before.status === 'claimed';
      const changed = before.status !== after.status;
      if (changed && after.status === 'succeeded') count('succeeded');
      if (changed && after.status === 'dead_letter') count(wasClaimed ? 'dead_letter' : 'dead_letter unsent');
      if (changed && after.status === 'expired')
        count(wasClaimed ? 'expired after an attempt' : 'expired unsent');
      if (changed && after.status === 'canceled') {
        count(wasClaimed ? 'canceled while being sent' : 'canceled while waiting');
      }
      if (changed && after.status === 'paused')
        count(wasClaimed ? 'paused while being sent' : 'paused while waiting');
      if (before.status === 'paused' && isWaitingStatus(after.status)) count('resumed');
      const isHeld = after.status === 'paused' || after.status === 'canceled';
      const schedule = observer.scheduleOf(after);
      const isSwept = schedule !== null && sweeping.has(schedule.id) && schedule.pendingId !== after.id;
      if (!wasClaimed && changed && isHeld && isSwept) {
        count('swept by a later batch');
      }
      if (wasClaimed && after.status === 'retry_scheduled') count('retried');
      if (wasClaimed && attempts.at(-1)?.error === 'interrupted') count('interrupted');
      if (wasClaimed && attempts.at(-1)?.error === 'timeout') count('timed out');
      if (!changed && before.scheduledFor !== after.scheduledFor) count('moved');
      if (after.status === 'claimed' && before.reserved) count('a reservation used');
      if (after.status === 'claimed' && after.replayOf !== null) count('a replay sent');
    },
    verbEnded(touched) {
      for (const id of touched) {
        if (observer.sweeps.has(id)) sweeping.add(id);
        else sweeping.delete(id);
      }
    },
    deferRequested({ reserved, dueAt }, by) {
      if (reserved) count('deferred with a reservation');
      else count(dueAt === by.now() ? 'released early' : 'deferred by the breaker');
    },
    claimAnswered({ advanced }, answer) {
      if (answer === 'stale') count('a claim came too late');
      if (answer === 'failed') count('a claim whose answer was lost');
      if (answer === 'done' && advanced !== null) count('an occurrence claimed');
    },
    instanceEnded({ node }, how) {
      for (const sent of observer.sent.values()) {
        if (sent.node === node && sent.outcome?.kind === 'orphaned' && sent.endedMs === time.elapsedMs) {
          count(how === 'crash' ? 'crashed with a request in flight' : 'stopped with a request in flight');
        }
      }
    },
    requestSent(sent) {
      if (isTo(sent, HANGING_HOST)) hanging.add(sent);
      if (isTo(sent, PROMPT_HOST) && hanging.size >= FLOOD_REQUESTS)
        count('sent beside the flood of another customer');
    },
    requestEnded(sent) {
      const { outcome, node } = sent;
      hanging.delete(sent);
      if (outcome?.kind === 'aborted' && simulation.findInstance(node)?.state === 'stopping') {
        count('stopped with a request in flight');
      }
    },
    callAnswered({ error, replayed }) {
      if (replayed) count('a repeated API call answered from its receipt');
      if (error !== null) {
        count(error.name === 'StoreUnavailable' ? 'an API call answered 503' : 'an API call refused');
      }
    },
  };
  return {
    checkers: [checker, namedCoverage(simulation, count), notificationCoverage(simulation, count)],
    covered,
  };
}

function isTo({ url }: SentRequest, host: string): boolean {
  return new URL(url).hostname === host;
}
