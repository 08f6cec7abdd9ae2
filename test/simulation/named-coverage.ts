/** Counts the situations of names, versions of payloads, triggers and canceled deliveries. */
import { Refusal } from '#src/domain/errors.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import { isEnded, type Schedule } from '#src/domain/schedule.ts';
import type { Checker } from './checkers/checker.ts';
import type { SimulationView } from './checkers/simulation-view.ts';
import { isTriggered } from './checkers/triggers.ts';
import { callOf } from './contents.ts';

export const NAMED_SITUATIONS = [
  'a schedule made by a PUT',
  'a PUT that reached the pending delivery',
  'a PUT while the pending delivery waited for a retry',
  'a PUT of a one-shot that was being sent',
  'a PUT to another destination',
  'a PUT that found all equal',
  'a PUT that only asked',
  'a PUT that was repeated',
  'a profile changed by a PUT',
  'a retry with an earlier version',
  'a replay with an earlier version',
  'a triggered delivery with an earlier version',
  'a request with the headers of an earlier profile version',
  'a request signed for Standard Webhooks',
  'a request signed for Standard Webhooks as an earlier profile version says',
  'a version that no delivery named',
  'a version kept as an earlier one',
  'an earlier version removed',
  'a name refused',
  'a name used again',
  'a recurring schedule triggered',
  'a paused schedule triggered',
  'a one-shot triggered',
  'a delivery canceled between its attempts',
] as const;
export type NamedSituation = (typeof NAMED_SITUATIONS)[number];

export function namedCoverage(simulation: SimulationView, count: (what: NamedSituation) => void): Checker {
  const { observer, payloads, rows } = simulation;
  const puts = new Set<string>();
  const names = new Map<string, string>();
  /** Schedules whose payload the verb has replaced, as they were before. */
  const replaced = new Map<ScheduleId, Schedule>();
  const earlier = new Map<ScheduleId, ReadonlySet<number>>();

  const countPut = (before: Schedule, after: Schedule): void => {
    if (before.destination.kind !== after.destination.kind) count('a PUT to another destination');
    if (before.payloadVersion === after.payloadVersion) return;
    replaced.set(after.id, before);
    const pending = observer.deliveries.get(after.pendingId);
    if (pending?.attemptCount === 0) count('a PUT that reached the pending delivery');
    else count('a PUT while the pending delivery waited for a retry');
  };

  const countName = ({ partition, name, id }: Schedule): void => {
    if (name === null) return;
    const key = `${partition}/${name}`;
    if ((names.get(key) ?? id) !== id) count('a name used again');
    names.set(key, id);
  };

  const countVersions = (id: ScheduleId): void => {
    const schedule = observer.schedules.get(id);
    if (schedule === undefined) return;
    const kept = rows.payloadVersions(schedule.partition, id).filter(({ isEarlier }) => isEarlier);
    const now = new Set(kept.map(({ version }) => version));
    for (const version of earlier.get(id) ?? []) if (!now.has(version)) count('an earlier version removed');
    const before = replaced.get(id);
    if (before !== undefined && before.payloadBytes > 0) {
      count(
        now.has(before.payloadVersion)
          ? 'a version kept as an earlier one'
          : 'a version that no delivery named',
      );
    }
    replaced.delete(id);
    earlier.set(id, now);
  };

  return {
    name: 'coverage',
    callSent({ label, what }) {
      if (!what.startsWith('put ')) return;
      if (puts.has(label)) count('a PUT that was repeated');
      puts.add(label);
    },
    schedule(before, after) {
      if (after === null) return;
      if (before === null && puts.has(callOf(after))) count('a schedule made by a PUT');
      if (before !== null && callOf(before) !== callOf(after)) countPut(before, after);
      if (!isEnded(after)) countName(after);
    },
    profile(before, after) {
      if (before !== null && callOf(before) !== callOf(after) && puts.has(callOf(after)))
        count('a profile changed by a PUT');
    },
    delivery({ before, after }) {
      if (before?.status !== 'retry_scheduled' || after?.status !== 'canceled') return;
      if (after.scheduleId !== null && observer.scheduleOf(after)?.state !== 'canceled')
        count('a delivery canceled between its attempts');
    },
    verbEnded(touched) {
      for (const id of touched) countVersions(id);
    },
    requestSent({ deliveryId, attemptNo }) {
      const delivery = observer.deliveries.get(deliveryId);
      const schedule = delivery === undefined ? null : observer.scheduleOf(delivery);
      if (delivery === undefined || schedule === null) return;
      const profile = observer.profileOf(delivery);
      const madeWith = payloads.of(deliveryId);
      const isStandard = payloads.isStandard(deliveryId);
      if (isStandard) count('a request signed for Standard Webhooks');
      if (isStandard && profile?.standardWebhooks === false)
        count('a request signed for Standard Webhooks as an earlier profile version says');
      if (profile !== null && madeWith.profile !== callOf(profile))
        count('a request with the headers of an earlier profile version');
      if (payloads.areEqual(madeWith.schedule, callOf(schedule))) return;
      if (attemptNo > 1) count('a retry with an earlier version');
      if (delivery.replayOf !== null) count('a replay with an earlier version');
      if (isTriggered(delivery)) count('a triggered delivery with an earlier version');
    },
    callAnswered({ what, triggers, error, rendered, replayed, isUnchanged }) {
      const code = error instanceof Refusal ? error.code : null;
      if (code === 'name_taken') count('a name refused');
      if (code === 'delivery_in_progress' && what.startsWith('put '))
        count('a PUT of a one-shot that was being sent');
      if (isUnchanged) count('a PUT that found all equal');
      if (rendered?.of === 'plan') count('a PUT that only asked');
      const schedule = triggers && observer.schedules.get(triggers);
      if (schedule === undefined || error !== null || replayed) return;
      if (schedule.timing.kind === 'one_shot') count('a one-shot triggered');
      else
        count(schedule.state === 'paused' ? 'a paused schedule triggered' : 'a recurring schedule triggered');
    },
  };
}
