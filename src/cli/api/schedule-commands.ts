import type { Command } from 'commander';
import type { Schedule } from '#sdk/index.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, addRepeatable, type Options, textOf } from '#src/cli/options.ts';
import type { Answer, Json } from '#src/cli/terminal/output.ts';
import { METHODS } from '#src/domain/destination.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import { createBody, readMetadata, requireChange, rescheduleBody, updateBody } from './bodies.ts';
import { deliveryColumns, scheduleColumns } from './columns.ts';
import { scheduleText } from './details.ts';
import { addListOptions, listAnswer } from './lists.ts';
import { type ServiceCall, withService } from './service-command.ts';
import { addRequestKey, addRetryOptions, requestKeyOf } from './write-options.ts';

export function scheduleCommands(schedules: Command, dependencies: CliDependencies): void {
  createCommand(schedules, dependencies);
  listCommand(schedules, dependencies);
  const show = schedules.command('show').argument('<id>').description('Show a schedule and its next runs');
  withService(show, dependencies, async (call) =>
    scheduleAnswer(call, await call.sched.schedules.get(call.argument), 'with runs'),
  );
  updateCommand(schedules, dependencies);
  rescheduleCommand(schedules, dependencies);
  stateCommand(schedules, dependencies, 'pause', 'Pause a schedule; pending deliveries wait');
  stateCommand(schedules, dependencies, 'resume', 'Resume a schedule; missed recurring runs are skipped');
  stateCommand(schedules, dependencies, 'cancel', 'Cancel a schedule for good; its history stays');
  const deliveries = schedules
    .command('deliveries')
    .argument('<id>')
    .description('List the deliveries of a schedule, newest first');
  withService(addListOptions(deliveries), dependencies, (call) =>
    listAnswer(
      call,
      dependencies.notify,
      (query) => call.sched.schedules.deliveries(call.argument, query),
      deliveryColumns(call.now()),
    ),
  );
}

function createCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = schedules
    .command('create')
    .description('Create a schedule that sends a request once or repeatedly')
    .addHelpText(
      'after',
      `
Examples:
  sched schedules create --endpoint https://example.com/hook --delay 5m \\
    --body '{"hello":"world"}'
  sched schedules create --endpoint https://example.com/report \\
    --cron "0 9 * * MON-FRI" --tz Europe/Berlin
  sched schedules create --endpoint-id ep_… --local 2027-03-28T09:00:00 \\
    --tz Europe/Berlin --metadata team=billing
  sched schedules create --data @schedule.json`,
    );
  command
    .optionsGroup('Destination, one of:')
    .option('--endpoint <url>', 'URL to send the request to')
    .option('--endpoint-id <id>', 'endpoint profile (sched endpoints)');
  addTimingOptions(command);
  command.optionsGroup('Request:');
  addChoice(command, '--method <method>', 'HTTP method; default POST', METHODS);
  addRepeatable(command, '--header <line>', 'header "Name: value"');
  command.option(
    '--body <text>',
    'body: TEXT, @file or - for standard input; use --data if TEXT starts with @',
  );
  command
    .optionsGroup('Delivery:')
    .option('--ttl <duration>', 'start no attempt later than this after the fire time')
    .option('--jitter <duration>', 'move each run by up to this much, earlier or later')
    .option('--idempotency-key <key>', 'Idempotency-Key that the receiver gets');
  addRetryOptions(command).option('--rate-limit <number>', 'maximum deliveries per second to this endpoint');
  addRepeatable(command, '--metadata <key=value>', 'label');
  command.option('--data <json>', 'whole request as JSON: TEXT, @file or -; other flags set its fields');
  addRequestKey(command);
  withService(command, dependencies, async (call) => {
    const body = await createBody(call.options);
    const schedule = await call.sched.schedules.create(body, requestKeyOf(call.options));
    return scheduleAnswer(call, schedule, 'with runs', body.local_fire_at ?? null);
  });
}

