import type { Command } from 'commander';
import { readControlSettings } from '#src/app/config.ts';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { NegativeAnswer } from '#src/cli/failure.ts';
import { addControlOptions, readGiven } from './service-options.ts';

export function resealCommand(command: Command, dependencies: CliDependencies): void {
  addControlOptions(command).action(async () => {
    const settings = readControlSettings(readGiven(command, dependencies.env));
    const { resealAll } = await import('./reseal-action.ts');
    const { answer, isComplete } = await resealAll(settings, dependencies);
    printAnswer(answer, command.opts(), dependencies);
    if (!isComplete) throw new NegativeAnswer();
  });
}
