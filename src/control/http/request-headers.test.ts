import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { clearCookieHeaders, presentedToken, setCookieHeaders } from './cookie.ts';
import { isFromOwnPage } from './origin-check.ts';
import { agentOf } from './request-headers.ts';

type Headers = readonly (readonly [name: string, value: string])[];

function requestWith(headers: Headers): IncomingMessage {
  return { rawHeaders: headers.flat() } as unknown as IncomingMessage;
}

const TOKEN = 'a'.repeat(42).concat('_');
const HTTPS = ['X-Forwarded-Proto', 'https'] as const;

describe('the cookie of a session', () => {
  test('behind TLS no other host can plant it, and it is sent over TLS alone', () => {
    expect(setCookieHeaders(requestWith([HTTPS]), TOKEN, 60)).toEqual([
      `__Host-sched_session=${TOKEN}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=60`,
    ]);
  });

  test('without TLS it has another name', () => {
    expect(setCookieHeaders(requestWith([]), TOKEN, 60)).toEqual([
      `sched_session=${TOKEN}; Path=/dashboard; HttpOnly; SameSite=Strict; Max-Age=60`,
    ]);
  });

  test('both are forgotten', () => {
    const names = clearCookieHeaders().map((cookie) => cookie.split('=', 1)[0]);
    expect(names).toEqual(['__Host-sched_session', 'sched_session']);
    for (const cookie of clearCookieHeaders()) expect(cookie).toMatch(/=; .*Max-Age=0$/);
  });

  test.each<[what: string, headers: Headers, token: string | null]>([
    ['the only one', [['Cookie', `sched_session=${TOKEN}`]], TOKEN],
    ['one among others', [['cookie', `a=b; sched_session=${TOKEN};c`]], TOKEN],
    [
      'one in a second header',
      [
        ['Cookie', 'a=b'],
        ['Cookie', `sched_session=${TOKEN}`],
      ],
      TOKEN,
    ],
    ['that behind TLS', [HTTPS, ['Cookie', `__Host-sched_session=${TOKEN}`]], TOKEN],
    ['that without TLS, behind TLS', [HTTPS, ['Cookie', `sched_session=${TOKEN}`]], null],
    ['that behind TLS, without', [['Cookie', `__Host-sched_session=${TOKEN}`]], null],
    ['two', [['Cookie', `sched_session=${TOKEN}; sched_session=${TOKEN}`]], null],
    ['one whose name only ends so', [['Cookie', `x_sched_session=${TOKEN}`]], null],
    ['one in quotes', [['Cookie', `sched_session="${TOKEN}"`]], null],
    ['one that is too long', [['Cookie', `sched_session=${TOKEN}a`]], null],
    ['an empty one', [['Cookie', 'sched_session=']], null],
    ['none', [], null],
  ])('%s', (_what, headers, token) => {
    expect(presentedToken(requestWith(headers))).toBe(token);
  });
});

describe('who made a request that changes something', () => {
  const JSON_TYPE = ['Content-Type', 'application/json'] as const;
  const HOST = ['Host', 'sched.example:8080'] as const;
  const OWN = ['Origin', 'http://sched.example:8080'] as const;
  const SAME = ['Sec-Fetch-Site', 'same-origin'] as const;

  test.each<[what: string, headers: Headers]>([
    ['its own origin', [HOST, JSON_TYPE, OWN]],
    ['its own origin, and the browser says so', [HOST, JSON_TYPE, OWN, SAME]],
    ['a browser that says no more than that it is the same', [HOST, JSON_TYPE, SAME]],
    ['its own origin behind TLS', [HOST, JSON_TYPE, HTTPS, ['Origin', 'https://sched.example:8080']]],
    ['JSON with its characters', [HOST, OWN, ['Content-Type', 'application/json; charset=utf-8']]],
  ])('the page itself: %s', (_what, headers) => {
    expect(isFromOwnPage(requestWith(headers))).toBe(true);
  });

  test.each<[what: string, headers: Headers]>([
    ['nothing is said', [HOST, JSON_TYPE]],
    ['another host', [HOST, JSON_TYPE, ['Origin', 'http://evil.example']]],
    ['another port', [HOST, JSON_TYPE, ['Origin', 'http://sched.example:8081']]],
    ['another scheme', [HOST, JSON_TYPE, ['Origin', 'https://sched.example:8080']]],
    ['a host that begins so', [HOST, JSON_TYPE, ['Origin', 'http://sched.example:8080.evil.example']]],
    ['a page without an origin', [HOST, JSON_TYPE, ['Origin', 'null']]],
    ['two origins', [HOST, JSON_TYPE, OWN, OWN]],
    ['two hosts', [HOST, HOST, JSON_TYPE, OWN]],
    ['no host', [JSON_TYPE, ['Origin', 'http://']]],
    ['a neighbour under the same domain', [HOST, JSON_TYPE, OWN, ['Sec-Fetch-Site', 'same-site']]],
    ['another site', [HOST, JSON_TYPE, ['Sec-Fetch-Site', 'cross-site']]],
    ['a form', [HOST, OWN, SAME, ['Content-Type', 'application/x-www-form-urlencoded']]],
    ['a form with files', [HOST, OWN, SAME, ['Content-Type', 'multipart/form-data; boundary=a']]],
    ['JSON as plain text', [HOST, OWN, SAME, ['Content-Type', 'text/plain']]],
    ['JSON only by its parameter', [HOST, OWN, SAME, ['Content-Type', 'text/plain; application/json']]],
    ['no type', [HOST, OWN, SAME]],
  ])('not the page: %s', (_what, headers) => {
    expect(isFromOwnPage(requestWith(headers))).toBe(false);
  });
});

test('the name of a browser is cut off', () => {
  expect(agentOf(requestWith([['User-Agent', 'x'.repeat(5_000)]]))).toHaveLength(200);
});
