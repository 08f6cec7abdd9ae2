import { type Command, InvalidArgumentError } from 'commander';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, textOf } from '#src/cli/options.ts';
import type { DeliveryStatus } from '#src/domain/delivery.ts';
import { durationMs } from '#src/domain/duration.ts';
import type { Timers } from '#src/ports/system.ts';
import { givenScheduleId } from './named.ts';
import { addConnectionOptions, callService, type ServiceCall } from './service-command.ts';

/** The longest time that a timer supports. */
const FOR_MS_MAX = 2 ** 31 - 1;
/** The statuses that a delivery can have after an attempt or at its end. */
const STATUSES: readonly DeliveryStatus[] = [
  'succeeded',
  'retry_scheduled',
  'dead_letter',
  'expired',
  'canceled',
];

export function tailCommand(command: Command, dependencies: CliDependencies): void {
  command
    .option('--schedule <schedule>', 'only deliveries of this schedule: id or name', readId)
    .option('--for <duration>', 'stop after this long; default: until Ctrl-C', readFor)
    .addHelpText(
      'after',
      `
A delivery that ends without an attempt gets a line too. The command asks the
service about once a second, so a line appears about a second after the event.
If many deliveries wait, canceled, rescheduled and resumed ones appear later: by
one second for each thousand. "sched deliveries list" shows earlier deliveries.

With --json, each line is an object: {"type":"attempt",…} or {"type":"end",…}.
While the service cannot be reached, the command waits. Ctrl-C stops it with
exit code 0.

Examples:
  sched tail
  sched tail --status dead_letter --json
  sched tail --schedule sch_… --for 10m`,
    );
  addChoice(command, '--status <status>', 'only deliveries that reach this status', STATUSES);
  addConnectionOptions(command).action(() =>
    callService(command, dependencies, (call) => tail(call, dependencies)),
  );
}

function readId(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It must not be empty.');
}

function readFor(text: string): number {
  const ms = durationMs(text);
  if (ms !== null && ms > 0 && ms <= FOR_MS_MAX) return ms;
  throw new InvalidArgumentError('It must be a duration above 0 and at most 596h, such as 30s.');
}

async function tail(
  { sched, options, isJson, screen }: ServiceCall,
  dependencies: CliDependencies,
): Promise<void> {
  const [{ Tail }, { eventJson, eventText }] = await Promise.all([
    import('./tail.ts'),
    import('./tail-lines.ts'),
  ]);
  const status = textOf(options, 'status');
  const end = endOf(options.for, dependencies.timers);
  const following = new Tail(sched, {
    scheduleId: await givenScheduleId(sched, textOf(options, 'schedule')),
    signal: end.signal,
    clock: dependencies.clock,
    timers: dependencies.timers,
    notify: dependencies.notify,
    emit: (event) => {
      if (status !== undefined && event.delivery.status !== status) return;
      const line = isJson ? eventJson(event) : eventText(event, screen);
      if (line !== null) dependencies.print(`${line}\n`);
    },
  });
  try {
    await following.follow();
  } finally {
    end.dispose();
  }
}

/** The command ends with Ctrl-C, SIGTERM, a closed pipe, or after `--for`. Repeated signals change nothing. */
function endOf(forMs: unknown, timers: Timers) {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const dispose = typeof forMs === 'number' ? timers.after(forMs, stop) : () => {};
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  process.stdout.once('error', stop);
  return { signal: controller.signal, dispose };
}
