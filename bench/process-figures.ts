/** What the system tells of a process; null where it does not tell. */
import { readFileSync } from 'node:fs';

/** Linux counts processor time in ticks of 10 ms. */
const TICK_MS = 10;
const KILOBYTES_PER_MB = 1_024;

/** Processor time used so far, all threads. */
export function cpuMsOf(pid: number | undefined): number | null {
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  return fields === undefined ? null : (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Memory in use. */
export function memoryMbOf(pid: number | undefined): number | null {
  return megabytesIn(pid, /VmRSS:\s+(\d+) kB/);
}

/** The most memory that was in use at one time since the process began. */
export function peakMemoryMbOf(pid: number | undefined): number | null {
  return megabytesIn(pid, /VmHWM:\s+(\d+) kB/);
}

function megabytesIn(pid: number | undefined, field: RegExp): number | null {
  const kilobytes = field.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) / KILOBYTES_PER_MB;
}

/** Null where one of them is not known. */
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
