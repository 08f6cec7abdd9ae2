/** The resources that a running process uses, where the system reports them. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Footprint {
  readonly memoryMb: number;
  readonly files: number;
}

const KB_PER_MB = 1_024;

/** Returns null on systems without /proc. */
export function footprintOf(pid: number): Footprint | null {
  try {
    const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return { memoryMb: Math.round(Number(kb) / KB_PER_MB), files: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return null;
  }
}
