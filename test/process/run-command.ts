/**
 * `sched` without a process: the command runs in the thread of the test and writes to strings. A process costs half a
 * second of processor time, a service a whole one. Only tests of signals, exits and real streams need them: those use
 * `sched-process.ts`.
 *
 *     const { code, stdout, stderr } = await runCommand(['key', 'list'], { dataDir });
 *     await using service = await startInThread({ dataDir });
 */
import { startService } from '#src/app/service.ts';
import type { Settings } from '#src/app/settings.ts';
import { runCommand as run } from '#src/cli/main.ts';
import { systemLog } from '#src/system/log.ts';
import {
  type Finished,
  LIVE_KEY,
  type Output,
  printed,
  type SchedOptions,
  TEST_KEY,
  temporaryDirectory,
} from './sched-process.ts';
import { storeSettings } from './store-in-use.ts';

export interface ServiceInThread extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  /** Keys that the first start printed. */
  readonly testKey: string;
  readonly liveKey: string;
  /** Everything that it has written so far. */
  readonly output: Output;
  /** Resolves with what `sched serve` returned. */
  stop(): Promise<Finished>;
}

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
  return new Command(args, options).finished(async () => {});
}

/** Starts the service and waits until it listens. */
export async function startInThread(options: SchedOptions = {}): Promise<ServiceInThread> {
  const dataDir = options.dataDir ?? temporaryDirectory();
  const env = { SCHED_PORT: '0', ...options.env };
  const command = new Command(['serve'], { ...options, dataDir, env });
  const [started, stopAsked] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const finished = command.finished((url) => {
    started.resolve(url);
    return stopAsked.promise;
  });
  const url = await Promise.race([started.promise, finished.then(unexpectedEnd)]);
  const stop = () => {
    stopAsked.resolve();
    return finished;
  };
  const { output } = command;
  return {
    url,
    dataDir,
    output,
    get testKey() {
      return printed(output, TEST_KEY);
    },
    get liveKey() {
      return printed(output, LIVE_KEY);
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

function unexpectedEnd({ code, stdout, stderr }: Finished): never {
  throw new Error(`sched serve ended with exit code ${code} before it listened.\n${stdout}${stderr}`);
}

class Command {
  readonly #args: readonly string[];
  readonly #options: SchedOptions;
  readonly #stdout = new Pipe();
  readonly #stderr = new Pipe();

  constructor(args: readonly string[], options: SchedOptions) {
    this.#args = [...args, ...(options.args ?? [])];
    this.#options = options;
  }

  get output(): Output {
    const [stdout, stderr] = [this.#stdout, this.#stderr];
    return {
      get stdout() {
        return stdout.text;
      },
      get stderr() {
        return stderr.text;
      },
    };
  }

  /** A service that listens runs until `whileListening` ends. */
  async finished(whileListening: (url: string) => Promise<void>): Promise<Finished> {
    const { env = {}, dataDir = temporaryDirectory() } = this.#options;
    const code = await run(this.#args, {
      env: { ...(await storeSettings(dataDir)), ...env },
      stdout: this.#stdout,
      stderr: this.#stderr,
      serve: (settings) => this.#serve(settings, whileListening),
    });
    return { code, stdout: this.#stdout.text, stderr: this.#stderr.text };
  }

  async #serve(settings: Settings, whileListening: (url: string) => Promise<void>): Promise<void> {
    const lines = { write: (line: string) => this.#stderr.write(line), flush: () => {} };
    const print = (text: string) => void this.#stdout.write(text);
    await using stack = new AsyncDisposableStack();
    const service = await startService(settings, { print, log: systemLog(settings.logLevel, lines) });
    stack.defer(() => service.stop());
    print(`Sched listens on ${service.url}\n`);
    await whileListening(service.url);
  }
}
