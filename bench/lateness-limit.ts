/** The limit of `lateness.ts`, a process of its own: a timer for each request and the same client, no store. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'undici';

export interface LimitOrder {
  readonly url: string;
  readonly dues: readonly number[];
}

const agent = new Agent({
  connect: { ca: readFileSync(join(import.meta.dirname, '../test/certificates/ca.pem')) },
  keepAliveTimeout: 60_000,
});

async function fire(url: string, due: number): Promise<void> {
  const { body } = await agent.request({
    origin: new URL(url).origin,
    path: new URL(url).pathname,
    method: 'POST',
    headers: { 'X-Due': String(due), 'content-type': 'application/json' },
    body: '{"n":1}',
  });
  await body.dump();
}

process.on('message', ({ url, dues }: LimitOrder) => {
  let left = dues.length;
  for (const due of dues) {
    setTimeout(() => {
      void fire(url, due).finally(() => {
        left--;
        if (left === 0) process.send?.('done');
      });
    }, due - Date.now());
  }
});
process.on('disconnect', () => process.exit(0));
