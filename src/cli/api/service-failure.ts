/** Turns an error of the service into one line and an exit code. */
import { AuthenticationError, ConnectionError, NotFoundError, type SchedError } from '#sdk/index.ts';
import { CommandFailure, EXIT, type Exit } from '#src/cli/failure.ts';
import type { Connection } from './connection.ts';

const SERVER_ERROR_STATUS = 500;

export function failureOf(error: SchedError, connection: Connection): CommandFailure {
  const { status, code, param, message, requestId } = error;
  const what = `${status === null ? '' : `${status} `}${code}${param === null ? '' : ` (${param})`}`;
  const hint = hintOf(error, connection) + flagHint(error);
  // The request id comes last, so that the hint follows the message that it explains.
  const id = requestId === null ? '' : ` [${requestId}]`;
  return new CommandFailure(`${what}: ${message}${hint}${id}`, exitOf(error), { cause: error });
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

/** The service names the fields of the API. This names the flags that set them. */
function flagHint({ code }: SchedError): string {
  if (code === 'missing_timing') return ' The flags are --delay, --at, --local and --cron.';
  return code === 'missing_endpoint' ? ' The flags are --endpoint and --endpoint-id.' : '';
}
