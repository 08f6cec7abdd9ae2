/**
 * A version of a payload is stored while a delivery names it. The present version stays with its schedule. An earlier
 * one is removed after the last delivery that names it, by the cleaner's next rounds.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { StoredVersion } from '../durable-rows.ts';
import { TERMINAL } from '../observer.ts';
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'payloads';
/** A round may find the removals of the round before still under way. */
const ROUNDS_MAX = 3;

export function storedVersionsChecker(simulation: SimulationView) {
  const { observer, rows } = simulation;
  /** Versions that the cleaner has to remove, with the number of its undisturbed rounds since then. */
  const removable = new Map<ScheduleId, ReadonlyMap<number, number>>();
  const partitions = new Map<ScheduleId, Partition>();
  let judgedMs = -1;

  const check = (id: ScheduleId, partition: Partition): void => {
    const schedule = observer.schedules.get(id);
    const versions = rows.payloadVersions(partition, id);
    const violation = (what: string) => new Violation(NAME, `${id} ${what}`);
    if (schedule === undefined) {
      const [left] = versions;
      if (left !== undefined)
        throw violation(`is gone, but version ${left.version} of its payload is stored`);
      removable.delete(id);
      return;
    }
    const named = namedBy(id);
    const stored = new Set(versions.map(({ version }) => version));
    for (const [version, delivery] of named) {
      if (stored.has(version) || !isSurelyFound(delivery)) continue;
      throw violation(`has no version ${version} stored, which ${delivery.id} names`);
    }
    const before = removable.get(id);
    const unnamed = new Map<number, number>();
    for (const one of versions) {
      checkPlace(one, schedule.payloadVersion, violation);
      if (!one.isEarlier || named.has(one.version)) continue;
      if (one.checkAt === null) {
        throw violation(`keeps its version ${one.version} for ever, although no delivery names it`);
      }
      unnamed.set(one.version, before?.get(one.version) ?? 0);
    }
    removable.set(id, unnamed);
  };

  /**
   * A delivery that has ended is found by its id, which has the time of its creation. After the clock was set, that time
   * may be any.
   */
  const isSurelyFound = ({ status, replayOf }: Delivery): boolean =>
    simulation.clockSetMs < 0 || (!TERMINAL.has(status) && replayOf === null);

  const namedBy = (id: ScheduleId): ReadonlyMap<number, Delivery> => {
    const named = new Map<number, Delivery>();
    for (const one of observer.deliveriesOf.get(id) ?? []) {
      const delivery = observer.deliveries.get(one);
      if (delivery === undefined || delivery.payloadBytes === 0) continue;
      // Of those that name a version, one that has not ended is kept, because it is surely found.
      const other = named.get(delivery.payloadVersion);
      if (other === undefined || !isSurelyFound(other)) named.set(delivery.payloadVersion, delivery);
    }
    return named;
  };

  const forgetRounds = (): void => {
    for (const [id, versions] of removable) {
      removable.set(id, new Map([...versions.keys()].map((version) => [version, 0])));
    }
  };

  return {
    schedule(before, after) {
      const known = after ?? before;
      if (known !== null) partitions.set(known.id, known.partition);
    },
    verbEnded(touched) {
      for (const id of touched) {
        const partition = partitions.get(id);
        if (partition !== undefined) check(id, partition);
      }
    },
    cleanerRound() {
      const { disturbedMs, slowUntilMs, time } = simulation;
      if (Math.max(disturbedMs, slowUntilMs) >= judgedMs) forgetRounds();
      judgedMs = time.elapsedMs;
      for (const [id, versions] of removable) {
        for (const [version, rounds] of versions) {
          if (rounds < ROUNDS_MAX) continue;
          throw new Violation(NAME, `${id} keeps its version ${version}, although no delivery names it`);
        }
        removable.set(id, new Map([...versions].map(([version, rounds]) => [version, rounds + 1])));
      }
    },
    instanceEnded: forgetRounds,
  } satisfies Partial<Checker>;
}

function checkPlace(
  { version, isEarlier }: StoredVersion,
  present: number,
  violation: (what: string) => Violation,
): void {
  if (isEarlier === (version !== present)) return;
  throw violation(`has its version ${version} stored as ${isEarlier ? 'an earlier' : 'the present'} one`);
}
