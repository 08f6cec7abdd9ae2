import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { LineWriter } from './line-writer.ts';

/** A file to write to, and what is in it. */
function openTestFile() {
  const directory = mkdtempSync(join(tmpdir(), 'sched-lines-'));
  const path = join(directory, 'lines');
  const fd = openSync(path, 'a');
  return {
    fd,
    text: () => readFileSync(path, 'utf8'),
    [Symbol.dispose]() {
      closeSync(fd);
      rmSync(directory, { recursive: true });
    },
  };
}

test('a line alone is written after a moment, by itself', async () => {
  using file = openTestFile();
  new LineWriter(file.fd).put('alone: \u00e9\n');
  expect(file.text()).toBe('');
  await vi.waitFor(() => expect(file.text()).toBe('alone: \u00e9\n'));
});

test('many lines arrive all, once and in order', async () => {
  using file = openTestFile();
  const writer = new LineWriter(file.fd);
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i} of many\n`);
  for (const line of lines) writer.put(line);
  await vi.waitFor(() => expect(file.text()).toBe(lines.join('')));
});

test('what is held is written by the time flush returns', () => {
  using file = openTestFile();
  const writer = new LineWriter(file.fd);
  writer.put('last words\n');
  writer.flush();
  expect(file.text()).toBe('last words\n');
});

test('lines that find too much waiting are left out', async () => {
  using file = openTestFile();
  const writer = new LineWriter(file.fd);
  const megabyte = `${'x'.repeat(1_048_575)}\n`;
  // The first is under way; nothing of what follows is taken on before this turn of the loop is over.
  const taken = Array.from({ length: 20 }, () => writer.put(megabyte));
  expect(taken.indexOf(false)).toBe(17);
  await vi.waitFor(() => expect(file.text().length).toBe(17 * megabyte.length));
});

test('nobody reading is no failure', () => {
  const { status } = spawnSync(process.execPath, ['--eval', ENDLESS_TALK], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(status).toBe(0);
});

const ENDLESS_TALK = `
  import { closeSync } from 'node:fs';
  const { LineWriter } = await import(${JSON.stringify(join(import.meta.dirname, 'line-writer.ts'))});
  const writer = new LineWriter(2);
  closeSync(2);
  writer.put('x'.repeat(100_000));
  writer.put('to nobody');
  setTimeout(() => writer.flush(), 300);
`;
