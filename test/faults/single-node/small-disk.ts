/** A file system of a few megabytes that can be filled to its last byte, where one can be mounted. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '#test/process/sched-process.ts';

const SIZE = '16m';
/** Fills the disk to the last page, then to the last byte. */
const PIECES_BYTES = [65_536, 4_096, 1];
const PIECES_MAX = 10_000;

export class SmallDisk implements Disposable {
  readonly directory = temporaryDirectory();
  readonly #ballast = join(this.directory, 'ballast');

  constructor() {
    const options = ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', this.directory];
    execFileSync('mount', options, { stdio: 'ignore' });
  }

  fill(): void {
    const file = openSync(this.#ballast, 'w');
    for (const bytes of PIECES_BYTES) {
      for (let i = 0; i < PIECES_MAX && isWritten(file, bytes); i++);
    }
    closeSync(file);
  }

  free(): void {
    rmSync(this.#ballast);
  }

  [Symbol.dispose](): void {
    execFileSync('umount', [this.directory], { stdio: 'ignore' });
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function isWritten(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes)) > 0;
  } catch {
    return false;
  }
}
