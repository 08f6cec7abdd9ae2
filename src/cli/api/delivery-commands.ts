import type { Command } from 'commander';
import type { Delivery } from '#sdk/index.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, countParser, textOf } from '#src/cli/options.ts';
import type { Json } from '#src/cli/terminal/output.ts';
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { ATTEMPT_COLUMNS, deliveryColumns } from './columns.ts';
import { ATTEMPTS_MAX, deliveryAnswer } from './delivery-answer.ts';
import { addListOptions, listAnswer } from './lists.ts';
import { givenProfileId, givenScheduleId } from './named.ts';
import { responseText } from './response-text.ts';
import { type ServiceCall, withService } from './service-command.ts';
import { addRequestKey, requestKeyOf } from './write-options.ts';

export function deliveryCommands(deliveries: Command, dependencies: CliDependencies): void {
  listCommand(deliveries, dependencies);

  const show = deliveries.command('show').argument('<id>').description('Show a delivery and its attempts');
  withService(show, dependencies, async (call) =>
    deliveryAnswer(call, await call.sched.deliveries.get(call.argument)),
  );

  const attempts = deliveries
    .command('attempts')
    .argument('<id>')
    .description('List the attempts of a delivery, first attempt first');
  withService(addListOptions(attempts), dependencies, (call) =>
    listAnswer(
      call,
      dependencies.notify,
      (query) => call.sched.deliveries.attempts(call.argument, query),
      ATTEMPT_COLUMNS,
    ),
  );

  const replay = deliveries
    .command('replay')
    .argument('<id>')
    .description('Send an ended delivery again, as a new delivery')
    .addHelpText(
      'after',
      `
The receiver gets the Idempotency-Key of the original delivery. A receiver that
deduplicates ignores the replay if it has processed the original.

Examples:
  sched deliveries replay dlv_…
  sched deliveries list --status dead_letter --json | jq -r '.[].id' |
    xargs -n 1 sched deliveries replay`,
    );
  withService(addRequestKey(replay), dependencies, async (call) =>
    deliveryAnswer(call, await call.sched.deliveries.replay(call.argument, requestKeyOf(call.options))),
  );

  const cancel = deliveries
    .command('cancel')
    .argument('<id>')
    .description('End a delivery that waits for a retry')
    .addHelpText(
      'after',
      `
The only delivery of a one-shot schedule is canceled with its schedule:
  sched schedules cancel sch_…`,
    );
  withService(cancel, dependencies, async (call) =>
    deliveryAnswer(call, await call.sched.deliveries.cancel(call.argument)),
  );

  responseCommand(deliveries, dependencies);
}

function responseCommand(deliveries: Command, dependencies: CliDependencies): void {
  const command = deliveries
    .command('response')
    .argument('<id>')
    .argument('[attempt]', 'number of the attempt; default: the last one', countParser(ATTEMPTS_MAX))
    .description('Show the beginning of an answer that was not 2xx')
    .addHelpText(
      'after',
      `
Answers are kept only if the endpoint profile has --response-excerpt, or the
operator of the service set a default. Control characters are shown as \\u001b.
--json has the text as it is.

Examples:
  sched deliveries response dlv_…
  sched deliveries response dlv_… 2 --json | jq -r .excerpt`,
    );
  withService(command, dependencies, async (call) => {
    const { deliveries: all } = call.sched;
    const response = await all.response(call.argument, await attemptOf(call));
    return { json: response as unknown as Json, text: responseText(response, call.screen) };
  });
}

/** Without an attempt, the service says that there is no answer. */
async function attemptOf({ sched, argument, secondArgument }: ServiceCall): Promise<number> {
  if (secondArgument !== undefined) return Number(secondArgument);
  return Math.max((await sched.deliveries.get(argument)).attempt_count, 1);
}

function listCommand(deliveries: Command, dependencies: CliDependencies): void {
  const command = deliveries.command('list').description('List deliveries, newest first');
  addChoice(command, '--status <status>', 'only deliveries with this status', DELIVERY_STATUSES);
  addListOptions(
    command
      .option('--schedule <schedule>', 'only deliveries of this schedule: id or name')
      .option('--endpoint <profile>', 'only deliveries of this endpoint profile: id or name')
      .option('--replay-of <id>', 'only replays of this delivery')
      .option('--notification-of <id>', 'only notifications of how this delivery ended')
      .option('--created-after <instant>', 'only deliveries created after this instant (RFC 3339)')
      .option('--created-before <instant>', 'only deliveries created before this instant (RFC 3339)'),
  ).addHelpText(
    'after',
    `
Examples:
  sched deliveries list --status dead_letter
  sched deliveries list --schedule sch_… --limit 100`,
  );
  withService(command, dependencies, async (call) => {
    const filters = await deliveryFilters(call);
    return listAnswer(
      call,
      dependencies.notify,
      (query) => call.sched.deliveries.list({ ...query, ...filters }),
      deliveryColumns(call.now()),
    );
  });
}

async function deliveryFilters({ sched, options }: ServiceCall) {
  return {
    // Commander accepts only values of this set.
    status: textOf(options, 'status') as Delivery['status'] | undefined,
    schedule_id: await givenScheduleId(sched, textOf(options, 'schedule')),
    endpoint_id: await givenProfileId(sched, textOf(options, 'endpoint')),
    replay_of: textOf(options, 'replayOf'),
    notification_of: textOf(options, 'notificationOf'),
    created_after: textOf(options, 'createdAfter'),
    created_before: textOf(options, 'createdBefore'),
  };
}
