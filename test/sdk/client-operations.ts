/** Every operation of the API, called through the client and checked by its effect. */
import { expect, it } from 'vitest';
import { type Delivery, type Endpoint, NotFoundError, type Sched, type Schedule } from '#sdk/index.ts';
import { OPERATIONS, type OperationId } from '#src/api/contract/operations.ts';
import { OK, SERVER_ERROR } from '#test/e2e/drive.ts';
import type { Sched as Service } from '#test/e2e/harness.ts';
import { ONE_SHOT, PROFILE, RECURRING } from '#test/e2e/resources.ts';
import { clientAt, recordingClient, rejection, uniqueMetadata, uniqueName } from './client-calls.ts';

/** The objects that exist before a call. */
interface Given {
  readonly schedule: Schedule;
  /** A delivery that succeeded at its second attempt. */
  readonly delivery: Delivery;
  /** A delivery of a recurring schedule that waits for a retry. */
  readonly waiting: Delivery;
  readonly endpoint: Endpoint;
}

type Check = (sched: Sched, given: Given) => Promise<void>;

const CHECKS: Readonly<Record<OperationId, Check>> = {
  async createSchedule(sched) {
    const metadata = uniqueMetadata();
    const made = await sched.schedules.create({ ...RECURRING, timezone: 'Europe/Berlin', metadata });
    expect(made).toMatchObject({
      object: 'schedule',
      kind: 'recurring',
      timezone: 'Europe/Berlin',
      metadata,
    });
    expect(await sched.schedules.get(made.id)).toEqual(made);
  },
  async listSchedules(sched, { schedule }) {
    const { metadata } = schedule;
    expect(await sched.schedules.list({ metadata, state: 'completed' }).toArray(10)).toEqual([schedule]);
    expect(await sched.schedules.list({ metadata, state: 'active' }).toArray(10)).toEqual([]);
    expect(await sched.schedules.list({ metadata, kind: 'recurring' }).toArray(10)).toEqual([]);
  },
  async getSchedule(sched, { schedule }) {
    expect(await sched.schedules.get(schedule.id)).toEqual(schedule);
  },
  async updateSchedule(sched, { schedule: { id } }) {
    const labels = uniqueMetadata();
    const changed = await sched.schedules.update(id, { ttl: '5m', method: undefined, metadata: labels });
    expect(changed).toMatchObject({ id, ttl: '5m', method: 'POST', metadata: labels });
    expect((await sched.schedules.update(id, { ttl: null })).ttl).toBeNull();
  },
  async putSchedule(sched) {
    const name = uniqueName();
    const made = await sched.schedules.put(name, RECURRING);
    expect(made).toMatchObject({ object: 'schedule', name, kind: 'recurring' });
    expect(await sched.schedules.getNamed(name)).toEqual(made);
  },
  async getNamedSchedule(sched) {
    const name = uniqueName();
    const made = await sched.schedules.create({ ...RECURRING, name });
    expect(await sched.schedules.getNamed(name)).toEqual(made);
  },
  async triggerSchedule(sched) {
    const { id } = await sched.schedules.create(RECURRING);
    const made = await sched.schedules.trigger(id);
    expect(made).toMatchObject({ object: 'delivery', schedule_id: id, triggered: true, occurrence: null });
    expect(await sched.schedules.deliveries(id).toArray(10)).toHaveLength(2);
    const oneShot = await sched.schedules.create(ONE_SHOT);
    expect(await sched.schedules.trigger(oneShot.id)).toMatchObject({
      schedule_id: oneShot.id,
      triggered: true,
    });
    expect(await sched.schedules.deliveries(oneShot.id).toArray(10)).toHaveLength(1);
  },
  async rescheduleSchedule(sched) {
    const { id } = await sched.schedules.create(ONE_SHOT);
    const fireAt = '2031-01-01T09:00:00.000Z';
    const moved = await sched.schedules.reschedule(id, { fire_at: fireAt });
    expect(moved).toMatchObject({ id, fire_at: fireAt, next_runs: [fireAt] });
  },
  async pauseSchedule(sched) {
    const { id } = await sched.schedules.create(ONE_SHOT);
    expect((await sched.schedules.pause(id)).state).toBe('paused');
    expect((await sched.schedules.get(id)).state).toBe('paused');
  },
  async resumeSchedule(sched) {
    const { id } = await sched.schedules.create(ONE_SHOT);
    await sched.schedules.pause(id);
    expect((await sched.schedules.resume(id)).state).toBe('active');
  },
  async cancelSchedule(sched) {
    const { id } = await sched.schedules.create(ONE_SHOT);
    expect((await sched.schedules.cancel(id)).state).toBe('canceled');
    expect((await sched.schedules.deliveries(id).page()).data).toMatchObject([{ status: 'canceled' }]);
  },
  async listScheduleDeliveries(sched, { schedule, delivery }) {
    expect(await sched.schedules.deliveries(schedule.id).toArray(10)).toEqual([delivery]);
  },
  async createEndpoint(sched) {
    const made = await sched.endpoints.create({ ...PROFILE, headers: { 'X-Tenant': 'acme' }, timeout: '9s' });
    expect(made).toMatchObject({ object: 'endpoint', header_keys: ['X-Tenant'], timeout: '9s', version: 1 });
    expect(await sched.endpoints.get(made.id)).toEqual(made);
  },
  async listEndpoints(sched, { endpoint }) {
    const ids = async (query = {}) => (await sched.endpoints.list(query).toArray(200)).map(({ id }) => id);
    expect(await ids()).toContain(endpoint.id);
    await sched.endpoints.archive(endpoint.id);
    expect(await ids({ include_archived: false })).not.toContain(endpoint.id);
    expect(await ids({ include_archived: true })).toContain(endpoint.id);
  },
  async getEndpoint(sched, { endpoint }) {
    expect(await sched.endpoints.get(endpoint.id)).toEqual(endpoint);
  },
  async updateEndpoint(sched, { endpoint }) {
    const changed = await sched.endpoints.update(endpoint.id, { timeout: '7s' });
    expect(changed).toMatchObject({ id: endpoint.id, timeout: '7s', version: 2, url: endpoint.url });
  },
  async putEndpoint(sched) {
    const name = uniqueName();
    const made = await sched.endpoints.put(name, { ...PROFILE, timeout: 9_000 });
    expect(made).toMatchObject({ object: 'endpoint', name, timeout: '9s', version: 1 });
    expect(await sched.endpoints.getNamed(name)).toEqual(made);
  },
  async getNamedEndpoint(sched) {
    const name = uniqueName();
    const made = await sched.endpoints.create({ ...PROFILE, name });
    expect(await sched.endpoints.getNamed(name)).toEqual(made);
  },
  async archiveEndpoint(sched, { endpoint }) {
    expect((await sched.endpoints.archive(endpoint.id)).archived).toBe(true);
  },
  async listDeliveries(sched, { schedule, delivery }) {
    const query = { schedule_id: schedule.id };
    expect(await sched.deliveries.list(query).toArray(10)).toEqual([delivery]);
    expect(await sched.deliveries.list({ ...query, status: 'succeeded' }).toArray(10)).toEqual([delivery]);
    expect(await sched.deliveries.list({ ...query, status: 'expired' }).toArray(10)).toEqual([]);
    const { created_at } = delivery;
    expect(await sched.deliveries.list({ ...query, created_after: created_at }).toArray(10)).toEqual([]);
    expect(await sched.deliveries.list({ ...query, created_before: created_at }).toArray(10)).toEqual([]);
  },
  async getDelivery(sched, { delivery }) {
    expect(await sched.deliveries.get(delivery.id)).toEqual(delivery);
  },
  async replayDelivery(sched, { delivery }) {
    const made = await sched.deliveries.replay(delivery.id);
    expect(made).toMatchObject({ replay_of: delivery.id, idempotency_key: delivery.idempotency_key });
    expect(made.id).not.toBe(delivery.id);
  },
  async cancelDelivery(sched, { waiting }) {
    expect(await sched.deliveries.cancel(waiting.id)).toMatchObject({ id: waiting.id, status: 'canceled' });
  },
  async getAttemptResponse(sched, { delivery, waiting }) {
    expect(await sched.deliveries.response(waiting.id, 1)).toEqual({
      object: 'attempt_response',
      status_code: 503,
      content_type: 'text/plain',
      excerpt: 'no database',
      encoding: 'utf-8',
      truncated: false,
    });
    const error = await rejection(sched.deliveries.response(delivery.id, 1));
    expect(error).toBeInstanceOf(NotFoundError);
  },
  async listRecentAttempts(sched, { delivery }) {
    const own = (await sched.attempts.list().toArray(1_000)).filter(
      (attempt) => attempt.delivery_id === delivery.id,
    );
    expect(own).toMatchObject([
      { attempt_no: 2, outcome: 'success', url: delivery.url, schedule_id: delivery.schedule_id },
      { attempt_no: 1, outcome: 'retryable', method: 'POST' },
    ]);
    const outcomes: string[] = [];
    for await (const { outcome } of sched.attempts.list({ outcome: 'success' })) outcomes.push(outcome);
    expect(new Set(outcomes)).toEqual(new Set(['success']));
  },
  async listAttempts(sched, { delivery }) {
    const attempts = await sched.deliveries.attempts(delivery.id).toArray(10);
    expect(attempts).toMatchObject([
      { attempt_no: 1, outcome: 'retryable', status_code: 503 },
      { attempt_no: 2, outcome: 'success', status_code: 200 },
    ]);
  },
};

