/** Turns an error of the service into one line and an exit code. */
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

/** Names the origin of the API key or of the address, if either may be the cause. */
function hintOf(error: SchedError, { url, apiKey }: Connection): string {
  if (error instanceof AuthenticationError) return ` The API key came from ${apiKey.from}.`;
  if (!(error instanceof ConnectionError) && error.code !== 'unexpected_answer') return '';
  return ` The address came from ${url.from}${url.from.includes('sched dev') ? '. Is it running?' : '.'}`;
}

/** The service only says that the expression is invalid. For `--cron`, this adds which field is wrong. */
function cronHint({ code, param }: SchedError, options: Options): string {
  const cron = textOf(options, 'cron');
  const isMeant = cron !== undefined && code === 'invalid_cron' && param === 'cron';
  const fault = isMeant ? cronFault(cron) : null;
  return fault === null ? '' : ` In --cron, ${faultText(fault)}.`;
}
