/** Checks from a thread of its own whether the service stays responsive and small. */
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const PING_EVERY_MS = 5;
/** The unit of the times in /proc: a hundredth of a second on every Linux. */
const TICK_MS = 10;

/** The longest `/healthz` request: how long it took, and how much of that the main thread of the service ran. */
export interface SlowestPing {
  readonly ms: number;
  /** A busy machine does not change it, so it shows what the requests cost. Null where the system does not report it. */
  readonly runMs: number | null;
}

export interface HealthMonitor {
  /** The longest times of a `/healthz` request since the last call. */
  slowest(): Promise<SlowestPing>;
  stop(): Promise<unknown>;
}

export function monitorHealth(service: { readonly url: string; readonly pid: number }): HealthMonitor {
  const { url, pid } = service;
  const worker = new Worker(new URL(import.meta.url), { workerData: { pinged: { url, pid } } });
  return {
    slowest: () =>
      new Promise((resolve) => {
        worker.once('message', resolve);
        worker.postMessage('slowest');
      }),
    stop: () => worker.terminate(),
  };
}

/** Of a process, the main thread alone: it has the id of the process. */
function runMsOfMainThread(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8');
    // The name before it may hold spaces; after it, user and system time are the 12th and 13th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return null;
  }
}

if (!isMainThread && parentPort !== null && typeof workerData === 'object' && 'pinged' in workerData) {
  const { url, pid }: { url: string; pid: number } = workerData.pinged;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let slowest: SlowestPing = { ms: 0, runMs: null };
  let current: { readonly start: number; readonly runMs: number | null } | null = null;
  const take = () => {
    if (current === null) return;
    const runMs = runMsOfMainThread(pid);
    slowest = {
      ms: Math.max(slowest.ms, performance.now() - current.start),
      runMs:
        runMs === null || current.runMs === null
          ? slowest.runMs
          : Math.max(slowest.runMs ?? 0, runMs - current.runMs),
    };
  };
  const ping = () => {
    current = { start: performance.now(), runMs: runMsOfMainThread(pid) };
    get(`${url}/healthz`, { agent }, (answer) => {
      answer.resume().on('end', () => {
        take();
        current = null;
        setTimeout(ping, PING_EVERY_MS);
      });
    }).on('error', () => setTimeout(ping, PING_EVERY_MS));
  };
  parentPort.on('message', () => {
    // An unanswered request counts with the time that it has taken so far.
    take();
    parentPort?.postMessage(slowest);
    slowest = { ms: 0, runMs: null };
  });
  ping();
}

export interface Memory {
  readonly residentMb: number;
  readonly peakMb: number;
}

/** Null where the system does not report it. */
export function memoryOf(pid: number): Memory | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const mb = (name: string) =>
      Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
    return { residentMb: mb('VmRSS'), peakMb: mb('VmHWM') };
  } catch {
    return null;
  }
}
