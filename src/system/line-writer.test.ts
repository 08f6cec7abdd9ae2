import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { LineWriter } from './line-writer.ts';

/** A temporary file and its content. */
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

test('a single line is written after a moment', async () => {
  using file = openTestFile();
  new LineWriter(file.fd).write('alone: \u00e9\n');
  expect(file.text()).toBe('');
  await vi.waitFor(() => expect(file.text()).toBe('alone: \u00e9\n'));
});

test('many lines are all written, once and in order', async () => {
  using file = openTestFile();
  const writer = new LineWriter(file.fd);
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i} of many\n`);
  for (const line of lines) writer.write(line);
  await vi.waitFor(() => expect(file.text()).toBe(lines.join('')));
});

test('buffered lines are written when flush returns', () => {
  using file = openTestFile();
  const writer = new LineWriter(file.fd);
  writer.write('last words\n');
  writer.flush();
  expect(file.text()).toBe('last words\n');
});

test('lines beyond the limit of the buffer are dropped', async () => {
  using file = openTestFile();
  const writer = new LineWriter(file.fd);
  const megabyte = `${'x'.repeat(1_048_575)}\n`;
  // The first line is being written, and no other write starts before the end of this tick.
  const accepted = Array.from({ length: 20 }, () => writer.write(megabyte));
  expect(accepted.indexOf(false)).toBe(17);
  await vi.waitFor(() => expect(file.text().length).toBe(17 * megabyte.length));
});

test('a closed descriptor is not an error', () => {
  const { status } = spawnSync(process.execPath, ['--eval', WRITES_TO_CLOSED], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(status).toBe(0);
});

const WRITES_TO_CLOSED = `
  import { closeSync } from 'node:fs';
  const { LineWriter } = await import(${JSON.stringify(join(import.meta.dirname, 'line-writer.ts'))});
  const writer = new LineWriter(2);
  closeSync(2);
  writer.write('x'.repeat(100_000));
  writer.write('not read');
  setTimeout(() => writer.flush(), 300);
`;
