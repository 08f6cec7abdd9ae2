/**
 * Runs commands of a shell in the thread of the tests. A process of `sched` costs a fifth of a second of processor
 * time, and the pages have dozens of commands. The first command of each kind is a process all the same, and so is
 * every command that reads a pipe, a file or a captured request: see `npxScript`.
 *
 * A request is a list of texts that each end with a zero byte: the number of words, the words, the environment, and an
 * empty text. The answer is the exit code, standard output and standard error, each ended by a zero byte.
 */
import { mkdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { runCommandWith } from '#test/process/run-command.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { ROOT } from './pages.ts';

/** These commands use nothing of the process but its environment and folder, unless their input is a pipe. */
const IN_THREAD = ['schedules', 'deliveries', 'attempts', 'endpoints', 'preview', 'context', 'key', 'secret'];

export interface CommandServer extends AsyncDisposable {
  /** A program that runs `npx sched …`. */
  readonly npxScript: string;
}

export async function startCommandServer(): Promise<CommandServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    npxScript: npxScript(port),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serve(socket: Socket): void {
  let text = '';
  socket.setEncoding('utf8').on('error', () => {});
  socket.on('data', (more: string) => {
    text += more;
    if (text.endsWith('\0\0')) void answer(socket, text.split('\0').slice(0, -2));
  });
}

async function answer(socket: Socket, [count = '0', ...texts]: readonly string[]): Promise<void> {
  const pairs = texts.slice(Number(count)).map((text): [string, string] => {
    const at = text.indexOf('=');
    return [text.slice(0, at), text.slice(at + 1)];
  });
  const env = Object.fromEntries(pairs);
  const { PWD: folder = '', SCHED_DATA_DIR: dataDir = 'data' } = env;
  const { code, stdout, stderr } = await runCommandWith(
    { ...env, SCHED_DATA_DIR: resolve(folder, dataDir) },
    texts.slice(0, Number(count)),
  );
  socket.end(`${code}\0${stdout}\0${stderr}\0`);
}

/** The service becomes the process of the script, so that the shell sees when it ends. */
function npxScript(port: number): string {
  const seen = join(temporaryDirectory(), 'seen');
  mkdirSync(seen);
  return `#!/bin/bash
[ "$1" = sched ] || exit 1
shift
as_process() { exec node '${ROOT}/bin/sched.js' "$@"; }
case "$1" in ${IN_THREAD.join('|')}) ;; *) as_process "$@" ;; esac
[ -p /dev/stdin ] && as_process "$@"
[[ " $*" == *' @'* ]] && as_process "$@"
mkdir "${seen}/$1" 2>/dev/null && as_process "$@"
exec 9<>/dev/tcp/127.0.0.1/${port}
{ printf '%s\\0' "$#" "$@"; env -0; printf '\\0'; } >&9
export LC_ALL=C
IFS= read -r -d '' code <&9
IFS= read -r -d '' stdout <&9
IFS= read -r -d '' stderr <&9
printf %s "$stdout"
printf %s "$stderr" >&2
exit "\${code:-1}"
`;
}
