import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '#test/process/sched-process.ts';

const END_OF_RUN = join(import.meta.dirname, 'end-of-run.ts');

/** A process that removes a file at its end. A guarded one may not call process.exit, as a worker of vitest. */
const WORKER = `
  import { rmSync } from 'node:fs';
  import { atEndOfRun } from ${JSON.stringify(END_OF_RUN)};
  atEndOfRun(() => rmSync(process.argv[2]));
  if (process.argv[3] === 'guarded') {
    process.exit = () => { throw new Error('process.exit was called'); };
    process.on('uncaughtException', () => {});
  }
  setInterval(() => {}, 1_000);
  process.send('ready');
`;

const ENDS: readonly (readonly [string, (worker: ChildProcess) => void])[] = [
  ['SIGTERM', (worker) => worker.kill('SIGTERM')],
  ['SIGINT', (worker) => worker.kill('SIGINT')],
  ['a parent that is gone', (worker) => worker.disconnect()],
];

for (const guard of ['guarded', 'free'])
  it.concurrent.each(ENDS)(`a worker cleans up and ends, ${guard}: %s`, async (_, end) => {
    const folder = temporaryDirectory();
    const [program, file] = [join(folder, 'worker.ts'), join(folder, 'file')];
    writeFileSync(program, WORKER);
    writeFileSync(file, '');
    const worker = fork(program, [file, guard]);
    await once(worker, 'message');
    expect(existsSync(file)).toBe(true);
    const ended = once(worker, 'exit');
    end(worker);
    await ended;
    expect(existsSync(file)).toBe(false);
  });
