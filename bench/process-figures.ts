/** Processor time and memory of a process, from `/proc`. They are null on systems without it. */
import { readFileSync } from 'node:fs';

/** Linux counts processor time in ticks of 10 ms. */
const TICK_MS = 10;
const KILOBYTES_PER_MB = 1_024;

/** Returns the processor time of all threads so far. */
export function cpuMsOf(pid: number | undefined): number | null {
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  return fields === undefined ? null : (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

export function memoryMbOf(pid: number | undefined): number | null {
  return megabytesIn(pid, /VmRSS:\s+(\d+) kB/);
}

/** Returns the largest memory use since the start of the process. */
export function peakMemoryMbOf(pid: number | undefined): number | null {
  return megabytesIn(pid, /VmHWM:\s+(\d+) kB/);
}

function megabytesIn(pid: number | undefined, field: RegExp): number | null {
  const kilobytes = field.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) / KILOBYTES_PER_MB;
}

/** Returns null if one of the numbers is null. */
export function sumOf(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((sum, each) => (sum === null || each === null ? null : sum + each), 0);
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
