import type { Command } from 'commander';
import type { Delivery } from '#sdk/index.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, type Options, textOf } from '#src/cli/options.ts';
import { type Answer, type Json, tableOf } from '#src/cli/terminal/output.ts';
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { ATTEMPT_COLUMNS, deliveryColumns } from './columns.ts';
import { deliveryText } from './details.ts';
import { addListOptions, listAnswer } from './lists.ts';
import { type ServiceCall, withService } from './service-command.ts';
import { addRequestKey, requestKeyOf } from './write-options.ts';

/** The most attempts that a retry policy allows. */
const ATTEMPTS_MAX = 50;

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
}

function listCommand(deliveries: Command, dependencies: CliDependencies): void {
  const command = deliveries.command('list').description('List deliveries, newest first');
  addChoice(command, '--status <status>', 'only deliveries with this status', DELIVERY_STATUSES);
  addListOptions(
    command
      .option('--schedule <id>', 'only deliveries of this schedule')
      .option('--created-after <instant>', 'only deliveries created after this instant (RFC 3339)')
      .option('--created-before <instant>', 'only deliveries created before this instant (RFC 3339)'),
  ).addHelpText(
    'after',
    `
Examples:
  sched deliveries list --status dead_letter
  sched deliveries list --schedule sch_… --limit 100`,
  );
  withService(command, dependencies, (call) =>
    listAnswer(
      call,
      dependencies.notify,
      (query) => call.sched.deliveries.list({ ...query, ...deliveryFilters(call.options) }),
      deliveryColumns(call.now()),
    ),
  );
}

function deliveryFilters(options: Options) {
  return {
    // Commander accepts only values of this set.
    status: textOf(options, 'status') as Delivery['status'] | undefined,
    schedule_id: textOf(options, 'schedule'),
    created_after: textOf(options, 'createdAfter'),
    created_before: textOf(options, 'createdBefore'),
  };
}

async function deliveryAnswer(
  { sched, isJson, screen, now }: ServiceCall,
  delivery: Delivery,
): Promise<Answer> {
  const json = delivery as unknown as Json;
  if (isJson) return { json, text: '' };
  const text = deliveryText(delivery, screen, now());
  if (delivery.attempt_count === 0) return { json, text };
  const attempts = await sched.deliveries
    .attempts(delivery.id, { limit: ATTEMPTS_MAX })
    .toArray(ATTEMPTS_MAX);
  return { json, text: `${text}\n\n${tableOf(ATTEMPT_COLUMNS, attempts, screen)}` };
}