function addTimingOptions(command: Command): void {
  command
    .optionsGroup('Time, one of:')
    .option('--delay <duration>', 'after this long from now, such as 90s or 1h30m')
    .option('--at <instant>', 'at an instant, such as 2027-01-01T09:00:00+01:00')
    .option('--local <time>', 'at a wall-clock time in --tz, such as 2027-01-01T09:00:00')
    .option('--cron <expression>', 'repeatedly: minute, hour, day of month, month, day of week')
    .option('--tz <zone>', 'time zone of --local and --cron; default UTC');
}

function listCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = schedules.command('list').description('List schedules, newest first');
  addChoice(command, '--state <state>', 'only schedules in this state', SCHEDULE_STATES);
  addChoice(command, '--kind <kind>', 'only schedules of this kind', SCHEDULE_KINDS);
  addRepeatable(command, '--metadata <key=value>', 'only schedules with this label');
  addListOptions(command).addHelpText(
    'after',
    `
Examples:
  sched schedules list --state active --metadata team=billing
  sched schedules list --all --json | jq -r '.[].id'`,
  );
  withService(command, dependencies, (call) =>
    listAnswer(
      call,
      dependencies.notify,
      (query) => call.sched.schedules.list({ ...query, ...scheduleFilters(call.options) }),
      scheduleColumns(call.now()),
    ),
  );
}

function scheduleFilters(options: Options) {
  const metadata = readMetadata(options);
  return {
    // Commander accepts only values of these sets.
    state: textOf(options, 'state') as Schedule['state'] | undefined,
    kind: textOf(options, 'kind') as Schedule['kind'] | undefined,
    ...(metadata === null ? {} : { metadata }),
  };
}

function updateCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = schedules
    .command('update')
    .argument('<id>')
    .description('Change a schedule; fields that are not given stay as they are')
    .option('--endpoint <url>', 'URL to send the request to');
  addChoice(command, '--method <method>', 'HTTP method', METHODS);
  addRetryOptions(command.option('--ttl <duration>', 'start no attempt later than this after the fire time'));
  addRepeatable(command, '--metadata <key=value>', 'label; the given labels replace all existing ones');
  command.option('--data <json>', 'whole change as JSON: TEXT, @file or -; null clears a field').addHelpText(
    'after',
    `
A retry policy is replaced as a whole: parts that are not given get their
default values.

Examples:
  sched schedules update sch_… --endpoint https://example.com/new
  sched schedules update sch_… --data '{"ttl":null}'`,
  );
  withService(addRequestKey(command), dependencies, async (call) => {
    const change = requireChange(await updateBody(call.options), call.options);
    return scheduleAnswer(
      call,
      await call.sched.schedules.update(call.argument, change, requestKeyOf(call.options)),
    );
  });
}

function rescheduleCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = schedules
    .command('reschedule')
    .argument('<id>')
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
    const schedule = await call.sched.schedules.reschedule(call.argument, body, requestKeyOf(call.options));
    return scheduleAnswer(call, schedule, 'with runs', body.local_fire_at ?? null);
  });
}

function stateCommand(
  schedules: Command,
  dependencies: CliDependencies,
  verb: 'pause' | 'resume' | 'cancel',
  about: string,
): void {
  const command = schedules.command(verb).argument('<id>').description(about);
  withService(command, dependencies, async (call) => {
    const schedule = await call.sched.schedules[verb](call.argument);
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

/** `local` is the wall-clock time that the user typed. The schedule itself only has the resulting instant. */
async function scheduleAnswer(
  { isJson, screen, now }: ServiceCall,
  schedule: Schedule,
  runs: 'with runs' | 'alone' = 'alone',
  local: string | null = null,
): Promise<Answer> {
  const json = schedule as unknown as Json;
  if (isJson) return { json, text: '' };
  const text = scheduleText(schedule, screen, now());
  // Without a time zone, the text already shows the only instant.
  const hasRuns = runs === 'with runs' && schedule.timezone !== null && schedule.next_runs.length > 0;
  if (!hasRuns) return { json, text };
  // Loaded only here, because the time zones take longer to load than all other code.
  const { nextRunsText } = await import('./schedule-runs.ts');
  return { json, text: `${text}\n\n${nextRunsText(schedule, local, screen, now())}` };
}
