/**
 * The load, in a process of its own: so many connections, each sending its next create as soon as the last
 * one is answered. No two bodies are the same.
 */
import autocannon from 'autocannon';

export interface LoadOrder {
  readonly url: string;
  readonly apiKey: string;
  readonly connections: number;
  readonly seconds: number;
  /** Each request has an `Idempotency-Key`, no two the same. */
  readonly keyed: boolean;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly answered: number;
  /** Answers other than 2xx, and requests without one. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

let sent = 0;

function bodyOf(n: number): string {
  return (
    `{"endpoint":"https://bench.invalid/hooks/reminder","delay":"24h","headers":{"X-Tenant":"acme"},` +
    `"body":"{\\"reminder\\":${n}}","ttl":"24h","metadata":{"team":"billing","invoice":"${n}"}}`
  );
}

async function load({ url, apiKey, connections, seconds, keyed }: LoadOrder): Promise<LoadResult> {
  const run = `${process.pid}-${Date.now()}`;
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
          request.headers = {
            authorization: `Bearer ${apiKey}`,
            'content-type': 'application/json',
            ...(keyed && { 'idempotency-key': `bench-${run}-${sent}` }),
          };
          return request;
        },
      },
    ],
  });
  return {
    perSecond: result['2xx'] / result.duration,
    answered: result['2xx'],
    failed: result.non2xx + result.errors + result.timeouts,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}

process.on('message', (order: LoadOrder) => {
  void load(order).then((result) => process.send?.(result));
});
