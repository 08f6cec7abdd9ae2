/** The section about the workload `start`: a table of cold starts and of their first deliveries. */
import type { ColdStart, FirstDelivery, Results, StartLine } from '../results.ts';
import { median } from '../statistics.ts';
import { known, milliseconds, NOTHING, whole } from './figures.ts';
import { plain, table } from './markdown.ts';
import { STORE_NAMES } from './tables.ts';

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
