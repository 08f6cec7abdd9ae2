import { join } from 'node:path';
import type { Command } from 'commander';
import { type MoveSettings, readMoveSettings } from '#src/app/config.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { table } from '#src/cli/terminal/output.ts';
import { showProgress } from '#src/cli/terminal/screen.ts';
import { addAction } from './service-options.ts';

export function moveCommand(command: Command, dependencies: CliDependencies): void {
  command.addHelpText('after', '\nStop the service first.');
  addAction(command, dependencies, async (given) => {
    const settings = readMoveSettings(given);
    const [{ moveStore }, { nameOfStore }] = await Promise.all([
      import('#src/app/move-store.ts'),
      import('#src/app/open-store.ts'),
    ]);
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
