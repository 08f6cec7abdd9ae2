/** Options shared by commands that create or change something. */
import type { Command } from 'commander';
import type { WriteOptions } from '#sdk/index.ts';
import { wrongUsage } from '#src/cli/failure.ts';
import { isSet, type Options, textOf } from '#src/cli/options.ts';
import { NOTIFIED_OUTCOMES } from '#src/domain/notify.ts';

const REQUEST_KEY = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function addRetryOptions(command: Command): Command {
  return command
    .option('--max-attempts <number>', 'maximum number of attempts; default 8')
    .option('--retry-base <duration>', 'base of the wait, which grows with each retry; default 5s')
    .option('--retry-factor <number>', 'factor by which the wait grows; default 2')
    .option('--retry-max <duration>', 'longest wait between attempts; default 1h');
}

export function addNotifyOptions(command: Command): Command {
  return command
    .option('--notify <profile>', 'endpoint profile that is told how deliveries ended: id or name')
    .option('--notify-on <outcomes>', `which outcomes it is told: ${NOTIFIED_OUTCOMES.join(',')}; or none`);
}

export function addRequestKey(command: Command): Command {
  return command.option(
    '--request-key <key>',
    'Idempotency-Key of this API request; a repeated key has no further effect',
  );
}

export function requestKeyOf(options: Options): WriteOptions {
  const idempotencyKey = textOf(options, 'requestKey');
  if (idempotencyKey !== undefined && !REQUEST_KEY.test(idempotencyKey))
    throw wrongUsage('--request-key must be visible ASCII characters, without white space at either end.');
  return { idempotencyKey };
}

export function addDryRun(command: Command): Command {
  return command.option('--dry-run', 'print what would happen, and write nothing');
}

export function isDryRun(options: Options): boolean {
  return isSet(options, 'dryRun');
}
