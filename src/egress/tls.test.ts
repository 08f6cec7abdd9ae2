/** Certificates are verified against the name, with real handshakes on loopback. */
import type { TLSSocket, TlsOptions } from 'node:tls';
import { describe, expect, test } from 'vitest';
import {
  ANSWERED,
  CA,
  eventually,
  loopbackEgress,
  pem,
  send,
  sharedEgress,
  startHttpsServer,
  startTcpServer,
  startTlsServer,
} from '#test/egress/harness.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

function failedWith(failure: string) {
  return { kind: 'failed', failure };
}

describe('a certificate', () => {
  test.each([
    ['that has expired', 'expired', 'certificate_expired'],
    ['for another name', 'other-name', 'certificate_name_mismatch'],
    ['that is self-signed', 'untrusted', 'certificate_untrusted'],
  ] as const)('%s is refused, for a name and for an address', async (_name, certificate, failure) => {
    let requests = 0;
    const server = await startHttpsServer(
      (response) => {
        requests += 1;
        response.end();
      },
      { certificate },
    );
    const egress = sharedEgress();
    expect(await send(egress, server.url('/', 'receiver.test'))).toEqual(failedWith(failure));
    expect(await send(egress, server.url())).toEqual(failedWith(failure));
    expect(requests).toBe(0);
    await eventually(() => expect(server.open()).toBe(0));
  });

  test('is valid for its names and addresses only', async () => {
    const server = await startHttpsServer((response) => response.end());
    const egress = sharedEgress();
    expect(await send(egress, server.url('/', 'receiver.test'))).toEqual(ANSWERED);
    expect(await send(egress, server.url('/', 'one.receiver.test'))).toEqual(ANSWERED);
    expect(await send(egress, server.url('/', '127.0.0.1'))).toEqual(ANSWERED);
    const other = failedWith('certificate_name_mismatch');
    expect(await send(egress, server.url('/', 'two.one.receiver.test'))).toEqual(other);
    expect(await send(egress, server.url('/', 'elsewhere.test'))).toEqual(other);
    const unnamed = await startHttpsServer((response) => response.end(), { address: '127.0.0.2' });
    expect(await send(egress, unnamed.url())).toEqual(other);
    expect(await send(egress, unnamed.url('/', '127.0.0.2.'))).toEqual(other);
  });

  test('of a private authority is refused without its bundle', async () => {
    const server = await startHttpsServer((response) => response.end());
    const egress = loopbackEgress({ certificates: null });
    expect(await send(egress, server.url())).toEqual(failedWith('certificate_untrusted'));
  });

  test('is accepted if any authority in the bundle signed it', async () => {
    const good = await startHttpsServer((response) => response.end());
    const own = await startHttpsServer((response) => response.end(), { certificate: 'untrusted' });
    for (const certificates of [`${CA}\n${pem('untrusted.pem')}`, `# ours\n${pem('untrusted.pem')}${CA}`]) {
      const egress = loopbackEgress({ certificates });
      expect(await send(egress, good.url())).toEqual(ANSWERED);
      expect(await send(egress, own.url())).toEqual(ANSWERED);
    }
  });
});

describe('the handshake', () => {
  test('offers HTTP/1.1 only, and sends the host if it is a name', async () => {
    const seen: unknown[] = [];
    const server = await startTlsServer(
      (socket) => {
        seen.push([socket.servername, socket.alpnProtocol]);
        socket.once('data', () => socket.end(OK));
      },
      { ALPNProtocols: ['h2', 'http/1.1'] },
    );
    const egress = sharedEgress();
    expect(await send(egress, server.url('/', 'receiver.test.'))).toEqual(ANSWERED);
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    expect(seen).toEqual([
      ['receiver.test', 'http/1.1'],
      [false, 'http/1.1'],
    ]);
  });

  test.each([
    ['speaks HTTP/2 only', { ALPNProtocols: ['h2'] }],
    [
      'speaks TLS 1.1 at most',
      { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    ],
  ] satisfies [string, TlsOptions][])('fails if the server %s', async (_name, options) => {
    const server = await startTlsServer((socket) => socket.resume(), options);
    expect(await send(sharedEgress(), server.url())).toEqual(failedWith('tls_handshake_failed'));
  });

  test.each([
    ['does not speak TLS', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'tls_handshake_failed'],
    ['closes the connection', '', 'connection_reset'],
  ])('fails if the server %s', async (_name, bytes, failure) => {
    const server = await startTcpServer((socket) => socket.once('data', () => socket.end(bytes)));
    expect(await send(sharedEgress(), server.url())).toEqual(failedWith(failure));
    await eventually(() => expect(server.open()).toBe(0));
  });
});

describe('a TLS session', () => {
  test.each(['TLSv1.2', 'TLSv1.3'] as const)('is resumed for the same name only (%s)', async (version) => {
    const resumed: boolean[] = [];
    const server = await startTlsServer(
      (socket: TLSSocket) => {
        resumed.push(socket.isSessionReused());
        socket.once('data', () => socket.end(OK));
      },
      { minVersion: version, maxVersion: version },
    );
    const egress = sharedEgress();
    expect(await send(egress, server.url('/', 'receiver.test'))).toEqual(ANSWERED);
    await eventually(() => expect(server.open()).toBe(0));
    expect(await send(egress, server.url('/', 'receiver.test'))).toEqual(ANSWERED);
    expect(await send(egress, server.url('/', 'one.receiver.test'))).toEqual(ANSWERED);
    expect(resumed).toEqual([false, true, false]);
    const other = await send(egress, server.url('/', 'elsewhere.test'));
    expect(other).toEqual(failedWith('certificate_name_mismatch'));
  });
});
