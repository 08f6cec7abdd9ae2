/** What a running process takes of the machine, where the system tells. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Footprint {
  readonly memoryMb: number;
  readonly files: number;
}

const KB_PER_MB = 1_024;

/** Null on systems without /proc. */
export function footprintOf(pid: number): Footprint | null {
  try {
    const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return { memoryMb: Math.round(Number(kb) / KB_PER_MB), files: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return null;
  }
}
