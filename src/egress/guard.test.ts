/**
 * Which destinations are allowed: every connection is checked by scheme, name and address. The blocked ranges
 * are in `matrix.test.ts`.
 */
import { execFile } from 'node:child_process';
import { connect as connectTcp, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  ANSWERED,
  CA,
  eventually,
  LOOPBACK,
  loopbackEgress,
  pem,
  send,
  sharedEgress,
  startHttpsServer,
  startTcpServer,
} from '#test/egress/harness.ts';
import type { EgressOptions } from './client.ts';
import { type Connect, tcpConnect } from './dial.ts';
import type { Resolve } from './resolver.ts';

const NOT_ALLOWED = { kind: 'failed', failure: 'address_not_allowed' } as const;
const NO_PLAIN_HTTP = { kind: 'failed', failure: 'plain_http_not_allowed' } as const;

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

describe('rebinding', () => {
  test('a name that moves to a blocked address is refused at the next connection', async () => {
    const server = await startHttpsServer((response) =>
      response.writeHead(200, { connection: 'close' }).end(),
    );
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '10.0.0.1'], ['127.0.0.1']];
    const egress = loopbackEgress({ resolve: () => Promise.resolve(answers.shift() ?? []) });
    const url = server.url('/', 'receiver.test');
    expect(await send(egress, url)).toEqual(ANSWERED);
    expect(await send(egress, url)).toEqual(NOT_ALLOWED);
    expect(await send(egress, url)).toEqual(NOT_ALLOWED);
    expect(server.accepted).toHaveLength(1);
    expect(await send(egress, url)).toEqual(ANSWERED);
    expect(server.accepted).toHaveLength(2);
  });

  test('a connection in use stays with the address that was checked', async () => {
    const server = await startHttpsServer((response) => response.end());
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    const resolve = vi.fn<Resolve>(() => Promise.resolve(answers.shift() ?? []));
    const egress = loopbackEgress({ resolve });
    const url = server.url('/', 'receiver.test');
    expect(await send(egress, url)).toEqual(ANSWERED);
    expect(await send(egress, url)).toEqual(ANSWERED);
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(server.accepted).toHaveLength(1);
  });

  test('a connection that closed while it was idle is opened again, and checked again', async () => {
    const server = await startTcpServer((socket) => socket.on('data', () => socket.write(OK)), 'http');
    const answers = [['127.0.0.1'], ['127.0.0.1'], ['10.0.0.1']];
    const resolve = () => Promise.resolve(answers.shift() ?? []);
    const sockets: Socket[] = [];
    const connect: Connect = (address, port) => {
      const socket = tcpConnect(address, port);
      sockets.push(socket);
      return socket;
    };
    const egress = loopbackEgress({ allowHttp: true, resolve, connect });
    const url = server.url('/', 'receiver.test');
    expect(await send(egress, url)).toEqual(ANSWERED);
    // The pool does not know yet that it is closed when it takes it for the next request.
    sockets[0]?.destroy();
    expect(await send(egress, url)).toEqual(ANSWERED);
    sockets[1]?.destroy();
    expect(await send(egress, url)).toEqual(NOT_ALLOWED);
    expect(sockets).toHaveLength(2);
  });

  test('a peer whose address is not the checked one does not receive a byte', async () => {
    const seen: Buffer[] = [];
    const server = await startTcpServer((socket) => socket.on('data', (bytes) => seen.push(bytes)));
    const connect = () => connectTcp({ host: '127.0.0.1', port: server.port });
    for (const address of ['127.0.0.2', '::1', '8.8.8.8']) {
      const egress = loopbackEgress({ connect, resolve: () => Promise.resolve([address]) });
      expect(await send(egress, server.url('/', 'receiver.test'))).toEqual(NOT_ALLOWED);
    }
    await eventually(() => expect(server.open()).toBe(0));
    expect(server.accepted).toHaveLength(3);
    expect(seen).toEqual([]);
  });
});

