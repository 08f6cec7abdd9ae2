/**
 * For `node --import`: the clock of this process alone is away from that of the machine, by as many ms as
 * stand in a file, read at the start and again at each SIGUSR2. Timers and `performance` know nothing of it,
 * as with a clock that somebody sets.
 */
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const MachineDate = Date;
const file = process.env.SCHED_TEST_CLOCK_FILE ?? '';
let offsetMs = Number(readFileSync(file, 'utf8'));
let steps = 0;

class ShiftedDate extends MachineDate {
  constructor(...given: [] | [number]) {
    if (given.length === 0) super(ShiftedDate.now());
    else super(...given);
  }

  static override now(): number {
    return MachineDate.now() + offsetMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;

if (isMainThread) {
  process.on('SIGUSR2', () => {
    offsetMs = Number(readFileSync(file, 'utf8'));
    steps += 1;
    process.stdout.write(`Clock step ${steps}: ${offsetMs} ms away.\n`);
  });
}
