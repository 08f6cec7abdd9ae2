/** Options that several writing commands share. */
import type { Command } from 'commander';
import type { WriteOptions } from '#sdk/index.ts';
import { wrongUsage } from '#src/cli/failure.ts';
import { type Options, textOf } from '#src/cli/options.ts';

const REQUEST_KEY = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function addRetryOptions(command: Command): Command {
  return command
    .option('--max-attempts <number>', 'how many attempts at most, 8 unless given')
    .option('--retry-base <duration>', 'the wait that grows with each attempt, 5s unless given')
    .option('--retry-factor <number>', 'by what it grows, 2 unless given')
    .option('--retry-max <duration>', 'the longest wait, 1h unless given');
}

export function addRequestKey(command: Command): Command {
  return command.option(
    '--request-key <key>',
    'Idempotency-Key of this request: the same key again takes effect once',
  );
}

export function requestKeyOf(options: Options): WriteOptions {
  const idempotencyKey = textOf(options, 'requestKey');
  if (idempotencyKey !== undefined && !REQUEST_KEY.test(idempotencyKey))
    throw wrongUsage('--request-key must be visible ASCII characters, with no white space around them.');
  return { idempotencyKey };
}
