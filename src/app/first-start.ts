/** What a person reads at the first start. It goes to standard output only: it must not end up in a log. */
import { DEFAULT_PROJECT, type Made } from '#src/control/bootstrap.ts';

export function announcement(made: readonly Made[]): string {
  if (made.length === 0) return '';
  const labels = made.map(({ mode, what }) => `${mode} ${what}`);
  const width = Math.max(...labels.map(({ length }) => length));
  const lines = made.map(({ text }, i) => `  ${labels[i]?.padEnd(width)}  ${text}`);
  return [
    `Project ${DEFAULT_PROJECT}. These are shown once, keep them:`,
    '',
    ...lines,
    '',
    'A lost key is replaced with `sched key create --mode test`, and',
    '`sched secret show --mode test` shows the signing secrets again.',
    '',
    '',
  ].join('\n');
}
