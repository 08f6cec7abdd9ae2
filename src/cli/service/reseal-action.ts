/** The work of `sched reseal`. */
import type { ControlSettings } from '#src/app/config.ts';
import { withSecrets } from '#src/app/control-session.ts';
import { nameOfStore } from '#src/app/open-store.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { type Answer, table } from '#src/cli/terminal/output.ts';
import { showProgress } from '#src/cli/terminal/screen.ts';
import { type ResealCounts, type ResealReport, reseal } from '#src/control/reseal.ts';
import { auditCommand } from './command-audit.ts';

/** A line is printed in a pipe each time this many values are done. */
const REPORT_EVERY = 10_000;

export async function resealAll(
  settings: ControlSettings,
  dependencies: CliDependencies,
): Promise<{ readonly answer: Answer; readonly isComplete: boolean }> {
  const report = await withSecrets(settings, (control) =>
    auditCommand(control, { action: 'master_key.reseal' }, () =>
      reseal({
        sealed: control.store.sealed,
        vault: control.vault,
        timers: dependencies.timers,
        progress: progressTo(dependencies),
      }),
    ),
  ).finally(() => showProgress(''));
  return { answer: answerOf(report, nameOfStore(settings)), isComplete: isComplete(report) };
}

function progressTo({ notify }: CliDependencies): (name: string, counts: ResealCounts) => void {
  let lastLine = '';
  return (name, { resealed, already, unreadable, changed }) => {
    const values = resealed + already + unreadable + changed;
    showProgress(`${name} ${values}`);
    const line = `${name}: ${values - (values % REPORT_EVERY)} values are done.`;
    if (values >= REPORT_EVERY && line !== lastLine && !process.stderr.isTTY) notify(line);
    lastLine = line;
  };
}

function isComplete({ total }: ResealReport): boolean {
  return total.unreadable === 0 && total.changed === 0;
}

function answerOf(report: ResealReport, store: string): Answer {
  const { columns, total, unreadable } = report;
  const rows = Object.entries(columns).map(([name, counts]) => [name, ...cellsOf(counts)]);
  return {
    json: {
      store,
      columns: Object.fromEntries(Object.entries(columns).map(([name, counts]) => [name, { ...counts }])),
      total: { ...total },
      unreadable,
    },
    text: [
      table([['VALUES', 'RESEALED', 'UP TO DATE', 'UNREADABLE', 'CHANGED'], ...rows]),
      '',
      ...conclusionOf(report),
    ].join('\n'),
  };
}

function cellsOf({ resealed, already, unreadable, changed }: ResealCounts): readonly string[] {
  return [resealed, already, unreadable, changed].map(String);
}

function conclusionOf(report: ResealReport): readonly string[] {
  if (isComplete(report)) {
    return [
      'All stored values are sealed with the current master key.',
      'Remove the previous key only when all nodes run with the current one. If a node still ran with another key',
      'during this command, run it again first. Older backups need the previous key.',
    ];
  }
  const { total, unreadable } = report;
  const lines = ['Keep the previous keys: some values are not sealed with the current one.'];
  if (total.changed > 0) lines.push(`${total.changed} values changed while the command ran. Run it again.`);
  if (total.unreadable > 0) {
    const more = total.unreadable - unreadable.length;
    lines.push(
      `${total.unreadable} values cannot be opened. Their key is missing from SCHED_MASTER_KEY_PREVIOUS, or the rows were edited by hand:`,
      ...unreadable.map((place) => `  ${place}`),
      ...(more > 0 ? [`  and ${more} more`] : []),
    );
  }
  return lines;
}
