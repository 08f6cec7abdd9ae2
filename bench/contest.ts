/**
 * The works in which the contenders take turns. In every round each has its turn, alone: so whatever else the
 * machine does meanwhile hits all of them. Who fails or cannot be run here does not end the run: the results
 * say so.
 */
import type { Bench } from './bench.ts';
import { Absent, type Contender } from './contender.ts';
import { RECURRING_CONTENDERS } from './contenders.ts';
import type { Work } from './options.ts';
import type { ContenderResults, CreatesRound, LatenessRound, Scale } from './results.ts';
import { burst, creates, paced, recurring, type Stage, warmUp } from './turn.ts';

const MS_PER_SECOND = 1_000;

/** What a contender has shown so far. */
interface Scores {
  readonly contender: Contender;
  readonly paced: LatenessRound[];
  readonly bursts: Map<number, LatenessRound[]>;
  readonly creates: CreatesRound[];
  readonly recurring: LatenessRound[];
  readonly remarks: Set<string>;
  isAbsent: boolean;
}

/** What is measured from one start of a contender to its end. */
interface Turn {
  readonly scores: Scores;
  readonly round: number;
  readonly steps: readonly Step[];
}

interface Step {
  readonly what: string;
  /** Whether its connections are to be open before. */
  readonly isWarm: boolean;
  take(stage: Stage): Promise<void>;
}

export interface Contest {
  /** How many there are to take. */
  readonly steps: number;
  /** Tells how many are behind it. */
  run(bench: Bench, passed: (steps: number) => void): Promise<void>;
  results(): readonly ContenderResults[];
}

export function contestOf(contenders: readonly Contender[], works: readonly Work[], scale: Scale): Contest {
  const all = contenders.map(scoresOf);
  const turns = [
    // Creates have a start of their own: on a store that is empty, by a process that sends nothing.
    ...inRounds(scale.rounds, all, (scores) => [
      orderSteps(scores, works, scale),
      createSteps(scores, works, scale),
    ]),
    ...inRounds(scale.recurring.rounds, all, (scores) => [recurringSteps(scores, works, scale)]),
  ];
  return {
    steps: turns.reduce((sum, { steps }) => sum + steps.length, 0),
    run: async (bench, passed) => {
      let behind = 0;
      for (const turn of turns) {
        await takeTurn(turn, bench);
        behind += turn.steps.length;
        passed(behind);
      }
    },
    results: () => all.map(resultsOf),
  };
}

function inRounds(
  rounds: number,
  all: readonly Scores[],
  turnsOf: (scores: Scores) => readonly (readonly Step[])[],
): readonly Turn[] {
  return Array.from({ length: rounds }, (_, n) =>
    all.flatMap((scores) =>
      turnsOf(scores)
        .filter((steps) => steps.length > 0)
        .map((steps) => ({ scores, round: n + 1, steps })),
    ),
  ).flat();
}

async function takeTurn(
  { scores, round, steps }: Turn,
  { ground, arrivals, progress }: Bench,
): Promise<void> {
  const { contender, remarks } = scores;
  if (scores.isAbsent) return;
  const tell = ({ what }: Step) => progress.step(`round ${round}, ${contender.name}: ${what}`);
  try {
    const [first, ...others] = steps;
    if (first === undefined) return;
    tell(first);
    await using running = await contender.start(ground);
    const stage = first.isWarm ? await warmUp(running, arrivals) : { running, arrivals, storeMsEach: 0 };
    await first.take(stage);
    for (const step of others) {
      tell(step);
      await step.take(stage);
    }
  } catch (error) {
    scores.isAbsent = error instanceof Absent;
    const why = error instanceof Error ? error.message : String(error);
    remarks.add(scores.isAbsent ? `not run: ${why}` : `round ${round} was not finished: ${why}`);
    progress.note(`${contender.name}: ${why}`);
  }
}

function orderSteps(scores: Scores, works: readonly Work[], scale: Scale): readonly Step[] {
  if (!scores.contender.can.includes('orders')) return [];
  return [
    ...(works.includes('paced') ? [pacedStep(scores, scale)] : []),
    ...(works.includes('burst') ? burstSteps(scores, scale) : []),
  ];
}

function pacedStep(scores: Scores, scale: Scale): Step {
  const { rate, seconds } = scale.paced;
  return {
    what: `${rate} a second for ${seconds} s`,
    isWarm: true,
    take: async (stage) => void scores.paced.push(await paced(stage, scale.paced)),
  };
}

/** A larger one is left out where the smaller one shows that it would take longer than it may. */
function burstSteps(scores: Scores, { bursts, burstSecondsMax: secondsMax }: Scale): readonly Step[] {
  let msEach = 0;
  return bursts.map((count) => ({
    what: `burst of ${count.toLocaleString('en-GB')}`,
    isWarm: true,
    take: async (stage) => {
      if (msEach * count > secondsMax * MS_PER_SECOND) {
        scores.remarks.add(
          `burst of ${count.toLocaleString('en-GB')} left out: at its rate it takes more than ${secondsMax} s`,
        );
        return;
      }
      const round = await burst(stage, { count, secondsMax });
      scores.bursts.set(count, [...(scores.bursts.get(count) ?? []), round]);
      msEach = round.arrived < count ? Number.POSITIVE_INFINITY : round.maxMs / count;
    },
  }));
}

function createSteps(scores: Scores, works: readonly Work[], scale: Scale): readonly Step[] {
  if (!works.includes('creates') || !scores.contender.can.includes('creates')) return [];
  return [
    {
      what: 'creates',
      isWarm: false,
      take: async ({ running }) => void scores.creates.push(await creates(running, scale.creates)),
    },
  ];
}

function recurringSteps(scores: Scores, works: readonly Work[], scale: Scale): readonly Step[] {
  if (!works.includes('recurring') || !RECURRING_CONTENDERS.includes(scores.contender.id)) return [];
  const {
    recurring: { schedules },
    burstSecondsMax: secondsMax,
  } = scale;
  return [
    {
      what: `${schedules.toLocaleString('en-GB')} that recur at one minute`,
      isWarm: true,
      take: async (stage) => void scores.recurring.push(await recurring(stage, { schedules, secondsMax })),
    },
  ];
}

function scoresOf(contender: Contender): Scores {
  return {
    contender,
    paced: [],
    bursts: new Map(),
    creates: [],
    recurring: [],
    remarks: new Set(),
    isAbsent: false,
  };
}

function resultsOf({ contender, paced, bursts, creates, recurring, remarks }: Scores): ContenderResults {
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
