import { expect, test } from 'vitest';
import { shortUrl } from './short-url.ts';
import { widthOf } from './width.ts';

const LONG = 'https://hooks.example.com/v1/tenants/acme/invoices?token=0123456789';
const LONG_HOST = 'https://hooks.production.eu-central-1.example.com/v1/callbacks/4711';

test.each([
  ['the scheme goes first', 'http://127.0.0.1:8080/inbox/hook', 26, '127.0.0.1:8080/inbox/hook'],
  ['then the query', LONG, 45, 'hooks.example.com/v1/tenants/acme/invoices?…'],
  ['then segments in the middle of the path', LONG, 40, 'hooks.example.com/…/acme/invoices?…'],
  ['the last segment stays', LONG, 32, 'hooks.example.com/…/invoices?…'],
  ['at least its end stays', LONG, 26, 'hooks.example.com/…oices?…'],
  ['a long host is cut too', LONG_HOST, 30, 'hooks.producti…/callbacks/4711'],
  ['a host alone', `https://${'a'.repeat(30)}.example.com`, 20, 'aaaaaaaaa…xample.com'],
  ['wide characters', 'https://例え.example.com/通知/東京/大阪', 24, '例え.example.com/…/大阪'],
  ['a fragment', 'https://example.com/a#long-fragment', 16, 'example.com/a#…'],
])('%s', (_, url, cells, short) => {
  expect(shortUrl(url, cells)).toBe(short);
});

test('a path of many slashes is shortened from its end', () => {
  expect(shortUrl(`https://a.example${'/'.repeat(100_000)}end`, 20)).toBe('a.example/…//////end');
});

test('every width is respected, also for text that is not a URL', () => {
  for (const url of [
    LONG,
    LONG_HOST,
    'https://例え.example.com/通知/東京/大阪',
    '////',
    'x'.repeat(80),
    '?',
    '',
  ])
    for (let cells = 1; cells < 80; cells++) expect(widthOf(shortUrl(url, cells))).toBeLessThanOrEqual(cells);
});
