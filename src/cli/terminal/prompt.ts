/**
 * Prompts at a terminal. They are written to standard error, because standard output is for answers. A secret is read
 * key by key with the echo of the terminal switched off. Node restores the echo when the process is interrupted or
 * terminated, and this file restores it on SIGHUP. After SIGKILL the echo stays off.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CommandFailure, EXIT, wrongUsage } from '#src/cli/failure.ts';

const SECRET_CHARACTERS_MAX = 1_000;
const PASTE_CHARACTERS_MAX = 1_048_576;

const KEY = { interrupt: '\u0003', end: '\u0004', clear: '\u0015', backspace: ['\u0008', '\u007f'] } as const;

export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Reads a secret without showing it. */
export async function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  using _ = restoreOnHangUp();
  // The echo is switched off before the prompt appears, so that even the fastest typing is not shown.
  stdin.setRawMode(true).setEncoding('utf8').resume();
  stderr.write(question);
  try {
    let secret = '';
    for (;;) {
      const [chunk] = (await once(stdin, 'data')) as [string];
      for (const key of chunk) {
        if (key === KEY.interrupt) throw new CommandFailure('interrupted', EXIT.interrupted);
        if (key === '\r' || key === '\n' || key === KEY.end) return secret;
        secret = applyKey(secret, key);
      }
      if (secret.length > SECRET_CHARACTERS_MAX)
        throw wrongUsage(`The input has more than ${SECRET_CHARACTERS_MAX} characters.`);
    }
  } finally {
    stdin.setRawMode(false).pause();
    stderr.write('\n');
  }
}

/** Restores the terminal on SIGHUP, and then sends the signal again for its usual effect. */
function restoreOnHangUp(): Disposable {
  const hangUp = () => {
    process.stdin.setRawMode(false);
    process.kill(process.pid, 'SIGHUP');
  };
  process.once('SIGHUP', hangUp);
  return { [Symbol.dispose]: () => process.off('SIGHUP', hangUp) };
}

function applyKey(secret: string, key: string): string {
  if (key === KEY.clear) return '';
  return KEY.backspace.some((each) => each === key) ? secret.slice(0, -1) : secret + key;
}

/** Reads lines until Ctrl-D. Readline is needed, because a terminal itself cuts lines at 4,095 bytes. */
export async function askLines(request: string): Promise<string> {
  const { stdin: input, stderr: output } = process;
  output.write(request);
  using _ = restoreOnHangUp();
  const lines = createInterface({ input, output, terminal: true, historySize: 0, prompt: '' });
  const given: string[] = [];
  let characters = 0;
  let failure: CommandFailure | null = null;
  const fail = (why: CommandFailure) => {
    failure = why;
    lines.close();
  };
  lines.on('SIGINT', () => fail(new CommandFailure('interrupted', EXIT.interrupted)));
  lines.on('line', (line) => {
    given.push(line);
    characters += line.length + 1;
    if (characters > PASTE_CHARACTERS_MAX)
      fail(wrongUsage(`The input has more than ${PASTE_CHARACTERS_MAX} characters.`));
  });
  await once(lines, 'close');
  if (failure !== null) throw failure;
  return given.join('\n');
}
