import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { connectionError, type ErrorFacts, errorOf, InvalidRequestError, SchedError } from './errors.ts';

const MESSAGE = 'The hour 25 in "0 25 * * *" is above 23. Use 0 to 23, such as "0 9 * * *".';
const FACTS: ErrorFacts = {
  type: 'invalid_request_error',
  code: 'invalid_cron',
  status: 422,
  param: 'cron',
  requestId: 'req_1',
  message: MESSAGE,
};

describe('an error', () => {
  const error = errorOf(FACTS);

  test('has the message of the service and nothing else', () => {
    expect(error.message).toBe(MESSAGE);
    expect(error).toMatchObject({ code: 'invalid_cron', status: 422, param: 'cron', requestId: 'req_1' });
    expect(error).toBeInstanceOf(InvalidRequestError);
  });

  test('is one line as a text', () => {
    expect(String(error)).toBe(`InvalidRequestError: ${MESSAGE} (422 invalid_cron in cron, req_1)`);
    expect(String(connectionError('timeout', 'No answer.'))).toBe('ConnectionError: No answer. (timeout)');
  });

  test('says everything once when it is printed', () => {
    for (const printed of [inspect(error), inspect(errorOf({ ...FACTS, type: 'quota_error' as never }))]) {
      for (const part of ['The hour 25', "'invalid_cron'", '422', "'cron'", "'req_1'"])
        expect(printed.split(part), part).toHaveLength(2);
    }
    expect(inspect(error).split('InvalidRequestError')).toHaveLength(2);
    expect(error.stack?.startsWith(`InvalidRequestError: ${MESSAGE}\n`)).toBe(true);
  });

  test('has the facts as fields, and its name is not one of them', () => {
    expect(Object.keys(error)).toEqual(['type', 'code', 'status', 'param', 'requestId']);
    expect([error.name, new SchedError(FACTS).name]).toEqual(['InvalidRequestError', 'SchedError']);
  });
});
