/**
 * `sched` without a process: the command runs in the thread of the test and writes to strings. A process costs half a
 * second of processor time, a service a whole one. Only tests of signals, exits and real streams need them: those use
 * `sched-process.ts`.
 */
import { startService } from '#src/app/service.ts';
import type { Settings } from '#src/app/settings.ts';
import { runCommand as run } from '#src/cli/main.ts';
import { systemLog } from '#src/system/log.ts';
import { type Finished, type SchedOptions, temporaryDirectory } from './sched-process.ts';
import { storeSettings } from './store-in-use.ts';

/** Collects text as a pipe does. */
class Pipe {
  text = '';

  write(text: string): boolean {
    this.text += text;
    return true;
  }
}

/** Runs a command to its end. A service that manages to start is stopped at once. */
export async function runCommand(args: readonly string[], options: SchedOptions = {}): Promise<Finished> {
  const dataDir = options.dataDir ?? temporaryDirectory();
  const env = { ...(await storeSettings(dataDir)), ...options.env };
  const [stdout, stderr] = [new Pipe(), new Pipe()];
  const code = await run([...args, ...(options.args ?? [])], {
    env,
    stdout,
    stderr,
    serve: (settings) => startAndStop(settings, stdout, stderr),
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

async function startAndStop(settings: Settings, stdout: Pipe, stderr: Pipe): Promise<void> {
  const lines = { put: (line: string) => stderr.write(line), flush: () => {} };
  const io = { print: (text: string) => void stdout.write(text), log: systemLog(settings.logLevel, lines) };
  const service = await startService(settings, io);
  io.print(`Sched listens on ${service.url}\n`);
  await service.stop();
}
