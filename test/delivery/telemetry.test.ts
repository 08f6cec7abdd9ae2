/** The operator's view of deliveries: one wide log line per attempt and metrics, without any secrets. */
import { describe, expect, it, vi } from 'vitest';
import { planted } from '#test/e2e/client.ts';
import { createdProfile } from '#test/e2e/expectations.ts';
import type { Attempt } from '#test/e2e/resources.ts';
import { answer, held, redirect, reset } from '#test/receiver/behaviours.ts';
import { useDeliveries } from './harness.ts';
import { waitForEnd, waitForStatus } from './waits.ts';

const { api, hook, given, sched } = useDeliveries();

/** The API shows the whole URL, but the log does not. */
const QUERY = 'token-in-a-query';

interface Line extends Readonly<Record<string, unknown>> {
  readonly level: string;
}

/** The lines of the log that name this attempt. */
function linesOf({ id }: Attempt): readonly Line[] {
  const lines = sched().output.stderr.split('\n');
  return lines.filter((line) => line.includes(id)).map((line) => JSON.parse(line) as Line);
}

/** The metrics of all nodes. */
async function metrics(): Promise<string> {
  const each = sched().urls.map(async (url) => (await fetch(`${url}/metrics`)).text());
  return (await Promise.all(each)).join('\n');
}

/** The sum of a series over its labels. */
function total(exposition: string, series: string, labels = ''): number {
  const lines = exposition.split('\n').filter((line) => new RegExp(`^${series}(?:\\{|\\s)`).test(line));
  const values = lines.filter((line) => line.includes(labels)).map((line) => Number(line.split(' ').at(-1)));
  return values.reduce((sum, value) => sum + value, 0);
}

describe.concurrent('logs', () => {
  it.each([
    ['success', [answer(201)], ['success']],
    ['retries', [answer(500), reset('after reading'), answer(200)], ['retryable', 'retryable', 'success']],
    ['a terminal answer', [redirect(302, '/x')], ['terminal']],
  ])('have one wide line for each attempt: %s', async (_what, script, outcomes) => {
    const target = hook(...script);
    const { pending } = await given({ endpoint: target.url, retry_policy: { base: '20ms', factor: 1 } });
    const { attempts } = await waitForEnd(api, pending.id);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(outcomes);
    for (const attempt of attempts) {
      await vi.waitFor(() => expect(linesOf(attempt)).toHaveLength(1));
      const { attempt_no, outcome, status_code, lateness_ms, egress_ms, error } = attempt;
      const facts = { attempt_no, outcome, status_code, lateness_ms, egress_ms, error };
      expect(linesOf(attempt)).toMatchObject([
        { level: 'info', msg: 'attempt', delivery: pending.id, ...facts },
      ]);
    }
  });

  it('contain no header value, body, query or secret, even at SCHED_LOG_LEVEL=debug', async () => {
    const secret = planted('log');
    const headers = { Authorization: secret, 'X-A': secret };
    const target = hook(answer(500, { headers: { 'x-answer': secret }, body: secret }), answer(200));
    const forbidden = hook();
    const policy = { retry_policy: { base: '20ms', factor: 1 } };
    const profile = await createdProfile(api, {
      url: `${target.url}?token=${QUERY}`,
      headers,
    });
    const all = await Promise.all([
      given({ endpoint_id: profile.id, headers, body: secret, ...policy }),
      given({ endpoint: forbidden.url, headers: { 'X-A': `${secret}\n` }, body: secret }),
      given({
        endpoint: 'https://nosuch.invalid/',
        headers,
        body: secret,
        retry_policy: { max_attempts: 1 },
      }),
    ]);
    for (const { pending } of all) await waitForEnd(api, pending.id);
    // The check of the complete output at the end of the file is the real proof.
    expect(sched().output.stderr).not.toContain(secret);
    expect(sched().output.stderr).not.toContain(QUERY);
  });
});

describe.concurrent('GET /metrics', () => {
  it('shows lateness, attempts in flight, outcomes and settled deliveries', async () => {
    const gate = held();
    const target = hook(gate);
    const { pending } = await given({ endpoint: target.url });
    await target.arrived();
    const during = await metrics();
    expect(total(during, 'sched_deliveries_in_flight')).toBeGreaterThanOrEqual(1);
    const before = total(during, 'sched_attempt_duration_seconds_count', 'outcome="success"');

    gate.release();
    await waitForStatus(api, pending.id, 'succeeded');
    await vi.waitFor(async () => {
      const after = await metrics();
      expect(total(after, 'sched_attempt_duration_seconds_count', 'outcome="success"')).toBeGreaterThan(
        before,
      );
      expect(total(after, 'sched_deliveries_settled_total', 'status="succeeded"')).toBeGreaterThanOrEqual(1);
      expect(total(after, 'sched_delivery_lateness_seconds_count')).toBeGreaterThanOrEqual(1);
    });
  });

  it('the number of attempts in flight returns to zero', async () => {
    const { pending } = await given({ endpoint: hook().url, delay: '3s' });
    await waitForStatus(api, pending.id, 'succeeded');
    await vi.waitFor(async () => expect(total(await metrics(), 'sched_deliveries_in_flight')).toBe(0));
  });

  it('has no id, URL or label of a customer as a label', async () => {
    const target = hook();
    const { pending } = await given({ endpoint: target.url });
    await waitForStatus(api, pending.id, 'succeeded');
    const exposition = await metrics();
    for (const secret of [pending.id, pending.schedule_id ?? '', target.path]) {
      expect(exposition).not.toContain(secret);
    }
  });
});