describe('plain HTTP', () => {
  const inside = [{ family: 'ipv4', address: '127.0.0.1', prefixBits: 32 }] as const;

  function startPlainServer() {
    return startTcpServer((socket) => socket.once('data', () => socket.end(OK)), 'http');
  }

  test('is allowed only inside the allowed networks, and only if it is switched on', async () => {
    const server = await startPlainServer();
    expect(await send(loopbackEgress({ allow: inside, allowHttp: true }), server.url())).toEqual(ANSWERED);
    expect(await send(loopbackEgress({ allow: inside }), server.url())).toEqual(NO_PLAIN_HTTP);
    expect(server.accepted).toHaveLength(1);
  });

  test('reaches a name whose addresses are all inside the allowed networks', async () => {
    const server = await startPlainServer();
    const egress = loopbackEgress({ allow: inside, allowHttp: true });
    expect(await send(egress, server.url('/', 'receiver.test'))).toEqual(ANSWERED);
  });

  test.each([
    ['a public address', 'http://8.8.8.8/', [], NO_PLAIN_HTTP],
    ['a public IPv6 address', 'http://[2606:4700::1111]/', [], NO_PLAIN_HTTP],
    ['a private address that is not allowed', 'http://127.0.0.2/', [], NOT_ALLOWED],
    ['a public name', 'http://receiver.test/', ['8.8.8.8'], NO_PLAIN_HTTP],
    [
      'a name with an allowed and a public address',
      'http://receiver.test/',
      ['127.0.0.1', '8.8.8.8'],
      NO_PLAIN_HTTP,
    ],
    [
      'a name with an allowed and another private address',
      'http://receiver.test/',
      ['127.0.0.1', '10.0.0.1'],
      NOT_ALLOWED,
    ],
  ])('never reaches %s', async (_name, url, addresses, verdict) => {
    const connect = vi.fn<Connect>();
    const resolve = () => Promise.resolve(addresses);
    const egress = loopbackEgress({ allow: inside, allowHttp: true, resolve, connect });
    expect(await send(egress, url)).toEqual(verdict);
    expect(connect).not.toHaveBeenCalled();
  });

  test('and HTTPS are the only schemes', async () => {
    const egress = loopbackEgress({ allowHttp: true });
    for (const url of ['ftp://127.0.0.1/', 'ws://127.0.0.1/', 'wss://127.0.0.1/', 'file:///etc/passwd']) {
      expect(await send(egress, url)).toEqual({ kind: 'failed', failure: 'scheme_not_allowed' });
    }
  });
});

describe('an allowed private network', () => {
  test('can be reached, in its own address family only', async () => {
    const server = await startHttpsServer((response) => response.end());
    const egress = loopbackEgress({ allow: LOOPBACK.slice(0, 1) });
    expect(await send(egress, server.url())).toEqual(ANSWERED);
    expect(await send(egress, server.url('/', '[::ffff:127.0.0.1]'))).toEqual(NOT_ALLOWED);
    expect(await send(egress, server.url('/', '[::1]'))).toEqual(NOT_ALLOWED);
    expect(await send(loopbackEgress({ allow: [] }), server.url())).toEqual(NOT_ALLOWED);
    expect(server.accepted).toHaveLength(1);
  });

  test('can be an IPv6 network', async () => {
    const server = await startHttpsServer((response) => response.end(), { address: '::1' });
    expect(await send(sharedEgress(), server.url())).toEqual(ANSWERED);
    const egress = loopbackEgress({ resolve: () => Promise.resolve(['::1']) });
    expect(await send(egress, server.url('/', 'receiver.test'))).toEqual(ANSWERED);
  });
});

describe('names', () => {
  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'api.localhost',
    'a.b.localhost.',
    'loc%61lhost',
    '\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54',
  ])('%s means this machine and is refused, even if loopback is allowed', async (host) => {
    const resolve = vi.fn<Resolve>(() => Promise.resolve(['127.0.0.1']));
    const connect = vi.fn<Connect>();
    const egress = loopbackEgress({ resolve, connect, allowHttp: true });
    for (const scheme of ['https', 'http']) {
      const verdict = await send(egress, `${scheme}://${host}/`);
      expect(verdict).toEqual({ kind: 'failed', failure: 'localhost_not_allowed' });
    }
    expect(resolve).not.toHaveBeenCalled();
    expect(connect).not.toHaveBeenCalled();
  });

  describe('of localhost, where they are allowed', () => {
    const resolve = vi.fn<Resolve>(() => Promise.reject(new Error('asked')));
    const allowing = (options: Partial<EgressOptions> = {}) =>
      loopbackEgress({ resolve, allowHttp: true, allowLocalhost: true, ...options });

    test.each(['localhost', 'LOCALHOST.', 'api.localhost', 'a.b.localhost'])(
      '%s means loopback, and no name server is asked',
      async (host) => {
        const server = await startTcpServer((socket) => socket.once('data', () => socket.end(OK)), 'http');
        expect(await send(allowing(), server.url('/', host))).toEqual(ANSWERED);
        expect(resolve).not.toHaveBeenCalled();
      },
    );

    test('reach a receiver that listens on IPv6 only', async () => {
      const server = await startHttpsServer((response) => response.end(), { address: '::1' });
      const refused = { kind: 'failed', failure: 'certificate_name_mismatch' };
      expect(await send(allowing(), server.url('/', 'localhost'))).toEqual(refused);
      expect(server.accepted).toHaveLength(1);
    });

    test('need the loopback addresses to be allowed as well', async () => {
      const server = await startTcpServer((socket) => socket.once('data', () => socket.end(OK)), 'http');
      for (const allow of [[], LOOPBACK.slice(0, 1)]) {
        expect(await send(allowing({ allow }), server.url('/', 'localhost'))).toEqual(NOT_ALLOWED);
      }
      expect(server.accepted).toHaveLength(0);
    });
  });

  test('that only look like localhost are resolved', async () => {
    const server = await startHttpsServer((response) => response.end(), { certificate: 'other-name' });
    const url = server.url('/', 'localhost.example.com');
    expect(await send(sharedEgress(), url)).toEqual({
      kind: 'failed',
      failure: 'certificate_name_mismatch',
    });
  });

  test.each([
    ['nothing', () => Promise.resolve([]), 'name_without_address'],
    [
      'too many addresses',
      () => Promise.resolve(Array.from({ length: 257 }, () => '8.8.8.8')),
      'name_with_too_many_addresses',
    ],
    ['an error', () => Promise.reject(new Error('at 10.0.0.53')), 'name_unresolved'],
    [
      'an error at once',
      () => {
        throw new Error('at 10.0.0.53');
      },
      'name_unresolved',
    ],
  ])('that resolve to %s cannot be reached', async (_name, resolve, failure) => {
    expect(await send(loopbackEgress({ resolve }), 'https://gone.test/')).toEqual({
      kind: 'failed',
      failure,
    });
  });

  test('are resolved without their trailing dot, and addresses are not resolved', async () => {
    const server = await startHttpsServer((response) => response.end());
    const names: string[] = [];
    const resolve = (name: string) => {
      names.push(name);
      return Promise.resolve(['127.0.0.1']);
    };
    const egress = loopbackEgress({ resolve });
    expect(await send(egress, server.url('/', 'receiver.test.'))).toEqual(ANSWERED);
    expect(await send(egress, server.url('/', '127.0.0.1'))).toEqual(ANSWERED);
    expect(await send(egress, server.url('/', '0x7f000001'))).toEqual(ANSWERED);
    expect(names).toEqual(['receiver.test']);
  });
});

