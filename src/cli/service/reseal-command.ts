import type { Command } from 'commander';
import { CONTROL_SETTINGS, readControlSettings } from '#src/app/config.ts';
import { withSecrets } from '#src/app/control-session.ts';
import { nameOfStore } from '#src/app/open-store.ts';
import {
  addJsonOption,
  addSettings,
  type CliDependencies,
  printAnswer,
  readGiven,
} from '#src/cli/command.ts';
import { NegativeAnswer } from '#src/cli/failure.ts';
import { type Answer, table } from '#src/cli/terminal/output.ts';
import { showProgress } from '#src/cli/terminal/screen.ts';
import { type ResealCounts, type ResealReport, reseal } from '#src/control/reseal.ts';
import { auditCommand } from './command-audit.ts';

/** A line is printed in a pipe each time this many values are done. */
const REPORT_EVERY = 10_000;

export function resealCommand(program: Command, dependencies: CliDependencies): void {
  const command = program
    .command('reseal')
    .description(
      'Encrypt all stored values again with the current master key, so that an earlier key can be removed',
    );
  addSettings(addJsonOption(command), CONTROL_SETTINGS).action(async () => {
    const settings = readControlSettings(readGiven(command, dependencies.env));
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
    printAnswer(answerOf(report, nameOfStore(settings)), command.opts(), dependencies);
    if (!isComplete(report)) throw new NegativeAnswer();
  });
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