export function operations({ url, drive }: Service): void {
  async function given(): Promise<Given> {
    const sched = clientAt(url());
    const { id } = await sched.schedules.create({ ...ONE_SHOT, metadata: uniqueMetadata() });
    const [pending] = await sched.schedules.deliveries(id).toArray(1);
    const { id: recurring } = await sched.schedules.create(RECURRING);
    const triggered = await sched.schedules.trigger(recurring);
    await drive.claim(triggered.id);
    await drive.settle(triggered.id, SERVER_ERROR, 0, 'no database');
    await drive.fire(pending?.id ?? '', SERVER_ERROR, OK);
    return {
      schedule: await sched.schedules.get(id),
      delivery: await sched.deliveries.get(pending?.id ?? ''),
      waiting: await sched.deliveries.get(triggered.id),
      endpoint: await sched.endpoints.create(PROFILE),
    };
  }

  it.each(Object.keys(CHECKS) as OperationId[])('%s', async (operation) => {
    const { sched, seen } = recordingClient(url());
    await CHECKS[operation](sched, await given());

    const { method, path, idempotent } = OPERATIONS[operation];
    const pattern = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      name === 'id' ? '[a-z]+_[0-9a-z]{26}' : '[\\w-]+',
    );
    const form = new RegExp(`^/v1${pattern}$`);
    const own = seen.filter((each) => each.method === method && form.test(each.url.pathname));
    expect(own.length).toBeGreaterThan(0);
    const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
    for (const { sent } of own) {
      if (idempotent) expect(sent.get('idempotency-key')).toMatch(uuid);
      else expect(sent.has('idempotency-key')).toBe(false);
    }
  });
}
