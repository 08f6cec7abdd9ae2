import { join } from 'node:path';
import type { Command } from 'commander';
import { CONTROL_SETTINGS, type MoveSettings, readMoveSettings } from '#src/app/config.ts';
import { moveStore } from '#src/app/move-store.ts';
import { nameOfStore } from '#src/app/open-store.ts';
import { addAction, addSettings, type CliDependencies } from '#src/cli/command.ts';
import { table } from '#src/cli/terminal/output.ts';
import { showProgress } from '#src/cli/terminal/screen.ts';

export function moveCommand(program: Command, dependencies: CliDependencies): void {
  const command = program
    .command('move')
    .description('Copy everything from the data directory to an empty PostgreSQL database')
    .addHelpText('after', '\nStop the service first.');
  addAction(addSettings(command, CONTROL_SETTINGS), dependencies, async (given) => {
    const settings = readMoveSettings(given);
    const moved = await moveStore(settings, ({ table, rows }) => showProgress(`${table} ${rows}`)).finally(
      () => showProgress(''),
    );
    const store = nameOfStore(settings);
    return {
      json: { from: settings.dataDir, store, rows: Object.fromEntries(moved) },
      text: `${table([...moved].map(([name, rows]) => [name, String(rows)]))}\n\n${nextSteps(settings, store)}`,
    };
  });
}

function nextSteps({ dataDir, masterKey, masterKeysPrevious }: MoveSettings, store: string): string {
  const lines = [
    `Everything is copied to ${store}. Start the service with these settings:`,
    '  SCHED_DATABASE_URL  the value used for this command',
    `  SCHED_MASTER_KEY    ${masterKey === null ? `the content of ${join(dataDir, 'master.key')}` : 'the value used for this command'}`,
    ...(masterKeysPrevious === null ? [] : ['  SCHED_MASTER_KEY_PREVIOUS  the value used for this command']),
    '',
    `${dataDir} is unchanged, but marked as moved. The service does not start on it again.`,
  ];
  return lines.join('\n');
}
