/**
 * Two schedules that have not ended never have the same name in one partition, and neither do two profiles. The
 * store finds exactly those objects by their names, and no others.
 */
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { isEnded, type Schedule } from '#src/domain/schedule.ts';
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'names';

type Named = Pick<Schedule | EndpointProfile, 'partition' | 'id' | 'name'>;

export function namesChecker({ rows }: SimulationView): Checker {
  /** Objects that have not ended, by name. */
  const living = new Map<string, string>();
  let hasChanged = false;

  const replace = (kind: string, before: Named | null, after: Named | null): void => {
    for (const { partition, name, id } of [before].filter((one) => one !== null)) {
      const key = `${partition}/${kind}/${name}`;
      if (living.get(key) === id) living.delete(key);
      hasChanged ||= name !== null;
    }
    for (const { partition, name, id } of [after].filter((one) => one !== null)) {
      if (name === null) continue;
      const key = `${partition}/${kind}/${name}`;
      const other = living.get(key);
      if (other !== undefined) throw new Violation(NAME, `${id} and ${other} both are ${key}`);
      living.set(key, id);
      hasChanged = true;
    }
  };

  const compare = (): void => {
    const found = new Map(
      rows.names().map(({ partition, kind, name, id }) => [`${partition}/${kind}/${name}`, id]),
    );
    for (const [key, id] of living) {
      if (found.get(key) !== id) throw new Violation(NAME, `${id} is ${key}, which finds ${found.get(key)}`);
    }
    for (const [key, id] of found) {
      if (!living.has(key)) throw new Violation(NAME, `${key} finds ${id}, which does not have it`);
    }
  };

  return {
    name: NAME,
    schedule(before, after) {
      replace('schedule', livingOnly(before), livingOnly(after));
    },
    profile(before, after) {
      replace('endpoint', before?.archived === true ? null : before, after.archived ? null : after);
    },
    verbEnded() {
      if (!hasChanged) return;
      hasChanged = false;
      compare();
    },
  };
}

function livingOnly(schedule: Schedule | null): Schedule | null {
  return schedule === null || isEnded(schedule) ? null : schedule;
}
