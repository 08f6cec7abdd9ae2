/**
 * Runs the blocks of one page in one bash, as a reader would. Variables and `cd` carry over between blocks. The first
 * failing command ends the session.
 *
 * The folder of the session is a checkout made of links to this one, so that files which a page writes (such as
 * `./data`) do not reach this checkout. Some parts of a page are replaced:
 *
 * - `http://127.0.0.1:8080` is the service that was started last, on a free port. The command line finds it by SCHED_URL
 *   and SCHED_API_KEY. With `settings: 'none'`, neither these nor the port are set.
 * - `postgres://…` is an empty database of the test, a different one in each section of the page.
 * - `npm ci` does nothing, because the packages of this checkout are installed.
 * - `npm install` runs in an empty project beside the checkout, without a registry. `/tmp` is a folder of the session.
 * - `npx sched` is a program of the test, because npx takes a second to find the command. `npx: null` is the real one.
 * - curl fails if the answer is an error, because a reader would notice that.
 *
 * A command that runs until it is stopped (`npx sched dev`, `npm start`) runs in the background of the session.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { DEV_TEST_KEY, DEV_URL } from '#src/app/dev/keys.ts';
import { atEndOfRun } from '#test/end-of-run.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { ROOT } from './pages.ts';

const SERVICE = /^(npm start|npm run dev|npx sched (dev|serve))\b/;
const LISTENS = /^Sched listens on (http:\/\/\S+)$/m;
const PRINTED_KEY = /\bsk_test_\w+/;
const TEMPORARY = /(?<=[\s=])\/tmp\b/g;
const BLOCK_MS_MAX = 90_000;
const POLL_MS = 20;
const END_MS_MAX = 5_000;
/** Files that a checkout gets when it is used. They are not linked. */
const NOT_LINKED = new Set(['data', '.git', 'coverage']);

/** Process groups, because a command of npx is the child of a child. They all end with the test run. */
const running = new Set<number>();
atEndOfRun(() => {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
});

export interface SessionOptions {
  /** The service that runs before the page starts one. */
  readonly url: string;
  /** A program that replaces npx. Null: the real one. */
  readonly npx: string | null;
  readonly settings: 'ours' | 'none';
  readonly databaseUrl: (place: string) => Promise<string>;
}

