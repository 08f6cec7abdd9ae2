/**
 * Generates creates, in a process of its own. Each connection sends its next create as soon as the last one is
 * answered. All bodies differ.
 */
import autocannon from 'autocannon';
import type { Created } from '../contender.ts';
import type { HttpLoad, LoadMessage } from './load.ts';

let sent = 0;

function bodyOf(n: number): string {
  return (
    `{"endpoint":"https://bench.invalid/hooks/reminder","delay":"24h","headers":{"X-Tenant":"acme"},` +
    `"body":"{\\"reminder\\":${n}}","ttl":"24h","metadata":{"team":"billing","invoice":"${n}"}}`
  );
}

async function run(url: string, { apiKey, connections, seconds }: OneLoad): Promise<Created> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: [
      {
        method: 'POST',
        path: '/v1/schedules',
        setupRequest: (request) => {
          sent += 1;
          request.body = bodyOf(sent);
          request.headers = headers;
          return request;
        },
      },
    ],
  });
  return {
    created: result['2xx'],
    failed: result.non2xx + result.errors + result.timeouts,
    seconds: result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}

interface OneLoad {
  readonly apiKey: string;
  readonly connections: number;
  readonly seconds: number;
}

async function load({ urls, apiKey, atOnce, seconds }: HttpLoad): Promise<Created> {
  const results = await Promise.all(
    urls.map((url, n) => run(url, { apiKey, connections: Math.floor((atOnce + n) / urls.length), seconds })),
  );
  const sum = (of: (each: Created) => number) => results.reduce((total, each) => total + of(each), 0);
  return {
    created: sum(({ created }) => created),
    failed: sum(({ failed }) => failed),
    seconds: Math.max(...results.map(({ seconds }) => seconds)),
    p50Ms: sum(({ p50Ms }) => p50Ms) / results.length,
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
  };
}

function send(message: LoadMessage): void {
  process.send?.(message);
}

process.on('message', (command: HttpLoad) => {
  load(command).then(
    (created) => send({ kind: 'done', created }),
    (error: unknown) => send({ kind: 'failed', why: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
