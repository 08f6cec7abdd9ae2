import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkUrl, contextPath, parseContexts, readContexts, writeContexts } from './context-file.ts';

const root = mkdtempSync(join(tmpdir(), 'sched-contexts-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const STAGING = { url: 'https://staging.example.com', apiKey: 'sk_test_staging0123456789' };
const CONTEXTS = { current: 'staging', byName: new Map([['staging', STAGING]]) };
const quiet = () => {};

test('the file is at SCHED_CONFIG, else in the configuration folder of the user', () => {
  expect(contextPath({ SCHED_CONFIG: '/x/p.json', XDG_CONFIG_HOME: '/y' })).toBe('/x/p.json');
  expect(contextPath({ SCHED_CONFIG: '', XDG_CONFIG_HOME: '/y' })).toBe('/y/sched/contexts.json');
  expect(contextPath({})).toMatch(/\/\.config\/sched\/contexts\.json$/);
});

test('written contexts can be read again, only by their owner, and no other file is left', async () => {
  const path = join(root, 'new/folder/contexts.json');
  await writeContexts(path, { current: null, byName: new Map() });
  await writeContexts(path, CONTEXTS);
  expect(await readContexts(path, quiet)).toEqual(CONTEXTS);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(root, 'new/folder')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(root, 'new/folder'))).toEqual(['contexts.json']);
});

test('a missing file means no contexts', async () => {
  expect(await readContexts(join(root, 'nowhere.json'), quiet)).toEqual({ current: null, byName: new Map() });
});

test('a file that others can read causes a warning, and the next write closes it to them', async () => {
  const path = join(root, 'open.json');
  await writeContexts(path, CONTEXTS);
  chmodSync(path, 0o644);
  const warnings: string[] = [];
  await readContexts(path, (line) => warnings.push(line));
  expect(warnings).toEqual([expect.stringContaining(`chmod 600 ${path}`)]);
  await writeContexts(path, CONTEXTS);
  await readContexts(path, (line) => warnings.push(line));
  expect(warnings).toHaveLength(1);
});

test('a failed write is reported, and leaves no temporary file', async () => {
  const folder = join(root, 'a-folder.json');
  mkdirSync(folder);
  await expect(writeContexts(folder, CONTEXTS)).rejects.toThrow('The contexts cannot be written');
  expect(readdirSync(root).filter((name) => name.startsWith('a-folder.json.'))).toEqual([]);
});

test.each([
  ['nonsense', 'it is not JSON'],
  ['[]', '"contexts" must be an object'],
  ['{"contexts":[]}', '"contexts" must be an object'],
  ['{"contexts":{"a":{"url":"https://example.com"}}}', 'a "url" and an "api_key"'],
  [
    '{"contexts":{"Not A Name":{"url":"https://e.com","api_key":"sk_test_0123456789abcdef"}}}',
    'must have a valid name',
  ],
  ['{"contexts":{"a":{"url":"https://e.com","api_key":"short"}}}', 'the key of context a must be an API key'],
  ['{"contexts":{"a":{"url":"e.com","api_key":"sk_test_0123456789abcdef"}}}', 'must be an address'],
  ['{"current":"b","contexts":{}}', '"current" must be the name of a context'],
])('%j is refused as a whole', async (text, why) => {
  expect(() => parseContexts(text, 'contexts.json')).toThrow(why);
  const path = join(root, 'refused.json');
  writeFileSync(path, text, { mode: 0o600 });
  await expect(readContexts(path, quiet)).rejects.toThrow(why);
});

test.each([
  ['https://example.com', 'https://example.com'],
  ['https://EXAMPLE.com/sched//', 'https://example.com/sched'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
])('%s is normalised to %s', (text, url) => {
  expect(checkUrl(text, '--url')).toBe(url);
});

test.each([
  '',
  'example.com',
  'ftp://example.com',
  'https://a:b@example.com',
  'https://example.com/?a',
  'https://example.com/#a',
])('%j is not the address of a service', (text) => {
  expect(() => checkUrl(text, '--url')).toThrow('--url must be an address');
});