describe('the environment', () => {
  const SCRIPT = `
    import { createEgress } from '#src/egress/client.ts';
    import { systemTimers } from '#src/system/timers.ts';
    const { allow, certificates, urls } = JSON.parse(process.argv[1]);
    const egress = createEgress({ allow, allowHttp: true, certificates, timers: systemTimers });
    const results = [];
    for (const url of urls) {
      const request = { method: 'POST', url: new URL(url), headers: [], body: null };
      results.push(await new Promise((resolve) => egress.send(request, resolve, () => {})));
    }
    await egress.close();
    process.stdout.write(JSON.stringify(results));
  `;

  /** Runs in another process, because Node reads most of these variables when it starts. */
  async function sendWith(
    environment: Readonly<Record<string, string>>,
    certificates: string | null,
    urls: URL[],
  ) {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', SCRIPT, JSON.stringify({ allow: LOOPBACK, certificates, urls })],
      { env: { ...process.env, ...environment }, cwd: new URL('../..', import.meta.url) },
    );
    return JSON.parse(stdout);
  }

  test('may name proxies, but none is used', async () => {
    const proxy = await startTcpServer((socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'), 'http');
    const secure = await startHttpsServer((response) => response.end());
    const plain = await startTcpServer((socket) => socket.once('data', () => socket.end(OK)), 'http');
    const address = proxy.url().href;
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
    const results = await sendWith(
      { ...Object.fromEntries(names.map((name) => [name, address])), NODE_USE_ENV_PROXY: '1', NO_PROXY: '' },
      CA,
      [secure.url(), plain.url()],
    );
    expect(results).toEqual([ANSWERED, ANSWERED]);
    expect(proxy.accepted).toHaveLength(0);
  });

  test('may name more certificate authorities, which are trusted in addition to the bundle', async () => {
    const good = await startHttpsServer((response) => response.end());
    const own = await startHttpsServer((response) => response.end(), { certificate: 'untrusted' });
    const file = fileURLToPath(new URL('../../test/certificates/ca.pem', import.meta.url));
    const environment = { NODE_EXTRA_CA_CERTS: file };
    const urls = [good.url(), own.url()];
    expect(await sendWith(environment, pem('untrusted.pem'), urls)).toEqual([ANSWERED, ANSWERED]);
    expect(await sendWith(environment, null, urls)).toMatchObject([ANSWERED, { kind: 'failed' }]);
  });

  test('cannot switch off the check of certificates', async () => {
    const server = await startHttpsServer((response) => response.end());
    const results = await sendWith({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, null, [server.url()]);
    expect(results).toEqual([{ kind: 'failed', failure: 'certificate_untrusted' }]);
  });
});

test('connecting to an address does not resolve anything', async () => {
  const socket = tcpConnect({ family: 'ipv4', bytes: [127, 0, 0, 1], text: '127.0.0.1' }, 1);
  onTestFinished(() => void socket.destroy());
  const lookups = vi.fn<() => void>();
  socket.on('lookup', lookups);
  await new Promise((resolve) => socket.once('error', resolve));
  expect(lookups).not.toHaveBeenCalled();
});
