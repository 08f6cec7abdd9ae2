/** The section about the workload `start`: a table of cold starts and of their first deliveries, and the bars. */
import type { ColdStart, FirstDelivery, Results, StartLine } from '../results.ts';
import { median } from '../statistics.ts';
import { type Bar, judge, under } from './bar.ts';
import { known, medianOf, milliseconds, NOTHING, whole } from './figures.ts';
import { plain, table } from './markdown.ts';
import { STORE_NAMES } from './tables.ts';

const READY_MS_MAX = 400;
const FIRST_MS_MAX = 5;

const FIRST: Readonly<Record<FirstDelivery, string>> = {
  created: 'created when ready',
  stored: 'stored before',
};

export function startTable({ start }: Results): string {
  return table(
    [
      'cold start',
      'first delivery',
      'starts',
      'listening ms',
      'ready ms',
      'worst',
      'first arrives ms',
      'worst',
    ],
    (start?.lines ?? []).flatMap((line) =>
      (['created', 'stored'] as const).map((first) => {
        const starts = startsOf(line, first);
        return [
          plain(startName(line)),
          FIRST[first],
          whole(starts.length),
          ...p50AndWorst(starts, ({ listeningMs }) => listeningMs, whole).slice(0, 1),
          ...p50AndWorst(starts, ({ readyMs }) => readyMs, whole),
          ...p50AndWorst(starts, ({ arrivedMs }) => arrivedMs, milliseconds),
        ];
      }),
    ),
  );
}

export function startName({ store, version }: StartLine): string {
  return version === 'baseline' ? `${STORE_NAMES[store]}, baseline` : STORE_NAMES[store];
}

export function startsOf({ starts }: StartLine, first: FirstDelivery): readonly ColdStart[] {
  return starts.filter((start) => start.first === first);
}

function p50AndWorst(
  starts: readonly ColdStart[],
  pick: (start: ColdStart) => number | null,
  format: (value: number) => string,
): readonly string[] {
  const numbers = known(starts.map(pick));
  return numbers.length === 0 ? [NOTHING, NOTHING] : [median(numbers), Math.max(...numbers)].map(format);
}

/** The bars apply to this version only, and not to a baseline. */
export function startBars({ start }: Results): readonly Bar[] {
  const lines = (start?.lines ?? []).filter(({ version }) => version === 'this');
  return lines.flatMap((line) => {
    const name = line.store === 'sqlite' ? 'SQLite' : 'PostgreSQL';
    const work = 'cold start';
    return [
      under(
        work,
        `${name}: ready in under ${READY_MS_MAX} ms`,
        medianOf(line.starts.map(({ readyMs }) => readyMs)),
        READY_MS_MAX,
        whole,
      ),
      ...(['created', 'stored'] as const).map((first) =>
        judge(
          work,
          `${name}: first delivery, ${FIRST[first]}, within ${FIRST_MS_MAX} ms`,
          [medianOf(known(startsOf(line, first).map(({ arrivedMs }) => arrivedMs)))],
          (late = 0) => ({ measured: `${milliseconds(late)} ms`, isMet: late <= FIRST_MS_MAX }),
        ),
      ),
    ];
  });
}
