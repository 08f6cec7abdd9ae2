/** Turns an error of the service into one line and an exit code. */
import { AuthenticationError, ConnectionError, NotFoundError, type SchedError } from '#sdk/index.ts';
import { CommandFailure, EXIT, type Exit } from '#src/cli/failure.ts';
import type { Options } from '#src/cli/options.ts';
import { flagsFor } from './bodies.ts';
import type { Connection } from './connection.ts';

const SERVER_ERROR_STATUS = 500;
const SET_ADDRESS = 'give the address of yours with --url, SCHED_URL or "sched context set".';
const SET_KEY =
  'Give a key of this service with SCHED_API_KEY or "sched context set". On its machine, "sched key create --mode test" makes one.';

export function failureOf(error: SchedError, connection: Connection, options: Options): CommandFailure {
  const { status, code, message, requestId } = error;
  const what = `${status === null ? '' : `${status} `}${code}${fieldOf(error, options)}`;
  const hint = hintOf(error, connection) + flagHint(error);
  // The request id comes last, so that the hint follows the message that it explains.
  const id = requestId === null ? '' : ` [${requestId}]`;
  return new CommandFailure(`${what}: ${message}${hint}${id}`, exitOf(error), { cause: error });
}

/** Names the field of the API, and the flag that set it unless both have the same name: ` (fire_at, --at)`. */
function fieldOf({ param, message }: SchedError, options: Options): string {
  if (param === null) return '';
  const flags = flagsFor(param, message, options);
  const isSameName = flags.length === 1 && flags[0] === `--${param.replaceAll('_', '-')}`;
  return isSameName ? ` (${flags[0]})` : ` (${[param, ...flags].join(', ')})`;
}

function exitOf(error: SchedError): Exit {
  if (error instanceof ConnectionError || error.code === 'unexpected_answer') return EXIT.unavailable;
  if (error instanceof NotFoundError) return EXIT.notFound;
  if (error instanceof AuthenticationError) return EXIT.notAuthenticated;
  return (error.status ?? SERVER_ERROR_STATUS) >= SERVER_ERROR_STATUS ? EXIT.unavailable : EXIT.failed;
}

/** Names the origin of the API key or of the address, if either may be the cause, and says what to do. */
function hintOf(error: SchedError, { url, apiKey }: Connection): string {
  if (error instanceof AuthenticationError)
    return apiKey.isDefault
      ? ` This is the fixed key of "sched dev", which no other service accepts. ${SET_KEY}`
      : ` The API key came from ${apiKey.from}.`;
  if (!(error instanceof ConnectionError) && error.code !== 'unexpected_answer') return '';
  if (!url.isDefault) return ` The address came from ${url.from}.`;
  return error instanceof ConnectionError
    ? ` This is the default address. Start a service there with "sched dev", or ${SET_ADDRESS}`
    : ` This is the default address, and another program answers there. Start "sched dev" with another --port, and ${SET_ADDRESS}`;
}

/** The service names the fields of the API. This names the flags that set them. */
function flagHint({ code }: SchedError): string {
  if (code === 'missing_timing' || code === 'multiple_timing')
    return ' The flags are --delay, --at, --local and --cron.';
  return code === 'missing_endpoint' ? ' The flags are --endpoint and --endpoint-id.' : '';
}
