/** Checks from a thread of its own whether the service stays responsive and small. */
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const PING_EVERY_MS = 5;

export interface HealthMonitor {
  /** The longest time of a `/healthz` request since the last call. */
  slowestMs(): Promise<number>;
  stop(): Promise<unknown>;
}

export function monitorHealth(url: string): HealthMonitor {
  const worker = new Worker(new URL(import.meta.url), { workerData: { pingedUrl: url } });
  return {
    slowestMs: () =>
      new Promise((resolve) => {
        worker.once('message', resolve);
        worker.postMessage('slowest');
      }),
    stop: () => worker.terminate(),
  };
}

if (!isMainThread && parentPort !== null && typeof workerData === 'object' && 'pingedUrl' in workerData) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let slowestMs = 0;
  let since: number | null = null;
  const ping = () => {
    const start = performance.now();
    since = start;
    get(`${workerData.pingedUrl}/healthz`, { agent }, (answer) => {
      answer.resume().on('end', () => {
        slowestMs = Math.max(slowestMs, performance.now() - start);
        since = null;
        setTimeout(ping, PING_EVERY_MS);
      });
    }).on('error', () => setTimeout(ping, PING_EVERY_MS));
  };
  parentPort.on('message', () => {
    // An unanswered request counts with the time that it has taken so far.
    const waiting = since === null ? 0 : performance.now() - since;
    parentPort?.postMessage(Math.max(slowestMs, waiting));
    slowestMs = 0;
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
