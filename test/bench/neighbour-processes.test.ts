/** The processes of the work `neighbour` that stand for hostile customers. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Agent } from 'undici';
import { describe, expect, test } from 'vitest';
import { HostileReceiver } from '../../bench/neighbour/hostile-receiver.ts';
import { Loads } from '../../bench/neighbour/loads.ts';
import { figuresIn } from '../../bench/neighbour/node-figures.ts';

const CA = readFileSync(join(import.meta.dirname, '../certificates/ca.pem'));
/** It ends long before. */
const LOAD_MS_MAX = 50_000;

describe('the hostile receiver', () => {
  test('answers by the path, and counts the requests of each customer', async () => {
    await using receiver = await HostileReceiver.start();
    const agent = new Agent({ connect: { ca: CA } });
    const statusOf = async (origin: string, path: string) => {
      const { statusCode, body } = await agent.request({ origin, path, method: 'POST', body: 'x' });
      await body.dump();
      return statusCode;
    };
    expect(await statusOf(receiver.url('burst'), '/ok/1')).toBe(200);
    expect(await statusOf(receiver.url('cancel'), '/once/a')).toBe(200);
    expect(await statusOf(receiver.url('cancel'), '/once/a')).toBe(500);
    expect(await statusOf(receiver.url('cancel'), '/once/b')).toBe(200);
    const hanging = agent.request({
      origin: receiver.url('paths'),
      path: '/hang/1',
      method: 'POST',
      body: '',
    });
    hanging.catch(() => undefined);
    await expect.poll(async () => (await receiver.counts()).get('paths')).toBe(1);
    expect(Object.fromEntries(await receiver.counts())).toEqual({ burst: 1, cancel: 3, paths: 1 });
    await agent.destroy();
    await expect(hanging).rejects.toThrow();
  });
});

/** An API in which every list has two pages of one object. */
async function startApi(asked: string[]): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const { method, url = '' } = request;
    asked.push(`${method} ${url}`);
    const isFirst = url.endsWith('cursor=');
    const page = { data: [{ id: 'one' }], has_more: isFirst, next_cursor: isFirst ? 'next' : null };
    response.end(JSON.stringify(page));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('a load', () => {
  const times = () => ({ from: Date.now(), until: Date.now() + LOAD_MS_MAX });

  test('that has nothing left to ask ends, and tells how many requests succeeded', async () => {
    const asked: string[] = [];
    await using api = await startApi(asked);
    await using loads = await Loads.start(['cancel']);
    const order = { customer: 'cancel', urls: [api.url], apiKey: 'k', clients: 1 } as const;
    expect(await loads.run({ ...order, ...times() })).toBe(2);
    expect(asked).toEqual(['GET /v1/schedules?state=active&limit=1', 'POST /v1/schedules/one/cancel']);
  });

  test('that is not understood fails: it would put no load on the service', async () => {
    const server = createServer((_, response) => response.writeHead(404).end('{}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using loads = await Loads.start(['filters']);
    const order = { customer: 'filters', urls: [url], apiKey: 'k', clients: 1 } as const;
    await expect(loads.run({ ...order, ...times() })).rejects.toThrow(/filters: .* was answered 404/);
    server.closeAllConnections();
    server.close();
  });

  test('of lists goes from page to page and from list to list, at every node', async () => {
    const [first, second]: [string[], string[]] = [[], []];
    await using node = await startApi(first);
    await using other = await startApi(second);
    {
      await using loads = await Loads.start(['lists']);
      const order = { customer: 'lists', urls: [node.url, other.url], apiKey: 'k', clients: 2 } as const;
      const running = loads.run({ ...order, ...times() });
      running.catch(() => undefined);
      const within = { timeout: LOAD_MS_MAX };
      for (const list of ['/v1/schedules?', '/v1/deliveries?', '/v1/endpoints?']) {
        await expect.poll(() => first, within).toContain(`GET ${list}limit=100&cursor=next`);
      }
      await expect
        .poll(() => second, within)
        .toContain('GET /v1/deliveries/one/attempts?limit=100&cursor=next');
    }
  });
});

describe('the figures of a node', () => {
  test('come from its metrics', () => {
    const told = '# HELP x\nnodejs_eventloop_lag_max_seconds 0.25\nsched_slots_moved_total{how="lost"} 3';
    expect(figuresIn(told)).toEqual({ slotsLost: 3, eventLoopDelayMaxMs: 250 });
    expect(figuresIn('')).toEqual({ slotsLost: null, eventLoopDelayMaxMs: null });
  });
});
