/** The commands that take a whole schedule: `create`, and `put` for a schedule with a name. */
import type { Command } from 'commander';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, addRepeatable } from '#src/cli/options.ts';
import { METHODS } from '#src/domain/destination.ts';
import { createBody, putBody } from './bodies.ts';
import { withProfileIds } from './named.ts';
import { planAnswer, putAnswer } from './put-answer.ts';
import { scheduleAnswer } from './schedule-answer.ts';
import { withService } from './service-command.ts';
import {
  addDryRun,
  addNotifyOptions,
  addRequestKey,
  addRetryOptions,
  isDryRun,
  requestKeyOf,
} from './write-options.ts';

export function createCommand(schedules: Command, dependencies: CliDependencies): void {
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
  command.option('--name <name>', 'name, unique among the schedules that have not ended');
  addRequestOptions(command, addTimingOptions);
  addRequestKey(command);
  withService(command, dependencies, async (call) => {
    const body = await createBody(await withProfileIds(call.sched, call.options));
    const schedule = await call.sched.schedules.create(body, requestKeyOf(call.options));
    return scheduleAnswer(call, schedule, 'with runs', body.local_fire_at ?? null);
  });
}

export function putCommand(schedules: Command, dependencies: CliDependencies): void {
  const command = schedules
    .command('put')
    .argument('<name>')
    .description('Create the schedule of this name, or make it equal to the flags')
    .addHelpText(
      'after',
      `
A field that is not given gets its default value. If everything is equal
already, nothing is written. So a deployment can run this command every time.

Examples:
  sched schedules put nightly-report --endpoint https://example.com/report \\
    --cron "0 3 * * *" --tz Europe/Berlin
  sched schedules put nightly-report --data @nightly-report.json --dry-run`,
    );
  addRequestOptions(addDryRun(command), addFixedTimingOptions);
  withService(command, dependencies, async (call) => {
    const { argument: name, options } = call;
    const body = await putBody(await withProfileIds(call.sched, options));
    const written = await call.sched.schedules.put(name, body, { dryRun: isDryRun(options) });
    if (written.object === 'plan') return planAnswer(name, written);
    const answer = await scheduleAnswer(call, written, 'with runs', body.local_fire_at ?? null);
    return putAnswer(name, written.putResult, answer);
  });
}

/** The options of every command that takes a whole schedule. */
function addRequestOptions(command: Command, addTiming: (command: Command) => void): void {
  command
    .optionsGroup('Destination, one of:')
    .option('--endpoint <url>', 'URL to send the request to')
    .option('--endpoint-id <profile>', 'endpoint profile: id or name');
  addTiming(command);
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
  addNotifyOptions(command);
  addRepeatable(command, '--metadata <key=value>', 'label');
  command.option('--data <json>', 'whole request as JSON: TEXT, @file or -; other flags set its fields');
}

export function addTimingOptions(command: Command): void {
  command
    .optionsGroup('Time, one of:')
    .option('--delay <duration>', 'after this long from now, such as 90s or 1h30m');
  addFixedTimingOptions(command);
}

/** Without `--delay`, which means another instant each time. */
function addFixedTimingOptions(command: Command): void {
  command
    .optionsGroup('Time, one of:')
    .option('--at <instant>', 'at an instant, such as 2027-01-01T09:00:00+01:00')
    .option('--local <time>', 'at a wall-clock time in --tz, such as 2027-01-01T09:00:00')
    .option('--cron <expression>', 'repeatedly: minute, hour, day of month, month, day of week')
    .option('--tz <zone>', 'time zone of --local and --cron; default UTC');
}
