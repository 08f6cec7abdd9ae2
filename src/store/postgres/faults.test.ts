import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '#src/ports/store.ts';
import { faultOf, isUnavailable, unavailableInstead } from './faults.ts';

function fromServer(code: string): DatabaseError {
  const error = new DatabaseError('the server says', 0, 'error');
  error.code = code;
  return error;
}

function fromSystem(code: string): Error {
  return Object.assign(new Error('the system says'), { code });
}

describe('an error is classified as', () => {
  it.each([
    '08006',
    '08P01',
    '25006',
    '25P03',
    '28P01',
    '28000',
    '3D000',
    '40003',
    '53100',
    '53300',
    '57P01',
    '57P03',
    '57P05',
    '58030',
  ])('unavailable, by SQLSTATE %s', (code) => {
    expect(faultOf(fromServer(code))).toBe('unavailable');
  });

  it.each(['40001', '40P01', '55P03', '57014'])('retry, by SQLSTATE %s', (code) => {
    expect(faultOf(fromServer(code))).toBe('retry');
  });

  it.each(['22012', '23505', '25P02', '42P01', '42501', 'XX000', '57P06'])(
    'broken, by SQLSTATE %s',
    (code) => {
      expect(faultOf(fromServer(code))).toBe('broken');
    },
  );

  it.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ERR_STREAM_DESTROYED',
  ])('unavailable, by the system: %s', (code) => {
    expect(faultOf(fromSystem(code))).toBe('unavailable');
  });

  it.each([
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
    'timeout expired',
    'Query read timeout',
  ])('unavailable, by the driver: %s', (message) => {
    expect(faultOf(new Error(message))).toBe('unavailable');
  });

  it.each([new Error('Something else'), fromSystem('ENOSPC'), new TypeError('no'), 'text', undefined])(
    'broken: %s',
    (error) => {
      expect(faultOf(error)).toBe('broken');
      expect(unavailableInstead(error)).toBe(error);
    },
  );

  it('becomes StoreUnavailable with its cause', () => {
    const cause = fromServer('57P01');
    const error = unavailableInstead(cause);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toMatchObject({ message: 'PostgreSQL: the server says.', cause });
    expect(isUnavailable(error)).toBe(true);
    expect(unavailableInstead(error)).toBe(error);
    expect(unavailableInstead(fromServer('40001'))).toBeInstanceOf(StoreUnavailable);
  });
});
