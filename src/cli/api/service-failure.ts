/** What the service refused or could not do, as the one line and the exit code of a command. */
import { AuthenticationError, ConnectionError, NotFoundError, type SchedError } from '#sdk/index.ts';
import { CommandFailure, EXIT, type Exit } from '#src/cli/failure.ts';
import { type Options, textOf } from '#src/cli/options.ts';
import { faultText } from '#src/cli/tools/cron-fault-text.ts';
import { cronFault } from '#src/domain/cron-fault.ts';
import type { Connection } from './connection.ts';

const SERVER_ERROR_STATUS = 500;

export function failureOf(error: SchedError, connection: Connection, options: Options): CommandFailure {
  const status = error.status === null ? '' : `${error.status} `;
  const hint = hintOf(error, connection) + cronHint(error, options);
  return new CommandFailure(`${status}${error.message}${hint}`, exitOf(error), { cause: error });
}

function exitOf(error: SchedError): Exit {
  if (error instanceof ConnectionError || error.code === 'unexpected_answer') return EXIT.unavailable;
  if (error instanceof NotFoundError) return EXIT.notFound;
  if (error instanceof AuthenticationError) return EXIT.notAuthenticated;
  return (error.status ?? SERVER_ERROR_STATUS) >= SERVER_ERROR_STATUS ? EXIT.unavailable : EXIT.failed;
}

/** Where the key or the address came from, when that is what may be wrong. */
function hintOf(error: SchedError, { url, apiKey }: Connection): string {
  if (error instanceof AuthenticationError) return ` The key came from ${apiKey.from}.`;
  if (!(error instanceof ConnectionError) && error.code !== 'unexpected_answer') return '';
  return ` The address came from ${url.from}${url.from.includes('sched dev') ? ': is it running?' : '.'}`;
}

/** The service says that an expression is none; which part of it, we can say of one that was a flag. */
function cronHint({ code, param }: SchedError, options: Options): string {
  const cron = textOf(options, 'cron');
  const isMeant = cron !== undefined && code === 'invalid_cron' && param === 'cron';
  const fault = isMeant ? cronFault(cron) : null;
  return fault === null ? '' : ` In --cron, ${faultText(fault)}.`;
}
