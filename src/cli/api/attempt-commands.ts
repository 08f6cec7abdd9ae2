import type { Command } from 'commander';
import type { RecentAttempt } from '#sdk/index.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, type Options, textOf } from '#src/cli/options.ts';
import { ATTEMPT_OUTCOMES } from '#src/domain/delivery.ts';
import { recentAttemptColumns } from './columns.ts';
import { addListOptions, listAnswer } from './lists.ts';
import { givenProfileId } from './named.ts';
import { withService } from './service-command.ts';

export function attemptCommands(attempts: Command, dependencies: CliDependencies): void {
  const list = attempts
    .command('list')
    .description('List the attempts of all deliveries, those that ended last first');
  addChoice(list, '--outcome <outcome>', 'only attempts with this outcome', ATTEMPT_OUTCOMES);
  addListOptions(
    list.option('--endpoint <profile>', 'only attempts of this endpoint profile: id or name'),
  ).addHelpText(
    'after',
    `
Attempts in flight are not listed. "sched tail" follows attempts as they end.

Examples:
  sched attempts list
  sched attempts list --outcome retryable --endpoint billing-hooks`,
  );
  withService(list, dependencies, async (call) => {
    const filters = {
      outcome: outcomeOf(call.options),
      endpoint_id: await givenProfileId(call.sched, textOf(call.options, 'endpoint')),
    };
    return listAnswer(
      call,
      dependencies.notify,
      (query) => call.sched.attempts.list({ ...query, ...filters }),
      recentAttemptColumns(call.now()),
    );
  });
}

/** Commander accepts only values of this set. */
function outcomeOf(options: Options): RecentAttempt['outcome'] | undefined {
  return textOf(options, 'outcome') as RecentAttempt['outcome'] | undefined;
}
