/**
 * A clock that a test can set for a process that does not know of it. This module is imported before the service
 * (`node --import`) and shifts `Date`. The offset is in a file. SIGUSR2 makes the process read it again, and a line on
 * standard error says when that is done. Timers are not affected, just as when somebody sets the clock of a
 * machine.
 */
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env.SHIFTED_CLOCK_FILE ?? '';
const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);
let offsetMs = readOffset();
let steps = 0;

function readOffset(): number {
  const read = Number(readFileSync(file, 'utf8'));
  if (!Number.isSafeInteger(read)) throw new Error(`${file} holds no offset.`);
  return read;
}

RealDate.now = () => realNow() + offsetMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now()] : args, newTarget) as object,
  apply: () => new RealDate(RealDate.now()).toString(),
});

if (isMainThread) {
  process.on('SIGUSR2', () => {
    offsetMs = readOffset();
    steps += 1;
    process.stderr.write(`Clock step ${steps}: ${offsetMs} ms away.\n`);
  });
}
