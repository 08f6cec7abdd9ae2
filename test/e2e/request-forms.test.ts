/** Targets, hosts and methods that reach no route. */
import { describe, expect, it } from 'vitest';
import { REQUEST_ID } from './client.ts';
import { TEST_KEY, useSched } from './harness.ts';
import { exchangeBytes, parseAnswer } from './raw.ts';
import type { ErrorBody } from './resources.ts';

const { url, output } = useSched();

const AUTHORIZED = `Authorization: Bearer ${TEST_KEY}`;

/** Builds a request of these lines whose connection is closed after the answer. */
function request(line: string, ...headers: readonly string[]): string {
  return `${[line, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`;
}

async function exchange(bytes: string) {
  return parseAnswer(await exchangeBytes(url(), bytes));
}

async function expectRefusal(bytes: string, status: number, code: string): Promise<string> {
  const answer = await exchange(bytes);
  const requestId = answer.headers['sched-request-id'] ?? 'none';
  expect(requestId).toMatch(REQUEST_ID);
  expect(answer).toMatchObject({
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(answer.body)),
      connection: 'close',
      date: expect.stringMatching(/ GMT$/),
    },
  });
  expect((JSON.parse(answer.body) as ErrorBody).error).toEqual({
    type: expect.stringMatching(/_error$/),
    code,
    message: expect.stringMatching(/\S/),
    param: null,
    request_id: requestId,
  });
  return requestId;
}

describe('an invalid target: 400 invalid_request', () => {
  const targets = [
    'http:///v1/schedules',
    'http://x:99999/v1/schedules',
    'http://[',
    'http://%zz/v1/schedules',
    'http://x/v1/schedules#a',
    '/v1/schedules#a',
    '/v1/sch\u0000edules',
    'v1/schedules',
    'x:443',
    '?limit=1',
    '/v1/schedules /nope',
  ];
  it.each(targets)('GET %j', async (target) => {
    await expectRefusal(request(`GET ${target} HTTP/1.1`, 'Host: x', AUTHORIZED), 400, 'invalid_request');
  });

  it('also with a body, an upgrade or a 100-continue', async () => {
    for (const header of ['Content-Length: 0', 'Upgrade: websocket', 'X-More: y']) {
      await expectRefusal(
        request('POST http://[ HTTP/1.1', 'Host: x', header, AUTHORIZED),
        400,
        'invalid_request',
      );
    }
    const expecting = request(
      'POST http://[ HTTP/1.1',
      'Host: x',
      'Expect: 100-continue',
      'Content-Length: 0',
    );
    const answer = await exchangeBytes(url(), expecting);
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 .*"invalid_request"/s);
  });

  it('is logged with its request id, and not with its target', async () => {
    const target = 'http://x:99999/planted-in-a-target';
    const id = await expectRefusal(request(`GET ${target} HTTP/1.1`, 'Host: x'), 400, 'invalid_request');
    await expect.poll(output).toContain(id);
    const line = output()
      .split('\n')
      .find((text) => text.includes(id));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      method: 'GET',
      route: 'none',
      status: 400,
      msg: 'request',
    });
    expect(output()).not.toContain('planted-in-a-target');
  });

  it('has no body in the answer to HEAD', async () => {
    const { status, headers, body } = await exchange(request('HEAD http://[ HTTP/1.1', 'Host: x'));
    expect([status, body]).toEqual([400, '']);
    expect(headers['sched-request-id']).toMatch(REQUEST_ID);
  });
});

describe('a target without a route: 404 not_found', () => {
  it.each([
    ['OPTIONS', '*'],
    ['GET', '*'],
    ['POST', 'http://x'],
    ['GET', 'ftp://x/v1/schedules'],
    ['GET', '//v1/schedules'],
    ['GET', `/${'a'.repeat(15_000)}`],
  ])('%s %.30s', async (method, target) => {
    await expectRefusal(request(`${method} ${target} HTTP/1.1`, 'Host: x', AUTHORIZED), 404, 'not_found');
  });
});