export class Session implements AsyncDisposable {
  readonly folder: string;
  #url: string;
  #blocks = 0;
  readonly #options: SessionOptions;
  readonly #shell: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #services: number[] = [];
  #output = '';
  #answers = '';

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#url = options.url;
    const home = temporaryDirectory();
    this.folder = join(home, 'sched');
    linkCheckout(this.folder);
    for (const name of ['project', 'tmp', 'bin']) mkdirSync(join(home, name));
    writeFileSync(join(home, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n');
    if (options.npx !== null) writeFileSync(join(home, 'bin/npx'), options.npx, { mode: 0o755 });
    this.#shell = spawn('bash', ['--noprofile', '--norc'], {
      cwd: this.folder,
      env: environment(home, options),
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    this.#exited = once(this.#shell, 'close');
    for (const stream of [this.#shell.stdout, this.#shell.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    (this.#shell.stdio[3] as NodeJS.ReadableStream).setEncoding('utf8').on('data', (text: string) => {
      this.#answers += text;
    });
    this.#shell.stdin?.on('error', () => undefined);
    this.#send(`set -emo pipefail\n${READERS_NPM}`);
  }

  /** The address of the service that was started last. */
  get url(): string {
    return this.#url;
  }

  /** Runs the commands of a block. A failure is reported with the whole output. */
  async run(text: string, section: string): Promise<void> {
    const lines = (await this.#standIns(text, section)).trimEnd().split('\n');
    const last = lines.at(-1) ?? '';
    const service = SERVICE.test(last) ? last : null;
    await this.#runLines(service === null ? lines : lines.slice(0, -1));
    if (service !== null) await this.#startService(service);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.#services) signalGroup(pid, 'SIGTERM');
    await until(() => this.#services.every((pid) => !isGroupAlive(pid)), END_MS_MAX);
    for (const pid of this.#services) {
      signalGroup(pid, 'SIGKILL');
      running.delete(pid);
    }
    this.#shell.stdin?.end();
    this.#shell.kill('SIGKILL');
    await this.#exited;
  }

  async #standIns(text: string, section: string): Promise<string> {
    const here = text.replaceAll(DEV_URL, this.#url).replaceAll(TEMPORARY, join(this.folder, '../tmp'));
    const address = /postgres:\/\/[^\s'"]+/g;
    if (!address.test(here)) return here;
    const url = await this.#options.databaseUrl(section);
    return here.replaceAll(address, url);
  }

  async #runLines(lines: readonly string[]): Promise<void> {
    this.#blocks += 1;
    const file = join(this.folder, `../block-${this.#blocks}.sh`);
    writeFileSync(file, `${lines.join('\n')}\n`);
    await this.#answerTo(
      `. '${file}' </dev/null\nprintf 'done ${this.#blocks}\\n' >&3`,
      `done ${this.#blocks}\n`,
    );
  }

  async #startService(command: string): Promise<void> {
    const log = join(this.folder, `../service-${this.#services.length}.log`);
    const answers = await this.#answerTo(
      `${command} >'${log}' 2>&1 </dev/null 3>&- &\nprintf 'pid %s.\\n' "$!" >&3`,
      '.\n',
    );
    const pid = Number(/pid (\d+)\.\n$/.exec(answers)?.[1]);
    this.#services.push(pid);
    running.add(pid);
    const said = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
    await until(() => LISTENS.test(said()) || !isGroupAlive(pid), BLOCK_MS_MAX);
    const url = LISTENS.exec(said())?.[1];
    if (url === undefined) throw new Error(`\`${command}\` does not listen.\n${said()}`);
    this.#url = url;
    if (this.#options.settings === 'none') return;
    // A service prints its keys only at its first start, so a restarted one keeps the earlier keys.
    const key = PRINTED_KEY.exec(said())?.[0];
    this.#send(`export SCHED_URL='${url}'${key === undefined ? '' : ` SCHED_API_KEY='${key}'`}`);
  }

  /** Waits until the shell has written this text to the descriptor of the session. */
  async #answerTo(script: string, ending: string): Promise<string> {
    const from = this.#output.length;
    this.#answers = '';
    this.#send(script);
    const hasEnded = () => this.#shell.exitCode !== null || this.#shell.signalCode !== null;
    const isDone = await until(() => this.#answers.endsWith(ending) || hasEnded(), BLOCK_MS_MAX);
    if (this.#answers.endsWith(ending)) return this.#answers;
    const what = isDone
      ? `It failed with exit code ${this.#shell.exitCode}`
      : `It took more than ${BLOCK_MS_MAX} ms`;
    throw new Error(`${what}.\n${this.#output.slice(from)}`);
  }

  #send(script: string): void {
    this.#shell.stdin?.write(`${script}\n`);
  }
}

const READERS_NPM = `npm() {
  case "$1" in
    ci) [ -d node_modules ] ;;
    install) (cd "$CURL_HOME/project" && command npm "$@") ;;
    *) command npm "$@" ;;
  esac
}`;

function linkCheckout(folder: string): void {
  mkdirSync(folder);
  for (const name of readdirSync(ROOT)) {
    if (!NOT_LINKED.has(name)) symlinkSync(join(ROOT, name), join(folder, name));
  }
}

/** A reader's PATH has the Node of the machine first, and the environment has no settings of the tests. */
function environment(home: string, { url, npx, settings }: SessionOptions): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SCHED|npm|VITEST|NODE)_?/i.test(name));
  const { PATH = '' } = process.env;
  const own = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const hasNode = own.some((folder) => existsSync(join(folder, 'node')));
  const path = npx === null && hasNode ? own : [join(home, 'bin'), join(ROOT, 'node_modules/.bin'), ...own];
  const address = { SCHED_URL: url, SCHED_API_KEY: DEV_TEST_KEY };
  return {
    ...Object.fromEntries(inherited),
    PATH: path.join(delimiter),
    CURL_HOME: home,
    // Programs of the pages import the sources of the SDK. They need not be compiled each time.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    // npx remembers the path of a checkout. The cache of a test must be temporary.
    npm_config_cache: join(home, 'npm'),
    npm_config_offline: 'true',
    npm_config_audit: 'false',
    // The tests of the SDK check the build.
    npm_config_ignore_scripts: 'true',
    XDG_CONFIG_HOME: join(home, 'config'),
    ...(settings === 'ours' ? { SCHED_PORT: '0', ...address } : {}),
  };
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended by itself.
  }
}

function isGroupAlive(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

async function until(isSo: () => boolean, msMax: number): Promise<boolean> {
  const end = performance.now() + msMax;
  while (!isSo()) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}
