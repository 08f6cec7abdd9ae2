import { expect, test } from 'vitest';
import { headersOf, parseCaptured } from './verify-request.ts';

function captured(text: string) {
  const { body, ...rest } = parseCaptured(Buffer.from(text));
  return { ...rest, headers: { ...rest.headers }, body: Buffer.from(body).toString() };
}

test('a whole request is parsed with any line ends, and its body keeps its exact bytes', () => {
  const whole = {
    method: 'POST',
    target: '/hook?a=1',
    headers: { host: ['example.com'], 'x-a': ['1', '2'] },
  };
  expect(
    captured('POST /hook?a=1 HTTP/1.1\r\nHost: example.com\r\nX-A:1\r\nx-a: 2 \r\n\r\n{"a":\r\n 1}\n'),
  ).toEqual({ ...whole, body: '{"a":\r\n 1}\n' });
  expect(captured('POST /hook?a=1\nHost: example.com\nX-A: 1\nX-A: 2\n\n')).toEqual({ ...whole, body: '' });
});

test('request line and body are optional, and empty lines at the start are skipped', () => {
  expect(captured('\n\nSched-Attempt: 1')).toEqual({
    method: null,
    target: null,
    headers: { 'sched-attempt': ['1'] },
    body: '',
  });
});

test.each([
  ['as curl -v prints it', '> POST /hook HTTP/1.1\r\n> A: 1\r\n> \r\n{"a":\n  1}'],
  ['as curl -v prints it, without trailing white space', '> POST /hook HTTP/1.1\n> A: 1\n>\n{"a":\n  1}'],
  ['indented', '\n    POST /hook HTTP/1.1\n    A: 1\n\n    {"a":\n      1}'],
  ['indented except for the body', '\t POST /hook\n\t A: 1\n\t \n{"a":\n  1}'],
  [
    'with the pseudo-headers of HTTP/2',
    ':method: POST\n:path: /hook\n:scheme: https\n:authority: e.com\nA: 1\n\n{"a":\n  1}',
  ],
])('%s', (_, text) => {
  const whole = { method: 'POST', target: '/hook', headers: { a: ['1'] }, body: '{"a":\n  1}' };
  expect(captured(text)).toEqual(whole);
});

test('an empty line in the body belongs to the body', () => {
  expect(captured('A: 1\n\nfirst\n\nsecond').body).toBe('first\n\nsecond');
});

test('bytes that are not text are kept', () => {
  const bytes = Buffer.concat([Buffer.from('A: 1\n\n'), Buffer.from([0xff, 0x00, 0x0a, 0x80])]);
  expect([...parseCaptured(bytes).body]).toEqual([0xff, 0x00, 0x0a, 0x80]);
});

test.each([['{"a":1}'], ['POST /hook HTTP/1.1\nno header\n\n'], [''], ['POST /hook HTTP/1.1\n\nbody']])(
  '%j is refused',
  (text) => {
    expect(() => parseCaptured(Buffer.from(text))).toThrow(/header/);
  },
);

test('a header may have the name of an inherited property', () => {
  expect(Object.entries(headersOf(['__proto__: a', 'constructor: b']))).toEqual([
    ['__proto__', ['a']],
    ['constructor', ['b']],
  ]);
});
