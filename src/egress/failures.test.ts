import { expect, test } from 'vitest';
import { SendFailure, toSendFailure } from './failures.ts';

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

test.for(['EMFILE', 'ENFILE', 'ENOBUFS'])('%s is a lack of connections on this machine', (code) => {
  expect(toSendFailure(withCode(code)).failure).toBe('too_many_connections');
});

test.for([
  ['ECONNREFUSED', 'connection_refused'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_handshake_failed'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate_name_mismatch'],
  ['SOMETHING_NEW', 'connection_failed'],
] as const)('%s is %s', ([code, failure]) => {
  expect(toSendFailure(withCode(code)).failure).toBe(failure);
});

test('a value that is not an error is a failed connection', () => {
  expect(toSendFailure('nonsense').failure).toBe('connection_failed');
});

test('a failure stays as it is, and others keep their cause', () => {
  const failure = new SendFailure('aborted');
  expect(toSendFailure(failure)).toBe(failure);
  const cause = withCode('ECONNRESET');
  expect(toSendFailure(cause).cause).toBe(cause);
});
