/**
 * Schedules and profiles keep exactly whom their customer wants to be notified. Nobody can begin to notify a profile that
 * is archived or not his own, and no profile is archived while something that has not ended names it. A call is refused
 * because of this only with a reason.
 */
import { isDeepStrictEqual } from 'node:util';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import { isEnded, type Schedule } from '#src/domain/schedule.ts';
import type { ApiCall } from '../api-call.ts';
import { Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'notifications';

type Notifier = Pick<Schedule | EndpointProfile, 'partition' | 'id' | 'notify'>;

export function notifiedProfilesChecker({ observer, notifies }: SimulationView) {
  /** Profiles that the verb which is being observed has archived. */
  let archived: EndpointProfile[] = [];

  const checkTerms = (before: Notifier | null, after: Schedule | EndpointProfile): void => {
    const wanted = notifies.wantedBy(after);
    if (!isDeepStrictEqual(after.notify, wanted)) {
      throw new Violation(
        NAME,
        `${after.id} notifies ${JSON.stringify(after.notify)}, not ${JSON.stringify(wanted)}`,
      );
    }
    const endpointId = after.notify?.endpointId ?? null;
    if (endpointId === null || endpointId === before?.notify?.endpointId) return;
    const profile = observer.profiles.get(endpointId);
    if (profile?.partition === after.partition && !profile.archived) return;
    throw new Violation(NAME, `${after.id} begins to notify ${endpointId}, which cannot be notified`);
  };

  const notifiersOf = ({ id }: EndpointProfile): readonly Notifier[] => {
    const schedules = [...observer.schedules.values()].filter((schedule) => !isEnded(schedule));
    const profiles = [...observer.profiles.values()].filter((one) => !one.archived && one.id !== id);
    return [...schedules, ...profiles].filter(({ notify }) => notify?.endpointId === id);
  };

  return {
    schedule(before: Schedule | null, after: Schedule | null): void {
      if (after !== null) checkTerms(before, after);
    },
    profile(before: EndpointProfile | null, after: EndpointProfile): void {
      checkTerms(before, after);
      if (after.archived && before?.archived === false) archived.push(after);
    },
    verbEnded(): void {
      for (const profile of archived) {
        const [notifier] = notifiersOf(profile);
        if (notifier === undefined) continue;
        throw new Violation(
          NAME,
          `${profile.id} was archived, although ${notifier.id} notifies it: ${JSON.stringify(notifier.notify)}`,
        );
      }
      archived = [];
    },
    callAnswered({ what, partition, notifies: endpointId, error }: ApiCall): void {
      if (!(error instanceof Refusal) || error.code !== 'invalid_notify') return;
      const profile = endpointId == null ? undefined : observer.profiles.get(endpointId);
      if (profile === undefined || profile.archived || profile.partition !== partition) return;
      throw new Violation(NAME, `${what} was refused, although ${endpointId} can be notified`);
    },
  };
}
