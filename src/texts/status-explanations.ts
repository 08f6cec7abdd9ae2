/** Explains answers that are not a success, by their status code. */

export interface Explanation {
  /** The event and its reason, in full sentences. */
  readonly cause: string;
  /** The next step: a sentence without its full stop, so that another step can follow. Null where nothing helps. */
  readonly advice: string | null;
  /** The request itself must change. A replay repeats the old one, so it does not help. */
  readonly isReplayUseless?: true;
}

interface StatusRow {
  /** The name of the status (RFC 9110), in lower case. */
  readonly name: string;
  readonly advice: string | null;
}

const STATUSES: Readonly<Record<number, StatusRow>> = {
  400: { name: 'bad request', advice: 'Compare the body and the headers with what it expects' },
  401: {
    name: 'unauthorized',
    advice: 'Check the credentials in the headers of the schedule or the endpoint profile',
  },
  403: {
    name: 'forbidden',
    advice: 'Check the credentials, and check that it accepts requests of this service',
  },
  404: { name: 'not found', advice: 'Check the path of the destination' },
  405: { name: 'method not allowed', advice: 'Check the method of the schedule or the endpoint profile' },
  408: { name: 'request timeout', advice: 'Check whether the receiver is overloaded' },
  409: { name: 'conflict', advice: 'Check whether it has processed this delivery before' },
  410: { name: 'gone', advice: 'Cancel the schedule, or change its destination' },
  411: { name: 'length required', advice: 'Check the proxy in front of the receiver' },
  413: { name: 'content too large', advice: 'Raise its limit, or send a smaller body' },
  415: { name: 'unsupported media type', advice: 'Set the Content-Type header that it expects' },
  422: { name: 'unprocessable content', advice: 'Compare the body with what it expects' },
  425: { name: 'too early', advice: null },
  431: { name: 'request header fields too large', advice: 'Send fewer or shorter headers' },
  500: { name: 'internal server error', advice: 'Check its log' },
  501: { name: 'not implemented', advice: 'Check the method of the schedule or the endpoint profile' },
  502: { name: 'bad gateway', advice: 'Check the receiver behind the proxy' },
  503: { name: 'service unavailable', advice: 'Check whether the receiver is overloaded or in maintenance' },
  504: { name: 'gateway timeout', advice: 'Check the receiver behind the proxy' },
};

const TOO_MANY_REQUESTS = 429;

export function explainStatus(host: string, statusCode: number): Explanation {
  if (statusCode === TOO_MANY_REQUESTS)
    return {
      cause: `${host} is rate limiting (429).`,
      advice: 'Set a rate limit when you create a schedule for it',
    };
  if (statusCode >= 300 && statusCode < 400)
    return {
      cause: `${host} answered ${statusCode} (redirect). Redirects are not followed.`,
      advice: 'Change the destination to the final address',
      isReplayUseless: true,
    };
  const row = STATUSES[statusCode];
  if (row === undefined) return { cause: `${host} answered ${statusCode}.`, advice: 'Check its log' };
  return { cause: `${host} answered ${statusCode} (${row.name}).`, advice: row.advice };
}