describe('the absolute form is the path', () => {
  it.each([
    'http://x/v1/schedules?limit=1',
    'HTTPS://elsewhere.example:1/v1/schedules?limit=1',
    'http://[::1]/v1/schedules',
  ])('GET %s', async (target) => {
    const { status, body } = await exchange(request(`GET ${target} HTTP/1.1`, 'Host: x', AUTHORIZED));
    expect([status, JSON.parse(body)]).toMatchObject([200, { object: 'list' }]);
  });

  it('for authentication too', async () => {
    for (const path of ['/v1/schedules', '/v1/nope', '/v1/%zz']) {
      await expectRefusal(request(`GET http://x${path} HTTP/1.1`, 'Host: x'), 401, 'missing_api_key');
    }
    await expectRefusal(request('GET http://x/v1/%zz HTTP/1.1', 'Host: x', AUTHORIZED), 404, 'not_found');
  });

  it('for the home page, the probes and the dashboard too', async () => {
    for (const path of ['', '/', '/healthz', '/dashboard/api/whoami']) {
      const { status } = await exchange(request(`GET http://x${path} HTTP/1.1`, 'Host: x'));
      expect(`${path} ${status}`).toBe(`${path} 200`);
    }
    await expectRefusal(
      request('GET http://x/dashboard/api/sessions HTTP/1.1', 'Host: x'),
      401,
      'not_signed_in',
    );
  });
});

describe('no Host, two Hosts, or an invalid Host: 400 invalid_request', () => {
  const paths = ['/v1/schedules', 'http://x/v1/schedules', '/healthz', '/dashboard', '/dashboard/api/whoami'];
  it.each(paths)('%s', async (path) => {
    for (const hosts of [[], ['Host: x', 'Host: y'], ['Host: x', 'host: x'], ['Host: a b'], ['Host: x/y']]) {
      await expectRefusal(request(`GET ${path} HTTP/1.1`, ...hosts, AUTHORIZED), 400, 'invalid_request');
    }
  });

  it('an empty Host is valid, and HTTP/1.0 needs none', async () => {
    expect(await exchange(request('GET /healthz HTTP/1.1', 'Host:'))).toMatchObject({ status: 200 });
    expect(await exchange(request('GET /healthz HTTP/1.0'))).toMatchObject({ status: 200 });
    await expectRefusal(request('GET /healthz HTTP/1.0', 'Host: x', 'Host: y'), 400, 'invalid_request');
  });
});

describe('methods', () => {
  it.each(['DESCRIBE', 'ANNOUNCE', 'SETUP', 'PLAY', 'PAUSE', 'TEARDOWN', 'GET_PARAMETER', 'RECORD'])(
    '%s, an RTSP method that the parser knows: 404 not_found',
    async (method) => {
      for (const target of ['rtsp://x/v1/schedules', '/v1/schedules', '/healthz', '/dashboard/api/whoami']) {
        await expectRefusal(request(`${method} ${target} RTSP/1.0`, 'CSeq: 1'), 404, 'not_found');
      }
    },
  );

  it.each(['x:443', '/v1/schedules'])('CONNECT %s: 404 not_found', async (target) => {
    await expectRefusal(request(`CONNECT ${target} HTTP/1.1`, 'Host: x', AUTHORIZED), 404, 'not_found');
    // Bytes that are sent through the refused tunnel are not read.
    const hello = `${request(`CONNECT ${target} HTTP/1.1`, 'Host: x')}\u0016\u0003\u0001`;
    await expectRefusal(hello, 404, 'not_found');
    await expectRefusal(request(`CONNECT ${target} HTTP/1.1`), 400, 'invalid_request');
  });

  it.each(['BREW', 'get', 'DESCRIBE'])(
    '%s, which is not an HTTP method: 400 invalid_request',
    async (method) => {
      await expectRefusal(request(`${method} /v1/schedules HTTP/1.1`, 'Host: x'), 400, 'invalid_request');
    },
  );
});

describe('a request that is refused so early ends its connection', () => {
  it.each([
    'GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /healthz HTTP/1.1\r\n\r\n',
    'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    'DESCRIBE / RTSP/1.0\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: magic\r\n\r\n',
  ])('%j: a request after it is not answered', async (first) => {
    const text = await exchangeBytes(url(), `${first}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(parseAnswer(text).headers['sched-request-id']).toMatch(REQUEST_ID);
  });
});
