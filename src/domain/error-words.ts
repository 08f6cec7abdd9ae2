/**
 * Why an attempt failed, for people: one or two sentences, what happened and what to do about it. The texts of errors
 * are those that the engine and the egress write (`egress/failures.ts`, `engine/letters.ts` and their neighbours); a
 * test holds this table against them.
 */
import type { Attempt } from './delivery.ts';

const RETRIED = 'If it stays so, the attempts run out and the delivery is dead-lettered.';
const OPERATOR = 'Whoever runs this service can allow it in its settings.';

/** By the text of the error; `host` is the one the delivery goes to. */
const WORDS: Readonly<Record<string, (host: string) => string>> = {
  timeout: (host) =>
    `${host} did not answer in time. Let the receiver answer first and work afterwards, or raise the timeout of the endpoint profile.`,
  'name does not exist': (host) =>
    `The name ${host} does not exist. Check the host in the destination for a spelling mistake.`,
  'name does not resolve': (host) =>
    `The name ${host} does not resolve. Check the host in the destination, and its DNS entries.`,
  'name has no address': (host) =>
    `The name ${host} has no address. Check the host in the destination, and its DNS entries.`,
  'name has too many addresses': (host) =>
    `The name ${host} has more addresses than the service looks at. Use a name with fewer of them.`,
  'name server did not answer': (host) =>
    `No name server answered for ${host}. It is tried again; if it stays so, check the DNS of that name and of this machine.`,
  'too many open connections': () =>
    'This machine had no connection to spare, so nothing was sent. It is tried again; raise the limit of open files if it stays so.',
  'scheme is not allowed': () => 'Only http and https addresses can be sent to. Change the destination.',
  'plain HTTP is not allowed': () =>
    `Plain http is not allowed, since what is sent could be read on the way. Use https. ${OPERATOR}`,
  'localhost is not allowed': () =>
    `The destination means this machine itself, which is blocked. Use a public name. ${OPERATOR}`,
  'address is not allowed': (host) =>
    `${host} leads to an address that is not public, which is blocked so that nobody can reach into a private network. Use a public address. ${OPERATOR}`,
  'connection refused': (host) =>
    `${host} refused the connection: nothing listens there. Check that the receiver runs, and the port in the destination.`,
  'connection reset': (host) =>
    `${host} broke the connection off. Look at the receiver, or at a proxy before it, for a crash or a limit.`,
  'connection closed before an answer': (host) =>
    `${host} closed the connection without an answer. Look at the receiver, or at a proxy before it, for a crash or a limit.`,
  'connection timed out': (host) =>
    `No connection to ${host} came about in time. Check that the receiver runs and that no firewall drops the connection.`,
  'connection failed': (host) => `The connection to ${host} failed. ${RETRIED}`,
  'destination is unreachable': (host) =>
    `There is no way through the network to ${host}. Check its address, and the network of this machine.`,
  'certificate has expired': (host) => `The certificate of ${host} has expired. Renew it at the receiver.`,
  'certificate is not yet valid': (host) =>
    `The certificate of ${host} is not valid yet. Check its dates, and the clock of this machine.`,
  'certificate was revoked': (host) => `The certificate of ${host} was revoked. Replace it at the receiver.`,
  'certificate is for another name': (host) =>
    `The certificate is not for ${host} but for another name. Check the host in the destination, or the certificate.`,
  'certificate is not trusted': (host) =>
    `The certificate of ${host} comes from nobody this service trusts, or the receiver does not send the certificates in between. Send the whole chain, or let the operator add the authority.`,
  'certificate is not valid': (host) =>
    `The certificate of ${host} is not valid for a server. Replace it at the receiver.`,
  'TLS handshake failed': (host) =>
    `No encrypted connection to ${host} came about. Check that the port speaks TLS, version 1.2 or later.`,
  'headers of the answer are too large': (host) =>
    `The headers of the answer of ${host} are too large to be read. Send fewer or shorter ones.`,
  'malformed answer': (host) =>
    `What ${host} answered is not HTTP. Check that the port is the one of a web server.`,
  'request cannot be written': () =>
    'The request cannot be written as HTTP. Check the method, the headers and the destination of the schedule.',
  'broken off': () =>
    'The service broke the attempt off, most likely because it was stopping. It is made again.',
  interrupted: () =>
    'The service ended in the middle of this attempt, so whether the receiver got it is not known. It is made again, with the same idempotency key.',
  'internal error': () =>
    'The service could not read what was to be sent. It is tried again; its log says more, and the encryption key may have changed.',
  'no signing secret': () =>
    'There is no signing secret, and nothing is sent unsigned. Make one in the settings of the project.',
  'unreadable URL': () => 'The destination is not a URL that can be sent to. Change it.',
};

