/** The real service delivers to a real receiver that deduplicates. All work is done exactly once. */
import { rmSync } from 'node:fs';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sched } from '#sdk/index.ts';
import { receiver } from '#sdk/receiver/express.ts';
import { MemoryStore, type NotVerified, type ReceivedDelivery } from '#sdk/receiver/index.ts';
import { given, SIGNING_SECRET, startService, TEST_KEY } from '#test/delivery/harness.ts';
import { waitForEnd } from '#test/delivery/waits.ts';
import { Api } from '#test/e2e/client.ts';
import { replayed } from '#test/e2e/expectations.ts';
import type { SchedProcess } from '#test/process/sched-process.ts';
import { type Running, serve } from './adapter-servers.ts';

let sched: SchedProcess;
let server: Running;
const api = Api.at(() => sched.url).as(TEST_KEY);
const refusals: NotVerified[] = [];
const handled: ReceivedDelivery[] = [];
const BODY = '{ "text": "Grüße" }\n';
const AT_ONCE = { base: '20ms', factor: 1 };

function handle(delivery: ReceivedDelivery): void {
  if (delivery.path.endsWith('/throws') && delivery.attempt === 1) throw new Error('not now');
  handled.push(delivery);
}

/** Does the work and loses the answer. */
const loseFirstAnswer: express.RequestHandler = (req, res, next) => {
  if (req.headers['sched-attempt'] === '1') res.end = () => res.destroy();
  next();
};

beforeAll(async () => {
  const hooks = express.Router();
  const receive = receiver({
    secret: SIGNING_SECRET,
    handle,
    deduplicate: new MemoryStore(),
    onRejected: (refusal) => refusals.push(refusal),
  });
  hooks.use('/lost', loseFirstAnswer);
  hooks.all('/*hook', receive);
  const app = express();
  app.use('/hooks', hooks);
  app.use((_error: unknown, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
    res.sendStatus(500);
  });
  server = await serve(app);
  sched = await startService();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await sched.stop();
  rmSync(sched.dataDir, { recursive: true, force: true });
});

async function delivered(path: string, body: object = {}) {
  const endpoint = `http://127.0.0.1:${server.port}/hooks${path}`;
  const { pending } = await given(api, { endpoint, body: BODY, delay: '1s', retry_policy: AT_ONCE, ...body });
  return waitForEnd(api, pending.id);
}

function handledBy(deliveryId: string): readonly number[] {
  return handled.filter((each) => each.deliveryId === deliveryId).map(({ attempt }) => attempt);
}

describe.concurrent('a delivery of the service', () => {
  it('verifies and is handled', async () => {
    const { delivery, attempts } = await delivered('/a%20b?tenant=7');
    expect(attempts.map(({ status_code }) => status_code)).toEqual([204]);
    const got = handled.find(({ deliveryId }) => deliveryId === delivery.id);
    expect(got).toMatchObject({ idempotencyKey: delivery.idempotency_key, path: '/hooks/a%20b' });
    expect(got?.text()).toBe(BODY);
  });

  it('arrives as JSON if it was created with json, unless the endpoint profile has another type', async () => {
    const { schedules, endpoints } = new Sched({ url: sched.url, apiKey: TEST_KEY });
    const url = `http://127.0.0.1:${server.port}/hooks/json`;
    const type = 'application/cloudevents+json';
    const profile = await endpoints.create({ url, headers: { 'Content-Type': type } });
    const json = { text: 'Grüße' };
    const made = [
      await schedules.create({ endpoint: url, delay: 1_000, json }),
      await schedules.create({ endpoint_id: profile.id, delay: 1_000, json }),
    ];
    const types = made.map(async ({ id }) => {
      const [pending] = await schedules.deliveries(id).toArray(1);
      const { delivery } = await waitForEnd(api, pending?.id ?? '');
      const got = handled.find(({ deliveryId }) => deliveryId === delivery.id);
      expect(got?.json()).toEqual(json);
      return got?.headers.get('content-type');
    });
    expect(await Promise.all(types)).toEqual(['application/json', type]);
  });

  it.each(['GET', 'DELETE'])('verifies as %s without a body', async (method) => {
    const { attempts } = await delivered(`/${method}`, { method, body: null });
    expect(attempts.map(({ status_code }) => status_code)).toEqual([204]);
  });

  it('is handled by the retry if the handler threw', async () => {
    const { delivery, attempts } = await delivered('/throws');
    expect(delivery.status).toBe('succeeded');
    expect(attempts.map(({ status_code }) => status_code)).toEqual([500, 204]);
    expect(handledBy(delivery.id)).toEqual([2]);
  });

  it('is handled once if the answer was lost, and its replay is not handled', async () => {
    const { delivery, attempts } = await delivered('/lost');
    expect(delivery.status).toBe('succeeded');
    expect(attempts.map(({ status_code }) => status_code)).toEqual([null, 200]);
    expect(handledBy(delivery.id)).toEqual([1]);

    const replay = await waitForEnd(api, (await replayed(api, delivery.id)).id);
    expect(replay.delivery.status).toBe('succeeded');
    expect(handledBy(replay.delivery.id)).toEqual([]);
  });
});

it('is never refused', () => {
  expect(refusals).toEqual([]);
});
