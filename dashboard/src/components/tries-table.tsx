/** The figures of the waterfall as a table. */
import { milliseconds } from '../format.ts';
import { outcomeWord, type Row } from '../model/waterfall.ts';
import { formatInstant, shownZone } from '../time.ts';

export function TriesTable({ all }: { readonly all: readonly Row[] }) {
  const zone = shownZone.value;
  const since = (ms: number | null) => (ms === null ? '–' : milliseconds(ms));
  return (
    <section
      aria-label="Attempts as a table"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
      tabIndex={0}
      class="overflow-x-auto"
    >
      <table class="data-table">
        <caption class="sr-only">Attempts, with times after the fire</caption>
        <thead>
          <tr>
            <th scope="col">Try</th>
            <th scope="col">Outcome</th>
            <th scope="col">Due</th>
            <th scope="col" class="figure">
              Late
            </th>
            <th scope="col" class="figure">
              Connected
            </th>
            <th scope="col" class="figure">
              First byte
            </th>
            <th scope="col" class="figure">
              End
            </th>
          </tr>
        </thead>
        <tbody>
          {all.map(({ attempt }) => (
            <tr key={attempt.attempt_no}>
              <th scope="row">{attempt.attempt_no}</th>
              <td>
                {outcomeWord(attempt)}
                {attempt.status_code === null ? '' : ` (${attempt.status_code})`}
              </td>
              <td class="whitespace-nowrap">{formatInstant(attempt.due_at, zone, 'exact')}</td>
              <td class="figure whitespace-nowrap">{since(attempt.lateness_ms)}</td>
              <td class="figure whitespace-nowrap">{since(attempt.connected_ms)}</td>
              <td class="figure whitespace-nowrap">{since(attempt.first_byte_ms)}</td>
              <td class="figure whitespace-nowrap">{since(attempt.end_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
