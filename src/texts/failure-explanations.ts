/** Explains every failure of the table (`domain/failures.ts`): what happened, why, and what to do. */
import type { FailureCode } from '#src/domain/failures.ts';
import { type Explanation, explainStatus } from './status-explanations.ts';

/** `host` is the one of the destination. `detail` is the part of the stored text that varies. */
type Explain = (host: string, detail: string) => Explanation;

const RENEW_CERTIFICATE = 'Replace it at the receiver';
const CHECK_DNS = 'Check the host of the destination and its DNS records';
const CHECK_FOR_CRASH = 'Check the receiver, or the proxy in front of it, for a crash or a limit';

const REMOVE_HEADER = 'Remove it from the schedule or the endpoint profile';

function unsendableHeader(header: string, why: string): Explanation {
  return {
    cause: `The header ${header} cannot be sent, because ${why}.`,
    advice: 'Correct it in the schedule or the endpoint profile',
  };
}

const REQUEST_UNREADABLE: Explanation = {
  cause: 'The service could not read or sign the request. The encryption key may have changed.',
  advice: 'Check the log of the service',
};

export const FAILURE_EXPLANATIONS: Readonly<Record<FailureCode, Explain>> = {
  http_status: (host, detail) => explainStatus(host, Number(detail)),
  redirect: (host, detail) => explainStatus(host, Number(detail)),

  timeout: (host) => ({
    cause: `${host} did not answer before the timeout.`,
    advice: 'Let the receiver answer before it does the work, or raise the timeout of the endpoint profile',
  }),
  connection_refused: (host) => ({
    cause: `${host} refused the connection.`,
    advice: 'Check that the receiver runs, and check the port of the destination',
  }),
  connection_reset: (host) => ({ cause: `${host} reset the connection.`, advice: CHECK_FOR_CRASH }),
  connection_closed: (host) => ({
    cause: `${host} closed the connection without an answer.`,
    advice: CHECK_FOR_CRASH,
  }),
  connection_timed_out: (host) => ({
    cause: `${host} did not accept the connection in time.`,
    advice: 'Check that the receiver runs, and check that no firewall drops the connection',
  }),
  connection_failed: (host) => ({
    cause: `The connection to ${host} failed.`,
    advice: 'Check that the receiver can be reached',
  }),
  unreachable: (host) => ({
    cause: `The network has no route to ${host}.`,
    advice: 'Check its address, and check the network of this machine',
  }),
  certificate_expired: (host) => ({
    cause: `The certificate of ${host} has expired.`,
    advice: RENEW_CERTIFICATE,
  }),
  certificate_not_yet_valid: (host) => ({
    cause: `The certificate of ${host} is not valid yet.`,
    advice: 'Check its dates, and check the clock of this machine',
  }),
  certificate_revoked: (host) => ({
    cause: `The certificate of ${host} was revoked.`,
    advice: RENEW_CERTIFICATE,
  }),
  certificate_name_mismatch: (host) => ({
    cause: `The certificate of ${host} is for another name.`,
    advice: 'Check the host of the destination, or replace the certificate',
  }),
  certificate_untrusted: (host) => ({
    cause: `The certificate of ${host} is not trusted. Its authority is unknown, or the receiver does not send the whole chain.`,
    advice:
      'Send the whole chain, or ask the operator to add the authority to the file of SCHED_EGRESS_CA_FILE',
  }),
  certificate_invalid: (host) => ({
    cause: `The certificate of ${host} is not valid for a server.`,
    advice: RENEW_CERTIFICATE,
  }),
  tls_handshake_failed: (host) => ({
    cause: `The TLS handshake with ${host} failed.`,
    advice: 'Check that the port speaks TLS 1.2 or later',
  }),
  response_headers_too_large: (host) => ({
    cause: `${host} answered with headers that are too large.`,
    advice: 'Let the receiver answer with fewer or shorter headers',
  }),
  malformed_response: (host) => ({
    cause: `${host} did not answer with valid HTTP.`,
    advice: 'Check that the port is the one of an HTTP server',
  }),
  request_unwritable: () => ({
    cause: 'The request cannot be written as HTTP.',
    advice: 'Check the method, the headers and the destination of the schedule',
    isReplayUseless: true,
  }),
  aborted: () => ({
    cause: 'The service aborted the attempt, most likely because it was stopping.',
    advice: null,
  }),
  egress_error: () => REQUEST_UNREADABLE,

  name_not_found: (host) => ({
    cause: `The name ${host} does not exist.`,
    advice: 'Check the host of the destination for a spelling mistake',
  }),
  name_unresolved: (host) => ({ cause: `The name ${host} does not resolve.`, advice: CHECK_DNS }),
  name_without_address: (host) => ({ cause: `The name ${host} has no address.`, advice: CHECK_DNS }),
  name_with_too_many_addresses: (host) => ({
    cause: `The name ${host} has more addresses than this service accepts.`,
    advice: 'Use a name with fewer addresses',
  }),
  name_server_silent: (host) => ({
    cause: `No name server answered for ${host}.`,
    advice: 'Check the DNS of that name and of this machine',
  }),
  too_many_connections: () => ({
    cause: 'This machine had no free connection, so the request was not sent.',
    advice: 'Raise its limit of open files',
  }),

  scheme_not_allowed: () => ({
    cause: 'The destination is not an http or https URL.',
    advice: 'Change the destination',
    isReplayUseless: true,
  }),
  plain_http_not_allowed: () => ({
    cause: 'Plain HTTP is not allowed, because others could read the request on its way.',
    advice:
      'Use an https destination, or ask the operator to allow plain HTTP inside a private network with SCHED_EGRESS_ALLOW and SCHED_EGRESS_ALLOW_HTTP',
  }),
  localhost_not_allowed: () => ({
    cause:
      'The name localhost means the machine of the service itself. Only sched dev sends to it, and no setting allows it elsewhere.',
    advice:
      'Use a public host, or write the address 127.0.0.1, which the operator can allow with SCHED_EGRESS_ALLOW',
    isReplayUseless: true,
  }),
  address_not_allowed: (host) => ({
    cause: `${host} has an address that is not public. Such addresses are blocked to protect private networks.`,
    advice: 'Use a public address, or ask the operator to allow this one with SCHED_EGRESS_ALLOW',
  }),
  forbidden_header_name: (_, header) => ({
    cause: `The header ${header} may not be sent. It belongs to the connection, and Sched sets it where it is needed.`,
    advice: REMOVE_HEADER,
  }),
  header_name_invalid: (_, header) => unsendableHeader(header, 'its name is not valid in HTTP'),
  header_line_break: (_, header) => unsendableHeader(header, 'its value has a line break'),
  header_control_character: (_, header) => unsendableHeader(header, 'its value has a control character'),
  header_not_latin1: (_, header) => unsendableHeader(header, 'its value has a character outside Latin-1'),
  forbidden_header: (_, header) => ({
    cause: `The header ${header} may not be sent. It belongs to the connection, or it cannot be written as HTTP.`,
    advice: REMOVE_HEADER,
    isReplayUseless: true,
  }),
  invalid_url: () => ({
    cause: 'The destination is not a valid URL.',
    advice: 'Change the destination',
    isReplayUseless: true,
  }),

  interrupted: () => ({
    cause:
      'The service stopped during this attempt, so the receiver may or may not have got the request. Further attempts have the same idempotency key.',
    advice: null,
  }),
  request_unreadable: () => REQUEST_UNREADABLE,
  no_signing_secret: () => ({
    cause: 'The project has no signing secret, and requests are never sent unsigned.',
    advice: 'Create a signing secret in the settings of the project',
  }),
  no_standard_secret: () => ({
    cause:
      'The endpoint profile uses Standard Webhooks, and no signing secret that is in force is whsec_ and base64.',
    advice: 'Rotate the signing secret',
  }),
};
