/**
 * Compares the contenders, round by round. In every round each contender runs alone, one after the other, so that
 * other activity of the machine affects all of them. Every second round has the opposite order: the same version,
 * run first and second in every round, was up to 10 % slower where it ran first. A contender that fails, or that cannot run on this machine, does
 * not end the run. The results say so.
 */
import { type Contender, Unavailable } from './contender.ts';
import { RECURRING_CONTENDERS } from './contenders.ts';
import type { WorkloadName } from './options.ts';
import type { ContenderResults, CreatesRound, LatenessRound, Scale } from './results.ts';
import {
  type BenchContext,
  burst,
  creates,
  paced,
  recurring,
  type WarmContender,
  warmUp,
} from './workloads.ts';

const MS_PER_SECOND = 1_000;

/** The measurements of one contender so far. */
interface Measurements {
  readonly contender: Contender;
  readonly paced: LatenessRound[];
  readonly bursts: Map<number, LatenessRound[]>;
  readonly creates: CreatesRound[];
  readonly recurring: LatenessRound[];
  readonly remarks: Set<string>;
  isUnavailable: boolean;
}

/** The steps from one start of a contender to its end. */
interface ContenderRun {
  readonly measurements: Measurements;
  readonly round: number;
  readonly steps: readonly Step[];
}

interface Step {
  readonly what: string;
  /** Whether the contender is warmed up before the step. */
  readonly isWarm: boolean;
  run(warm: WarmContender): Promise<void>;
}

export interface Comparison {
  /** The number of steps of the whole comparison. */
  readonly steps: number;
  /** Calls `passed` with the number of steps that are over. */
  run(context: BenchContext, passed: (steps: number) => void): Promise<void>;
  results(): readonly ContenderResults[];
}

export function comparisonOf(
  contenders: readonly Contender[],
  workloads: readonly WorkloadName[],
  scale: Scale,
): Comparison {
  const all = contenders.map(noMeasurements);
  const runs = [
    // Creates run after a start of their own: the store is empty, and the process sends nothing.
    ...runsInRounds(scale.rounds, all, (measurements) => [
      jobSteps(measurements, workloads, scale),
      createSteps(measurements, workloads, scale),
    ]),
    ...runsInRounds(scale.recurring.rounds, all, (measurements) => [
      recurringSteps(measurements, workloads, scale),
    ]),
  ];
  return {
    steps: runs.reduce((sum, { steps }) => sum + steps.length, 0),
    run: async (context, passed) => {
      let done = 0;
      for (const run of runs) {
        await runContender(run, context);
        done += run.steps.length;
        passed(done);
      }
    },
    results: () => all.map(resultsOf),
  };
}

function runsInRounds(
  rounds: number,
  all: readonly Measurements[],
  runsOf: (measurements: Measurements) => readonly (readonly Step[])[],
): readonly ContenderRun[] {
  return Array.from({ length: rounds }, (_, n) =>
    (n % 2 === 0 ? all : all.toReversed()).flatMap((measurements) =>
      runsOf(measurements)
        .filter((steps) => steps.length > 0)
        .map((steps) => ({ measurements, round: n + 1, steps })),
    ),
  ).flat();
}

async function runContender(
  { measurements, round, steps }: ContenderRun,
  { resources, receiver, progress }: BenchContext,
): Promise<void> {
  const { contender, remarks } = measurements;
  if (measurements.isUnavailable) return;
  const announce = ({ what }: Step) => progress.step(`round ${round}, ${contender.name}: ${what}`);
  try {
    const [first, ...others] = steps;
    if (first === undefined) return;
    announce(first);
    await using running = await contender.start(resources);
    const warm = first.isWarm ? await warmUp(running, receiver) : { running, receiver, storeMsEach: 0 };
    await first.run(warm);
    for (const step of others) {
      announce(step);
      await step.run(warm);
    }
  } catch (error) {
    measurements.isUnavailable = error instanceof Unavailable;
    const why = error instanceof Error ? error.message : String(error);
    remarks.add(measurements.isUnavailable ? `not run: ${why}` : `round ${round} was not finished: ${why}`);
    progress.note(`${contender.name}: ${why}`);
  }
}

function jobSteps(
  measurements: Measurements,
  workloads: readonly WorkloadName[],
  scale: Scale,
): readonly Step[] {
  if (!measurements.contender.can.includes('jobs')) return [];
  return [
    ...(workloads.includes('paced') ? [pacedStep(measurements, scale)] : []),
    ...(workloads.includes('burst') ? burstSteps(measurements, scale) : []),
  ];
}

function pacedStep(measurements: Measurements, scale: Scale): Step {
  const { rate, seconds } = scale.paced;
  return {
    what: `${rate} a second for ${seconds} s`,
    isWarm: true,
    run: async (warm) => void measurements.paced.push(await paced(warm, scale.paced)),
  };
}

/** A burst is left out if a smaller one shows that it would take too long. */
function burstSteps(
  measurements: Measurements,
  { bursts, burstSecondsMax: secondsMax }: Scale,
): readonly Step[] {
  let msEach = 0;
  return bursts.map((count) => ({
    what: `burst of ${count.toLocaleString('en-GB')}`,
    isWarm: true,
    run: async (warm) => {
      if (msEach * count > secondsMax * MS_PER_SECOND) {
        measurements.remarks.add(
          `burst of ${count.toLocaleString('en-GB')} left out: at its rate it takes more than ${secondsMax} s`,
        );
        return;
      }
      const round = await burst(warm, { count, secondsMax });
      measurements.bursts.set(count, [...(measurements.bursts.get(count) ?? []), round]);
      msEach = round.arrived < count ? Number.POSITIVE_INFINITY : round.maxMs / count;
    },
  }));
}

function createSteps(
  measurements: Measurements,
  workloads: readonly WorkloadName[],
  scale: Scale,
): readonly Step[] {
  if (!workloads.includes('creates') || !measurements.contender.can.includes('creates')) return [];
  return [
    {
      what: 'creates',
      isWarm: false,
      run: async ({ running }) => void measurements.creates.push(await creates(running, scale.creates)),
    },
  ];
}

function recurringSteps(
  measurements: Measurements,
  workloads: readonly WorkloadName[],
  scale: Scale,
): readonly Step[] {
  if (!workloads.includes('recurring') || !RECURRING_CONTENDERS.includes(measurements.contender.id))
    return [];
  const {
    recurring: { schedules },
    burstSecondsMax: secondsMax,
  } = scale;
  return [
    {
      what: `${schedules.toLocaleString('en-GB')} that recur at one minute`,
      isWarm: true,
      run: async (warm) => void measurements.recurring.push(await recurring(warm, { schedules, secondsMax })),
    },
  ];
}

function noMeasurements(contender: Contender): Measurements {
  return {
    contender,
    paced: [],
    bursts: new Map(),
    creates: [],
    recurring: [],
    remarks: new Set(),
    isUnavailable: false,
  };
}

function resultsOf({
  contender,
  paced,
  bursts,
  creates,
  recurring,
  remarks,
}: Measurements): ContenderResults {
  const { id, name, version, settings, durability } = contender;
  return {
    id,
    name,
    version,
    settings,
    durability,
    paced,
    bursts: [...bursts].map(([count, rounds]) => ({ count, rounds })),
    creates,
    recurring,
    remarks: [...remarks],
  };
}
