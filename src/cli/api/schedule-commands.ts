import type { Command } from 'commander';
import type { Schedule } from '#sdk/index.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, addRepeatable, textOf } from '#src/cli/options.ts';
import { METHODS } from '#src/domain/destination.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import { readMetadata, requireChange, rescheduleBody, updateBody } from './bodies.ts';
import { deliveryColumns, scheduleColumns } from './columns.ts';
import { deliveryAnswer } from './delivery-answer.ts';
import { addListOptions, listAnswer } from './lists.ts';
import { addScheduleArgument, givenProfileId, scheduleIdOf, withProfileIds } from './named.ts';
import { scheduleAnswer } from './schedule-answer.ts';
import { addTimingOptions, createCommand, putCommand } from './schedule-write-commands.ts';
import { type ServiceCall, withService } from './service-command.ts';
import { addNotifyOptions, addRequestKey, addRetryOptions, requestKeyOf } from './write-options.ts';

export function scheduleCommands(schedules: Command, dependencies: CliDependencies): void {
  createCommand(schedules, dependencies);
  putCommand(schedules, dependencies);
  listCommand(schedules, dependencies);
  const show = addScheduleArgument(schedules.command('show')).description(
    'Show a schedule and its next runs',
  );
  withService(show, dependencies, async (call) => {
    const { schedules: all } = call.sched;
    return scheduleAnswer(call, await all.get(await scheduleIdOf(call.sched, call.argument)), 'with runs');
  });
  updateCommand(schedules, dependencies);
  rescheduleCommand(schedules, dependencies);
  stateCommand(schedules, dependencies, 'pause', 'Pause a schedule; pending deliveries wait');
  stateCommand(schedules, dependencies, 'resume', 'Resume a schedule; missed recurring runs are skipped');
  stateCommand(schedules, dependencies, 'cancel', 'Cancel a schedule for good; its history stays');
  triggerCommand(schedules, dependencies);
  const deliveries = addScheduleArgument(schedules.command('deliveries')).description(
    'List the deliveries of a schedule, newest first',
  );
  withService(addListOptions(deliveries), dependencies, async (call) => {
    const id = await scheduleIdOf(call.sched, call.argument);
    return listAnswer(
      call,
      dependencies.notify,
      (query) => call.sched.schedules.deliveries(id, query),
      deliveryColumns(call.now()),
    );
  });
}

function triggerCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = addScheduleArgument(schedules.command('trigger'))
    .description('Send a request of a schedule now')
    .addHelpText(
      'after',
      `
A recurring schedule gets an additional delivery, and its next run does not
move. A one-shot schedule that waits fires now.

Examples:
  sched schedules trigger nightly-report
  sched schedules trigger sch_… --json | jq -r .id`,
    );
  withService(addRequestKey(command), dependencies, async (call) => {
    const id = await scheduleIdOf(call.sched, call.argument);
    return deliveryAnswer(call, await call.sched.schedules.trigger(id, requestKeyOf(call.options)));
  });
}

function listCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = schedules.command('list').description('List schedules, newest first');
  addChoice(command, '--state <state>', 'only schedules in this state', SCHEDULE_STATES);
  addChoice(command, '--kind <kind>', 'only schedules of this kind', SCHEDULE_KINDS);
  command
    .option('--name <name>', 'only schedules with this name, also ended ones')
    .option('--endpoint <profile>', 'only schedules of this endpoint profile: id or name')
    .option('--search <text>', 'only schedules whose URL has this text in it');
  addRepeatable(command, '--metadata <key=value>', 'only schedules with this label');
  addListOptions(command).addHelpText(
    'after',
    `
Examples:
  sched schedules list --state active --metadata team=billing
  sched schedules list --search example.com/hooks
  sched schedules list --all --json | jq -r '.[].id'`,
  );
  withService(command, dependencies, async (call) => {
    const filters = await scheduleFilters(call);
    return listAnswer(
      call,
      dependencies.notify,
      (query) => call.sched.schedules.list({ ...query, ...filters }),
      scheduleColumns(call.now(), call.screen),
    );
  });
}

async function scheduleFilters({ sched, options }: ServiceCall) {
  const metadata = readMetadata(options);
  return {
    // Commander accepts only values of these sets.
    state: textOf(options, 'state') as Schedule['state'] | undefined,
    kind: textOf(options, 'kind') as Schedule['kind'] | undefined,
    name: textOf(options, 'name'),
    endpoint_id: await givenProfileId(sched, textOf(options, 'endpoint')),
    q: textOf(options, 'search'),
    ...(metadata === null ? {} : { metadata }),
  };
}

function updateCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = addScheduleArgument(schedules.command('update'))
    .description('Change a schedule; fields that are not given stay as they are')
    .option('--name <name>', 'name of the schedule')
    .option('--endpoint <url>', 'URL to send the request to');
  addChoice(command, '--method <method>', 'HTTP method', METHODS);
  addRetryOptions(command.option('--ttl <duration>', 'start no attempt later than this after the fire time'));
  addNotifyOptions(command);
  addRepeatable(command, '--metadata <key=value>', 'label; the given labels replace all existing ones');
  command.option('--data <json>', 'whole change as JSON: TEXT, @file or -; null clears a field').addHelpText(
    'after',
    `
A retry policy is replaced as a whole: parts that are not given get their
default values. --notify and --notify-on replace both parts.

Examples:
  sched schedules update sch_… --endpoint https://example.com/new
  sched schedules update sch_… --data '{"ttl":null}'`,
  );
  withService(addRequestKey(command), dependencies, async (call) => {
    const change = requireChange(
      await updateBody(await withProfileIds(call.sched, call.options)),
      call.options,
    );
    const id = await scheduleIdOf(call.sched, call.argument);
    return scheduleAnswer(call, await call.sched.schedules.update(id, change, requestKeyOf(call.options)));
  });
}

function rescheduleCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = addScheduleArgument(schedules.command('reschedule'))
    .description('Change the time of a schedule; --cron replaces its recurrence')
    .addHelpText(
      'after',
      `
Examples:
  sched schedules reschedule sch_… --delay 10m
  sched schedules reschedule sch_… --cron "0 8 * * *" --tz Europe/Berlin`,
    );
  addTimingOptions(command);
  command.option('--data <json>', 'whole request as JSON: TEXT, @file or -');
  withService(addRequestKey(command), dependencies, async (call) => {
    const body = await rescheduleBody(call.options);
    const id = await scheduleIdOf(call.sched, call.argument);
    const schedule = await call.sched.schedules.reschedule(id, body, requestKeyOf(call.options));
    return scheduleAnswer(call, schedule, 'with runs', body.local_fire_at ?? null);
  });
}

function stateCommand(
  schedules: Command,
  dependencies: CliDependencies,
  verb: 'pause' | 'resume' | 'cancel',
  about: string,
): void {
  const command = addScheduleArgument(schedules.command(verb)).description(about);
  withService(command, dependencies, async (call) => {
    const schedule = await call.sched.schedules[verb](await scheduleIdOf(call.sched, call.argument));
    const note = endedNote(schedule, verb);
    return { ...(await scheduleAnswer(call, schedule)), ...(note !== null && { note }) };
  });
}

/** The service answers an action on an ended schedule with the unchanged schedule, and not with an error. */
function endedNote({ state }: Schedule, verb: 'pause' | 'resume' | 'cancel'): string | null {
  if (state === 'active' || state === 'paused' || (state === 'canceled' && verb === 'cancel')) return null;
  return verb === 'resume'
    ? `This schedule is ${state}. It sends no more requests.`
    : `This schedule is ${state}, so there is nothing to ${verb}.`;
}
