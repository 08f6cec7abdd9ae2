/** Runs `sched dev` until it has sent a delivery to its own inbox, then stops it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DEV_TEST_KEY } from '#src/app/dev/keys.ts';

const LISTENS = /^Sched listens on (\S+)$/m;
const SUCCEEDED = /attempt 1 .* succeeded/;

export interface Program {
  readonly command: string;
  /** The arguments before those of Sched. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export async function sendFirstDelivery({ command, args, cwd, env }: Program): Promise<void> {
  const dev = spawn(command, [...args, 'dev', '--port', '0'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(dev, 'exit');
  try {
    let said = '';
    let isCreated = false;
    for await (const part of dev.stdout) {
      said += String(part);
      const url = LISTENS.exec(said)?.[1];
      if (url !== undefined && !isCreated) {
        isCreated = true;
        await create(url);
      }
      if (SUCCEEDED.test(said)) return;
    }
    throw new Error(`Sched sent no delivery.\n${said}`);
  } finally {
    dev.kill('SIGTERM');
    await exited;
  }
}

async function create(url: string): Promise<void> {
  const answer = await fetch(`${url}/v1/schedules`, {
    method: 'POST',
    headers: { authorization: `Bearer ${DEV_TEST_KEY}` },
    body: JSON.stringify({ endpoint: `${url}/inbox/hook`, delay: '1s' }),
  });
  if (!answer.ok) throw new Error(`Sched answered ${answer.status}.`);
}
