/** Processor time and memory of a process, from `/proc`. They are null on systems without it. */
import { readFileSync } from 'node:fs';

/** Linux counts processor time in ticks of 10 ms. */
const TICK_MS = 10;
const KILOBYTES_PER_MB = 1_024;
const NANOS_PER_MS = 1e6;

/** Where `/proc/PID/stat` has the parent, and the processor time of the process and of its children that ended. */
const PARENT = 1;
const OWN_TIMES = [11, 12];
const ENDED_CHILDREN_TIMES = [13, 14];

/** Returns the processor time of all threads so far. */
export function cpuMsOf(pid: number | undefined): number | null {
  return timesOf(pid, OWN_TIMES);
}

/** Returns the processor time so far of a process and of all its children, also of those that have ended. */
export function familyCpuMsOf(pid: number | undefined): number | null {
  const children = read(`/proc/${pid}/task/${pid}/children`)?.trim().split(' ').filter(Boolean) ?? [];
  const parentMs = timesOf(pid, [...OWN_TIMES, ...ENDED_CHILDREN_TIMES]);
  // A child that has ended since it was listed counts the next time, with those that ended.
  return parentMs === null
    ? null
    : children.reduce((sum, child) => sum + (runMsOf(`/proc/${child}`) ?? 0), parentMs);
}

/** Returns the processor time of one thread so far, or of the main thread of a process. It is exact. */
export function runMsOf(path: string): number | null {
  const nanoseconds = read(`${path}/schedstat`)?.split(' ')[0];
  return nanoseconds === undefined ? null : Number(nanoseconds) / NANOS_PER_MS;
}

export function parentOf(pid: number): number | null {
  const parent = statOf(pid)?.[PARENT];
  return parent === undefined ? null : Number(parent);
}

function timesOf(pid: number | undefined, positions: readonly number[]): number | null {
  const fields = statOf(pid);
  return fields === null ? null : positions.reduce((sum, n) => sum + Number(fields[n]), 0) * TICK_MS;
}

/** The fields after the name of the program, which may contain spaces. */
function statOf(pid: number | undefined): readonly string[] | null {
  return read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ') ?? null;
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