const FORBIDDEN_HEADER = /^forbidden header (.*)$/s;

/** Of one attempt. `url`: where it went. */
export function tryWords(
  {
    outcome,
    statusCode,
    error,
    finishedAt,
  }: Pick<Attempt, 'outcome' | 'statusCode' | 'error' | 'finishedAt'>,
  url: string,
): string {
  if (finishedAt === null) return 'It is under way: the receiver has not answered yet.';
  const host = hostOf(url);
  if (outcome === 'success') return `${host} answered with ${statusCode ?? 'success'}: delivered.`;
  if (statusCode !== null) return statusWords(host, statusCode);
  return errorWords(error, host);
}

function errorWords(error: string | null, host: string): string {
  const text = error ?? '';
  const header = FORBIDDEN_HEADER.exec(text)?.[1];
  if (header !== undefined)
    return `The header ${header} may not be sent: it belongs to the connection, or cannot be written. Make the schedule or the profile without it.`;
  // An own property only: a text such as `constructor` is no error of ours.
  const words = Object.hasOwn(WORDS, text) ? WORDS[text] : undefined;
  return words?.(host) ?? `The attempt failed: ${text === '' ? 'nothing more is known' : text}.`;
}

function hostOf(url: string): string {
  return URL.parse(url)?.host || 'The destination';
}

const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: 'it does not understand the request. Compare the body and the headers with what it expects.',
  401: 'it asks for credentials. Check the headers that the schedule or the profile sends.',
  403: 'it does not allow the request. Check the credentials, and whether it lets this service in.',
  404: 'it knows no such path. Check the path in the destination.',
  405: 'it does not take this method there. Check the method of the schedule or the profile.',
  408: 'it waited too long for the request. It is worth another attempt.',
  409: 'it sees a conflict with what it has. It may have processed this delivery before.',
  410: 'what was there is gone for good. Cancel the schedule or change the destination.',
  411: 'it wants to know the length of the body before. Look at the proxy before the receiver.',
  413: 'the body is too large for it. Raise its limit, or send less.',
  415: 'it does not take this content type. Set the Content-Type header it expects.',
  422: 'it cannot use what was sent. Compare the body with what it expects.',
  425: 'it does not want the request this early. It is worth another attempt.',
  429: 'it gets more than it wants. Give the schedule or the profile a rate limit.',
  431: 'the headers are too large for it. Send fewer or shorter ones.',
  500: 'it failed while handling the request. Look at its log.',
  501: 'it does not know this method. Check the method of the schedule or the profile.',
  502: 'a proxy got no proper answer from the receiver behind it. Look at that one.',
  503: 'it is overloaded or being maintained. It is worth another attempt.',
  504: 'a proxy waited in vain for the receiver behind it. Look at that one.',
};

function statusWords(host: string, statusCode: number): string {
  if (statusCode >= 300 && statusCode < 400)
    return `${host} answered with ${statusCode}, a redirect, and redirects are not followed. Put the final address into the destination.`;
  const kind =
    statusCode >= 500
      ? 'it failed while handling the request. Look at its log.'
      : 'it refused the request. Look at its log.';
  return `${host} answered with ${statusCode}: ${STATUS_WORDS[statusCode] ?? kind}`;
}

/** The texts that have words of their own. */
export const EXPLAINED_ERRORS: readonly string[] = Object.keys(WORDS);
