import { describe, expect, it } from 'vitest';
import { type CurlRequest, curlOf, quoted } from './curl.ts';

const REQUEST: CurlRequest = {
  method: 'POST',
  url: 'https://example.com/hook?order=4711',
  headerNames: ['X-Tenant', 'Content-Type'],
  hasBody: true,
  deliveryId: 'dlv_01jcq3v8k4zqgw5m2r7n9x0abc',
  idempotencyKey: 'invoice-1',
};

/** Reads words as a POSIX shell does. It knows what the command may have: single quotes, `\'`, and continued lines. */
function wordsOf(command: string): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < command.length; at++) {
    const character = command[at] ?? '';
    if (character === "'") {
      const end = command.indexOf("'", at + 1);
      if (end < 0) throw new Error('A quote is open.');
      word = (word ?? '') + command.slice(at + 1, end);
      at = end;
    } else if (command.startsWith('\\\n', at)) {
      at += 1;
    } else if (command.startsWith(String.raw`\'`, at)) {
      word = `${word ?? ''}'`;
      at += 1;
    } else if (character === ' ') {
      if (word !== null) words.push(word);
      word = null;
    } else if (/[\w-]/.test(character)) {
      word = (word ?? '') + character;
    } else {
      throw new Error(`A shell would interpret ${JSON.stringify(character)}.`);
    }
  }
  return word === null ? words : [...words, word];
}

it('the command has the request with placeholders for values and body', () => {
  expect(curlOf(REQUEST)).toBe(`curl --globoff --request 'POST' --url 'https://example.com/hook?order=4711' \\
  --header 'X-Tenant: REPLACE_ME' \\
  --header 'Content-Type: REPLACE_ME' \\
  --header 'Idempotency-Key: invoice-1' \\
  --header 'Sched-Delivery-Id: dlv_01jcq3v8k4zqgw5m2r7n9x0abc' \\
  --data-binary '@body.txt'`);
});

it('a request without a body sends none', () => {
  expect(curlOf({ ...REQUEST, hasBody: false })).not.toContain('--data');
});

it('curl does not add a Content-Type that the request does not have', () => {
  const without = { ...REQUEST, headerNames: ['X-Tenant'] };
  expect(wordsOf(curlOf(without))).toContain('Content-Type:');
  expect(wordsOf(curlOf({ ...without, headerNames: ['content-type'] }))).not.toContain('Content-Type:');
  expect(curlOf({ ...without, hasBody: false })).not.toContain('Content-Type');
});

describe('a hostile text stays one argument', () => {
  it.each([
    ["https://a.example/';id;'", "https://a.example/';id;'"],
    ['https://a.example/$(id)`id`"\\', 'https://a.example/$(id)`id`"\\'],
    ['https://a.example/\n;id\n', 'https://a.example/%0A;id%0A'],
    ['https://a.example/\u001b[2J\u202e', 'https://a.example/%1B[2J%E2%80%AE'],
    ['https://a.example/\ud800', 'https://a.example/%EF%BF%BD'],
    ['-o/etc/passwd', '-o/etc/passwd'],
    ["'''", "'''"],
  ])('in the URL: %j', (url, argument) => {
    const words = wordsOf(curlOf({ ...REQUEST, url }));
    expect(words.slice(0, 6)).toEqual(['curl', '--globoff', '--request', 'POST', '--url', argument]);
    expect(words).toHaveLength(16);
  });

  it.each(["x'y", 'x$y', 'x`y`', 'X!#%&*+.^|~-_'])('in the name of a header: %j', (name) => {
    expect(wordsOf(curlOf({ ...REQUEST, headerNames: [name] }))).toContain(`${name}: REPLACE_ME`);
  });

  it.each(['@/etc/passwd', 'a: b\r\nc', 'a b', '', 'é', 'x\u0000'])(
    'and a name that no header can have is left out: %j',
    (name) => {
      expect(curlOf({ ...REQUEST, headerNames: [name] })).not.toContain('REPLACE_ME');
    },
  );

  it('in the key and the method', () => {
    const words = wordsOf(curlOf({ ...REQUEST, idempotencyKey: "'\n;id", method: "X'; id" }));
    expect(words).toContain("Idempotency-Key: '?;id");
    expect(words).toContain("X'; id");
  });
});

it('quotes are written outside of quotes', () => {
  expect(quoted("it's")).toBe(String.raw`'it'\''s'`);
  expect(quoted('')).toBe("''");
});
