/**
 * `npm run capacity` calculates what a load needs, what breaks first, and what one does then. It uses the costs that
 * `npm run bench -- --work costs` measured last.
 */
import { UsageError } from '../options.ts';
import { answerOf, answerText } from './answer.ts';
import { CAPACITY_USAGE, capacityCommandOf } from './command-line.ts';
import { readCosts } from './costs.ts';
import { writePage } from './page.ts';

function run(args: readonly string[]): void {
  const command = capacityCommandOf(args);
  if (command.kind === 'help') {
    console.log(CAPACITY_USAGE);
    return;
  }
  if (command.kind === 'page') {
    writePage(readCosts());
    return;
  }
  const answer = answerOf(readCosts(), command.options);
  console.log(command.options.json ? JSON.stringify(answer, null, 2) : answerText(answer, command.options));
}

try {
  run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${CAPACITY_USAGE}`);
  process.exitCode = 2;
}
