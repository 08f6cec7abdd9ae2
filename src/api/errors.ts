/** Answers every error in one envelope. An unexpected error is logged, and its details are not shown. */
import type { FastifyError, FastifyReply } from 'fastify';
import { ERRORS, type ErrorCode, Refusal } from '#src/domain/errors.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Log } from '#src/ports/telemetry.ts';
import { counted } from '#src/texts/quote.ts';
import { BODY_BYTES_MAX } from './body-budget.ts';
import type { ErrorResource } from './contract/resources.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

export function errorBody(refusal: Refusal, requestId: string): string {
  const { code, param, message } = refusal;
  const body: ErrorResource = {
    error: { type: ERRORS[code].type, code, message, param, request_id: requestId },
  };
  return JSON.stringify(body);
}

export function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return reply
    .code(ERRORS[refusal.code].status)
    .header('content-type', JSON_TYPE)
    .send(errorBody(refusal, reply.request.id));
}

/** Codes and messages for the refusals of the framework. */
const OF_FRAMEWORK: ReadonlyMap<string, readonly [ErrorCode, message: string]> = new Map([
  [
    'FST_ERR_CTP_BODY_TOO_LARGE',
    [
      'payload_too_large',
      `The request body has more than ${counted(BODY_BYTES_MAX)} bytes. Send a reference to large data instead.`,
    ],
  ],
  [
    'FST_ERR_CTP_INVALID_CONTENT_LENGTH',
    ['invalid_json', 'The request body does not have the length that Content-Length says. Send it whole.'],
  ],
]);

export function refusalOf(error: unknown, requestId: string, log: Log): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreUnavailable) {
    log.error({ request_id: requestId, error: error.message }, 'store unavailable');
    return new Refusal('unavailable');
  }
  const { code, statusCode } = error as Partial<FastifyError>;
  const known = OF_FRAMEWORK.get(code ?? '');
  if (known !== undefined) return new Refusal(known[0], null, known[1]);
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new Refusal('invalid_request');
  log.error({ request_id: requestId, error: describe(error) }, 'internal error');
  return new Refusal('internal_error');
}

/** Returns type and stack without the message, which may quote data of the customer. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  return [error.name, ...frames.slice(0, 8).map((line) => line.trim())].join(' | ');
}
