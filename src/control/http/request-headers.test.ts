import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { agentOf } from '#src/web/request-headers.ts';
import { clearCookieHeaders, presentedToken, setCookieHeaders } from './cookie.ts';
import { isFromOwnPage } from './origin-check.ts';

type Headers = readonly (readonly [name: string, value: string])[];

function requestWith(headers: Headers): IncomingMessage {
  return { rawHeaders: headers.flat() } as unknown as IncomingMessage;
}

const TOKEN = 'a'.repeat(42).concat('_');
const HTTPS = ['X-Forwarded-Proto', 'https'] as const;

describe('the cookie of a session', () => {
  test('behind TLS can be set by no other host, and is sent only over TLS', () => {
    expect(setCookieHeaders(requestWith([HTTPS]), TOKEN, 60)).toEqual([
      `__Host-sched_session=${TOKEN}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=60`,
    ]);
  });

  test('has another name without TLS', () => {
    expect(setCookieHeaders(requestWith([]), TOKEN, 60)).toEqual([
      `sched_session=${TOKEN}; Path=/dashboard; HttpOnly; SameSite=Strict; Max-Age=60`,
    ]);
  });

  test('is cleared under both names', () => {
    const names = clearCookieHeaders().map((cookie) => cookie.split('=', 1)[0]);
    expect(names).toEqual(['__Host-sched_session', 'sched_session']);
    for (const cookie of clearCookieHeaders()) expect(cookie).toMatch(/=; .*Max-Age=0$/);
  });

  test.each<[what: string, headers: Headers, token: string | null]>([
    ['is read if it is the only one', [['Cookie', `sched_session=${TOKEN}`]], TOKEN],
    ['is read among others', [['cookie', `a=b; sched_session=${TOKEN};c`]], TOKEN],
    [
      'is read from a second header',
      [
        ['Cookie', 'a=b'],
        ['Cookie', `sched_session=${TOKEN}`],
      ],
      TOKEN,
    ],
    ['is read behind TLS by its own name', [HTTPS, ['Cookie', `__Host-sched_session=${TOKEN}`]], TOKEN],
    ['is not read behind TLS by the other name', [HTTPS, ['Cookie', `sched_session=${TOKEN}`]], null],
    ['is not read without TLS by the other name', [['Cookie', `__Host-sched_session=${TOKEN}`]], null],
    ['is not read if there are two', [['Cookie', `sched_session=${TOKEN}; sched_session=${TOKEN}`]], null],
    ['is not read from a name that ends alike', [['Cookie', `x_sched_session=${TOKEN}`]], null],
    ['is not read in quotes', [['Cookie', `sched_session="${TOKEN}"`]], null],
    ['is not read if it is too long', [['Cookie', `sched_session=${TOKEN}a`]], null],
    ['is not read if it is empty', [['Cookie', 'sched_session=']], null],
    ['is not read if there is none', [], null],
  ])('%s', (_what, headers, token) => {
    expect(presentedToken(requestWith(headers))).toBe(token);
  });
});

describe('the sender of a change', () => {
  const JSON_TYPE = ['Content-Type', 'application/json'] as const;
  const HOST = ['Host', 'sched.example:8080'] as const;
  const OWN = ['Origin', 'http://sched.example:8080'] as const;
  const SAME = ['Sec-Fetch-Site', 'same-origin'] as const;

  test.each<[what: string, headers: Headers]>([
    ['its own origin', [HOST, JSON_TYPE, OWN]],
    ['its own origin and Sec-Fetch-Site', [HOST, JSON_TYPE, OWN, SAME]],
    ['only Sec-Fetch-Site', [HOST, JSON_TYPE, SAME]],
    ['its own origin behind TLS', [HOST, JSON_TYPE, HTTPS, ['Origin', 'https://sched.example:8080']]],
    ['JSON with a charset', [HOST, OWN, ['Content-Type', 'application/json; charset=utf-8']]],
  ])('is the page itself: %s', (_what, headers) => {
    expect(isFromOwnPage(requestWith(headers))).toBe(true);
  });

  test.each<[what: string, headers: Headers]>([
    ['neither header', [HOST, JSON_TYPE]],
    ['another host', [HOST, JSON_TYPE, ['Origin', 'http://evil.example']]],
    ['another port', [HOST, JSON_TYPE, ['Origin', 'http://sched.example:8081']]],
    ['another scheme', [HOST, JSON_TYPE, ['Origin', 'https://sched.example:8080']]],
    ['a host that begins alike', [HOST, JSON_TYPE, ['Origin', 'http://sched.example:8080.evil.example']]],
    ['a page without an origin', [HOST, JSON_TYPE, ['Origin', 'null']]],
    ['two origins', [HOST, JSON_TYPE, OWN, OWN]],
    ['two hosts', [HOST, HOST, JSON_TYPE, OWN]],
    ['no host', [JSON_TYPE, ['Origin', 'http://']]],
    ['another host of the same domain', [HOST, JSON_TYPE, OWN, ['Sec-Fetch-Site', 'same-site']]],
    ['another site', [HOST, JSON_TYPE, ['Sec-Fetch-Site', 'cross-site']]],
    ['a form', [HOST, OWN, SAME, ['Content-Type', 'application/x-www-form-urlencoded']]],
    ['a form with files', [HOST, OWN, SAME, ['Content-Type', 'multipart/form-data; boundary=a']]],
    ['JSON as plain text', [HOST, OWN, SAME, ['Content-Type', 'text/plain']]],
    ['JSON only by its parameter', [HOST, OWN, SAME, ['Content-Type', 'text/plain; application/json']]],
    ['no content type', [HOST, OWN, SAME]],
  ])('is not the page: %s', (_what, headers) => {
    expect(isFromOwnPage(requestWith(headers))).toBe(false);
  });
});

test('the name of a browser is truncated', () => {
  expect(agentOf(requestWith([['User-Agent', 'x'.repeat(5_000)]]))).toHaveLength(200);
});
