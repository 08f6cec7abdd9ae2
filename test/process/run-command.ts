/**
 * `sched` without a process: the command runs in the thread of the test and writes to strings. A process costs half a
 * second of processor time, a service a whole one. Only tests of signals, exits and real streams need them: those use
 * `sched-process.ts`.
 *
 *     const { code, stdout, stderr } = await runCommand(['key', 'list'], { dataDir });
 *     await using service = await startInThread({ dataDir });
 */
import { type ServiceIo, startService } from '#src/app/service.ts';
import type { Settings } from '#src/app/settings.ts';
import { runCommand as run } from '#src/cli/main.ts';
import { systemLog } from '#src/system/log.ts';
import {
  type Finished,
  LIVE_KEY,
  type Output,
  printed,
  type SchedOptions,
  startSched,
  TEST_KEY,
  temporaryDirectory,
} from './sched-process.ts';
import { NODES, NODES_ARE_PROCESSES, storeSettings } from './store-in-use.ts';

/** The service of a test, in a thread or in processes. */
export interface RunningService {
  /** With several nodes, each read returns the URL of the next one. */
  readonly url: string;
  /** The URLs of all nodes. */
  readonly urls: readonly string[];
  readonly dataDir: string;
  /** The output so far. */
  readonly output: Output;
  stop(): Promise<Pick<Finished, 'code'>>;
}

export interface ServiceInThread extends RunningService, AsyncDisposable {
  /** Keys that the first start printed. */
  readonly testKey: string;
  readonly liveKey: string;
  /** Resolves with what `sched serve` returned. */
  stop(): Promise<Finished>;
}

/** The time and the network of a service in the thread of the tests. The default is those of the machine. */
export type ServicePorts = Pick<ServiceIo, 'clock' | 'timers' | 'network'>;

/** Collects text. With a number of columns it claims to be a terminal. */
class Collector {
  readonly isTTY: boolean;
  readonly columns: number;
  text = '';

  constructor(columns?: number) {
    this.isTTY = columns !== undefined;
    this.columns = columns ?? 0;
  }

  write(text: string): boolean {
    this.text += text;
    return true;
  }
}

/** Runs a command to its end. A service that manages to start is stopped at once. */
export async function runCommand(args: readonly string[], options: SchedOptions = {}): Promise<Finished> {
  const { dataDir = temporaryDirectory(), env } = options;
  return new Command([...args, ...(options.args ?? [])], { ...(await storeSettings(dataDir)), ...env }).run();
}

/** Runs a command to its end. It sees these environment variables and no other, and a terminal of `columns` if given. */
export function runCommandWith(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  columns?: number,
): Promise<Finished> {
  return new Command(args, env, columns === undefined ? {} : { columns }).run();
}

/**
 * Starts the service in the thread of the tests, which costs least. Several nodes share the thread and the modules. With
 * `SCHED_TEST_PROCESSES=true`, as in `npm run test:cluster`, they are processes. Only a thread can be given its own ports.
 */
export function startCheapest(options: SchedOptions, ports?: ServicePorts): Promise<RunningService> {
  if (NODES === 1) return startInThread(options, ports);
  return NODES_ARE_PROCESSES && ports === undefined
    ? startSched(options)
    : startNodesInThread(options, ports);
}

async function startNodesInThread(options: SchedOptions, ports?: ServicePorts): Promise<RunningService> {
  const { dataDir = temporaryDirectory() } = options;
  const start = () => startInThread({ ...options, dataDir }, ports);
  const nodes = await Promise.all(Array.from({ length: NODES }, start));
  const urls = nodes.map(({ url }) => url);
  let turn = 0;
  return {
    get url() {
      turn += 1;
      return urls[turn % urls.length] ?? '';
    },
    urls,
    dataDir,
    output: {
      get stdout() {
        return nodes.map(({ output }) => output.stdout).join('');
      },
      get stderr() {
        return nodes.map(({ output }) => output.stderr).join('');
      },
    },
    async stop() {
      const finished = await Promise.all(nodes.map((node) => node.stop()));
      return { code: finished.find(({ code }) => code !== 0)?.code ?? 0 };
    },
  };
}

/** Starts the service and waits until it listens. */
export async function startInThread(
  options: SchedOptions = {},
  ports: ServicePorts = {},
): Promise<ServiceInThread> {
  const { dataDir = temporaryDirectory(), args = [] } = options;
  const env = { ...(await storeSettings(dataDir)), SCHED_PORT: '0', ...options.env };
  const command = new Command(['serve', ...args], env, ports);
  const [started, stopAsked] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const finished = command.run((url) => {
    started.resolve(url);
    return stopAsked.promise;
  });
  const url = await Promise.race([started.promise, finished.then(unexpectedEnd)]);
  const stop = () => {
    stopAsked.resolve();
    return finished;
  };
  return {
    url,
    urls: [url],
    dataDir,
    output: command,
    get testKey() {
      return printed(command, TEST_KEY);
    },
    get liveKey() {
      return printed(command, LIVE_KEY);
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

function unexpectedEnd({ code, stdout, stderr }: Finished): never {
  throw new Error(`sched serve ended with exit code ${code} before it listened.\n${stdout}${stderr}`);
}

type WhileListening = (url: string) => Promise<void>;

class Command implements Output {
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #ports: ServicePorts;
  readonly #stdout: Collector;
  readonly #stderr: Collector;

  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    { columns, ...ports }: ServicePorts & { readonly columns?: number } = {},
  ) {
    this.#args = args;
    this.#env = env;
    this.#ports = ports;
    this.#stdout = new Collector(columns);
    this.#stderr = new Collector(columns);
  }

  get stdout(): string {
    return this.#stdout.text;
  }

  get stderr(): string {
    return this.#stderr.text;
  }

  /** A service that listens runs until `whileListening` ends. */
  async run(whileListening: WhileListening = async () => {}): Promise<Finished> {
    const code = await run(this.#args, {
      env: this.#env,
      stdout: this.#stdout,
      stderr: this.#stderr,
      serve: (settings) => this.#serve(settings, whileListening),
    });
    return { code, stdout: this.stdout, stderr: this.stderr };
  }

  async #serve(settings: Settings, whileListening: WhileListening): Promise<void> {
    const lines = { write: (line: string) => this.#stderr.write(line), flush: () => {} };
    const print = (text: string) => void this.#stdout.write(text);
    const log = systemLog(settings.logLevel, lines);
    const service = await startService(settings, { print, log, ...this.#ports });
    try {
      print(`Sched listens on ${service.url}\n`);
      await whileListening(service.url);
    } finally {
      await service.stop();
    }
  }
}
