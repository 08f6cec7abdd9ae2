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
    .description('copy everything from the data directory into an empty PostgreSQL; the service is stopped');
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
    `Everything is in ${store}. Start the service there, with`,
    '  SCHED_DATABASE_URL  as for this command',
    `  SCHED_MASTER_KEY    ${masterKey === null ? `what ${join(dataDir, 'master.key')} holds` : 'as for this command'}`,
    ...(masterKeysPrevious === null ? [] : ['  SCHED_MASTER_KEY_PREVIOUS  as for this command']),
    '',
    `${dataDir} is kept as it was, but marked as moved: nothing starts on it again.`,
  ];
  return lines.join('\n');
}
