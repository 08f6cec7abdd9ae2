import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { InformationalFilter } from './informational.ts';

const INFORMATIONAL = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.0 100\r\n\r\n',
  'HTTP/1.1 102 Processing\r\nX: HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nLink: </b>\r\n\r\n',
  'HTTP/1.1 199 Odd\r\n\r\n',
];

const FINAL = [
  'HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n12345',
  'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.0 500 no\r\n\r\n',
  'HTTP/1.12 100\r\n\r\n',
  'HTTP/2 100\r\n\r\n',
  'SSH-2.0\r\n',
  'H\r\n',
  'http/1.1 100 Continue\r\n\r\n',
];

test('informational answers before the final answer are removed, however the bytes are split', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...INFORMATIONAL), { maxLength: 4 }),
      fc.constantFrom(...FINAL),
      fc.array(fc.nat({ max: 200 }), { maxLength: 12 }),
      (before, final, cuts) => {
        const bytes = Buffer.from(`${before.join('')}${final}`);
        const filter = new InformationalFilter();
        const edges = [
          0,
          ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b),
          bytes.length,
        ];
        const parts = edges.slice(1).map((edge, index) => filter.strip(bytes.subarray(edges[index], edge)));
        expect(Buffer.concat(parts).toString()).toBe(final);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('the filter starts again for each request', () => {
  const filter = new InformationalFilter();
  const go = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
  expect(filter.strip(go)).toHaveLength(0);
  expect(filter.strip(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))).toHaveLength(19);
  expect(filter.strip(go)).toEqual(go);
  filter.expectAnswer();
  expect(filter.strip(go)).toHaveLength(0);
});

test('a head that is too long is passed on', () => {
  const filter = new InformationalFilter();
  const start = Buffer.from('HTTP/1.1 100 Continue\r\n');
  expect(filter.strip(start)).toHaveLength(0);
  expect(filter.strip(Buffer.alloc(20_000, 'x'))).toHaveLength(20_000 + start.length);
});
