import type { Command } from 'commander';
import type { Schedule } from '#sdk/index.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, addRepeatable, type Options, textOf } from '#src/cli/options.ts';
import type { Answer, Json } from '#src/cli/terminal/output.ts';
import { METHODS } from '#src/domain/destination.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import { createBody, labelsOf, rescheduleBody, updateBody } from './bodies.ts';
import { deliveryColumns, scheduleColumns } from './columns.ts';
import { scheduleText } from './details.ts';
import { addListOptions, listAnswer } from './lists.ts';
import { type ServiceCall, withService } from './service-command.ts';
import { addRequestKey, addRetryOptions, requestKeyOf } from './write-options.ts';

export function scheduleCommands(program: Command, dependencies: CliDependencies): void {
  const schedules = program.command('schedules').description('make, show and steer schedules');
  createCommand(schedules, dependencies);
  listCommand(schedules, dependencies);
  const show = schedules.command('show').argument('<id>').description('one schedule, with its next runs');
  withService(show, dependencies, async (call) =>
    scheduleAnswer(call, await call.sched.schedules.get(call.argument), 'with runs'),
  );
  updateCommand(schedules, dependencies);
  rescheduleCommand(schedules, dependencies);
  stateCommand(schedules, dependencies, 'pause', 'what is pending waits until it is resumed');
  stateCommand(schedules, dependencies, 'resume', 'go on; what a recurring schedule missed is skipped');
  stateCommand(schedules, dependencies, 'cancel', 'end it, for good; its history stays');
  const deliveries = schedules
    .command('deliveries')
    .argument('<id>')
    .description('its deliveries, newest first');
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
    .description('send a request once, or again and again')
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
    .optionsGroup('Where to, one of:')
    .option('--endpoint <url>', 'the URL that is called')
    .option('--endpoint-id <id>', 'an endpoint profile (sched endpoints)');
  addTimingOptions(command, 'When, one of:');
  command.optionsGroup('What:');
  addChoice(command, '--method <method>', 'the method, POST unless given', METHODS);
  addRepeatable(command, '--header <line>', 'a header "Name: value"');
  command.option('--body <text>', 'the body: TEXT, @file or - for standard input (--data, to begin with @)');
  command
    .optionsGroup('How:')
    .option('--ttl <duration>', 'no attempt after this long')
    .option('--jitter <duration>', 'spread runs by plus or minus this')
    .option('--idempotency-key <key>', 'what the receiver gets as Idempotency-Key');
  addRetryOptions(command).option('--rate-limit <number>', 'most deliveries per second to this endpoint');
  addRepeatable(command, '--metadata <key=value>', 'a label');
  command.option('--data <json>', 'the whole body as JSON: TEXT, @file or -; flags set fields of it');
  addRequestKey(command);
  withService(command, dependencies, async (call) => {
    const body = await createBody(call.options);
    const schedule = await call.sched.schedules.create(body, requestKeyOf(call.options));
    return scheduleAnswer(call, schedule, 'with runs', body.local_fire_at ?? null);
  });
}

function addTimingOptions(command: Command, heading: string): void {
  command
    .optionsGroup(heading)
    .option('--delay <duration>', 'from now, such as 90s or 1h30m')
    .option('--at <instant>', 'at an instant, such as 2027-01-01T09:00:00+01:00')
    .option('--local <time>', 'at a wall-clock time of --tz, such as 2027-01-01T09:00:00')
    .option('--cron <expression>', 'again and again: minute, hour, day of month, month, day of week')
    .option('--tz <zone>', 'the time zone of --local and --cron, UTC unless given');
}

function listCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = schedules.command('list').description('schedules, newest first');
  addChoice(command, '--state <state>', 'only those in this state', SCHEDULE_STATES);
  addChoice(command, '--kind <kind>', 'only those of this kind', SCHEDULE_KINDS);
  addRepeatable(command, '--metadata <key=value>', 'only those with this label');
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
  const labels = labelsOf(options);
  return {
    // Commander has checked that they are of the set.
    state: textOf(options, 'state') as Schedule['state'] | undefined,
    kind: textOf(options, 'kind') as Schedule['kind'] | undefined,
    ...(labels === null ? {} : { metadata: labels }),
  };
}

function updateCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = schedules
    .command('update')
    .argument('<id>')
    .description('change where it delivers and how; what is not given stays')
    .option('--endpoint <url>', 'the URL that is called');
  addChoice(command, '--method <method>', 'the method', METHODS);
  addRetryOptions(command.option('--ttl <duration>', 'no attempt after this long'));
  addRepeatable(command, '--metadata <key=value>', 'a label; those given replace all there are');
  command
    .option('--data <json>', 'the whole change as JSON: TEXT, @file or -; null clears a field')
    .addHelpText(
      'after',
      `
A retry policy is replaced whole: what is not given of it takes its default.

Examples:
  sched schedules update sch_… --endpoint https://example.com/new
  sched schedules update sch_… --data '{"ttl":null}'`,
    );
  withService(addRequestKey(command), dependencies, async (call) =>
    scheduleAnswer(
      call,
      await call.sched.schedules.update(
        call.argument,
        await updateBody(call.options),
        requestKeyOf(call.options),
      ),
    ),
  );
}

function rescheduleCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = schedules
    .command('reschedule')
    .argument('<id>')
    .description('move its fire time; --cron replaces its recurrence')
    .addHelpText(
      'after',
      `
Examples:
  sched schedules reschedule sch_… --delay 10m
  sched schedules reschedule sch_… --cron "0 8 * * *" --tz Europe/Berlin`,
    );
  addTimingOptions(command, 'When, one of:');
  command.option('--data <json>', 'the same as JSON: TEXT, @file or -');
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
  withService(command, dependencies, async (call) =>
    scheduleAnswer(call, await call.sched.schedules[verb](call.argument)),
  );
}

/** `local` is the wall-clock time that was asked for: of a schedule itself, only the instant it became is known. */
async function scheduleAnswer(
  { isJson, screen, now }: ServiceCall,
  schedule: Schedule,
  runs: 'with runs' | 'alone' = 'alone',
  local: string | null = null,
): Promise<Answer> {
  const json = schedule as unknown as Json;
  if (isJson) return { json, text: '' };
  const text = scheduleText(schedule, screen, now());
  // Of an instant that was given as one, all is said.
  const hasRuns = runs === 'with runs' && schedule.timezone !== null && schedule.next_runs.length > 0;
  if (!hasRuns) return { json, text };
  // Loaded only here: the zones take longer to load than all the rest.
  const { nextRunsText } = await import('./schedule-runs.ts');
  return { json, text: `${text}\n\n${nextRunsText(schedule, local, screen, now())}` };
}
