import { expect, test } from 'vitest';
import { notSent } from './failures.ts';

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

test.for(['EMFILE', 'ENFILE', 'ENOBUFS'])(
  '%s is a limit of this machine and not a failure of the destination',
  (code) => {
    expect(notSent(failure(code)).result).toEqual({ kind: 'unresolved', why: 'too many open connections' });
  },
);

test.for(['ECONNREFUSED', 'ECONNRESET', 'whatever else'])('%s is a failure of the destination', (code) => {
  expect(notSent(failure(code)).result.kind).toBe('failed');
});
