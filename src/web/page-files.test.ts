import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangeBytes, parseAnswer } from '#test/e2e/raw.ts';
import { mountPage } from './page-files.ts';

const SCRIPT = 'export const answer = 42;\n'.repeat(100);
const folder = mkdtempSync(join(tmpdir(), 'sched-page-'));
let server: FastifyInstance;
let url = '';

async function serverOf(page: string, hasLocations = true): Promise<FastifyInstance> {
  const made = Fastify();
  made.register(async (scope) => mountPage(scope, { folder: page, hasLocations }), {
    prefix: '/dashboard',
  });
  await made.ready();
  return made;
}

beforeAll(async () => {
  mkdirSync(join(folder, 'dist/assets'), { recursive: true });
  writeFileSync(join(folder, 'dist/index.html'), '<title>Sched</title>');
  writeFileSync(join(folder, 'dist/assets/icon-3c4d.svg'), '<svg/>');
  writeFileSync(join(folder, 'dist/assets/page-1a2b.js'), SCRIPT);
  writeFileSync(join(folder, 'dist/licenses.md'), 'Permission is hereby granted');
  writeFileSync(join(folder, 'outside.txt'), 'kept apart');
  server = await serverOf(join(folder, 'dist'));
  url = await server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

describe('the page', () => {
  test.each([
    '/dashboard',
    '/dashboard/',
    '/dashboard/p/default/test/schedules/sch_1',
    '/dashboard/index.html',
  ])('%s is the page itself, which is not cached', async (url) => {
    const { statusCode, headers, body } = await server.inject({ url });
    expect([statusCode, body, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      '<title>Sched</title>',
      'text/html; charset=utf-8',
      'no-store',
    ]);
  });

  test('an asset is cached for a year', async () => {
    const asset = await server.inject({ url: '/dashboard/assets/page-1a2b.js' });
    expect(asset.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect(asset.body).toBe(SCRIPT);
  });

  test('the licences of the packages in its scripts can be read', async () => {
    const licences = await server.inject({ url: '/dashboard/licenses.md' });
    expect([licences.headers['content-type'], licences.body]).toEqual([
      'text/plain; charset=utf-8',
      'Permission is hereby granted',
    ]);
  });

  test.each(['/dashboard/assets/page-old.js', '/dashboard/assets/', '/dashboard/assets/../index.html'])(
    '%s is not found, because the page would be taken for a script',
    async (url) => {
      expect((await server.inject({ url })).headers['content-type']).not.toContain('javascript');
      expect((await server.inject({ url: '/dashboard/assets/page-old.js' })).statusCode).toBe(404);
    },
  );

  test.each(['/dashboard/../outside.txt', '/dashboard/%2e%2e/outside.txt', '/dashboard/..%2foutside.txt'])(
    '%s leads to no file outside the folder',
    async (path) => {
      const answer = await exchangeBytes(url, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      expect(parseAnswer(answer).status).toBeGreaterThan(0);
      expect(answer).not.toContain('kept apart');
    },
  );

  test.each([
    ['gzip, deflate, br', 'br', (bytes: Buffer) => brotliDecompressSync(bytes).toString()],
    ['gzip', 'gzip', (bytes: Buffer) => gunzipSync(bytes).toString()],
    ['gzip, br;q=0', 'gzip', (bytes: Buffer) => gunzipSync(bytes).toString()],
    ['identity', undefined, String],
  ])('Accept-Encoding %s is answered with %s', async (accepted, encoding, unpack) => {
    const url = '/dashboard/assets/page-1a2b.js';
    const answer = await server.inject({ url, headers: { 'accept-encoding': accepted } });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.headers.vary).toBe('Accept-Encoding');
    expect(unpack(answer.rawPayload)).toBe(SCRIPT);
    const etag = String(answer.headers.etag);
    const again = await server.inject({
      url,
      headers: { 'accept-encoding': accepted, 'if-none-match': `"x", W/${etag}` },
    });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  test('HEAD has the headers and no body', async () => {
    const answer = await fetch(`${url}/dashboard/assets/icon-3c4d.svg`, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([
      200,
      '6',
      '',
    ]);
  });

  test('a page that was not built is answered with how to build it, and served as soon as it is built', async () => {
    const page = join(folder, 'later');
    const later = await serverOf(page);
    for (const url of ['/dashboard', '/dashboard/assets/page-1a2b.js']) {
      const { statusCode, body } = await later.inject({ url });
      expect([statusCode, body]).toEqual([503, expect.stringContaining('npm run dashboard:build')]);
    }
    mkdirSync(page);
    writeFileSync(join(page, 'index.html'), 'built');
    expect((await later.inject({ url: '/dashboard' })).body).toBe('built');
    await later.close();
  });

  test('a page without locations has no other path', async () => {
    const plain = await serverOf(join(folder, 'dist'), false);
    const statusOf = async (url: string) => (await plain.inject({ url })).statusCode;
    expect(await statusOf('/dashboard')).toBe(200);
    expect(await statusOf('/dashboard/')).toBe(200);
    expect(await statusOf('/dashboard/assets/page-1a2b.js')).toBe(200);
    expect(await statusOf('/dashboard/elsewhere')).toBe(404);
    expect(await statusOf('/dashboard/index.html')).toBe(404);
    await plain.close();
  });
});
