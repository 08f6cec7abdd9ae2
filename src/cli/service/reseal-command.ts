import type { Command } from 'commander';
import { readControlSettings } from '#src/app/config.ts';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { NegativeAnswer } from '#src/cli/failure.ts';
import { addControlOptions, readGiven } from './service-options.ts';

export function resealCommand(program: Command, dependencies: CliDependencies): void {
  const command = program
    .command('reseal')
    .description(
      'Encrypt all stored values again with the current master key, so that an earlier key can be removed',
    );
  addControlOptions(command).action(async () => {
    const settings = readControlSettings(readGiven(command, dependencies.env));
    const { resealAll } = await import('./reseal-action.ts');
    const { answer, isComplete } = await resealAll(settings, dependencies);
    printAnswer(answer, command.opts(), dependencies);
    if (!isComplete) throw new NegativeAnswer();
  });
}
