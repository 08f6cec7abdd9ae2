import { expect, test } from 'vitest';
import { type Attempt, type Delivery, Sched } from '#sdk/index.ts';
import { systemClock } from '#src/system/clock.ts';
import { systemTimers } from '#src/system/timers.ts';
import { selectNewAttempts, Tail } from './tail.ts';

function delivery(status: Delivery['status'], attempt_count: number): Delivery {
  return { status, attempt_count } as Delivery;
}

/** Finished attempts. The last one can be in flight. */
function attempts(count: number, isLastInFlight = false): readonly Attempt[] {
  return Array.from({ length: count }, (_, i) => {
    const isInFlight = isLastInFlight && i === count - 1;
    return { attempt_no: i + 1, finished_at: isInFlight ? null : '2027-01-01T00:00:00.000Z' } as Attempt;
  });
}

test.each<[string, Delivery, readonly Attempt[], number, readonly number[]]>([
  ['attempts that were not reported yet are selected', delivery('succeeded', 3), attempts(3), 1, [2, 3]],
  ['an attempt in flight is not selected', delivery('claimed', 2), attempts(2, true), 0, [1]],
  [
    'an attempt that ended after the delivery was read is not selected',
    delivery('claimed', 1),
    attempts(1),
    0,
    [],
  ],
  [
    'an attempt that started after the delivery was read is not selected',
    delivery('retry_scheduled', 1),
    attempts(2),
    0,
    [1],
  ],
])('%s', (_, read, listed, attemptsReported, selected) => {
  expect(selectNewAttempts(read, listed, attemptsReported).map(({ attempt_no }) => attempt_no)).toEqual(
    selected,
  );
});

/** The part of the service that tail uses: lists in pages, and single deliveries. */
function serviceWith(deliveries: Map<string, Delivery>) {
  const requests: URL[] = [];
  const answer = async (input: string | URL | Request) => {
    const url = new URL(input instanceof Request ? input.url : input);
    requests.push(url);
    const single = deliveries.get(url.pathname.split('/').at(-1) ?? '');
    if (single !== undefined) return Response.json(single);
    const { status, limit, cursor } = Object.fromEntries(url.searchParams);
    // Only the list of new deliveries is requested without a status.
    const listed = [...deliveries.values()].filter((each) => each.status === status);
    const from = Number(cursor ?? 0);
    const next = from + Number(limit);
    const has_more = next < listed.length;
    const next_cursor = has_more ? String(next) : null;
    return Response.json({ object: 'list', data: listed.slice(from, next), has_more, next_cursor });
  };
  const sched = new Sched({
    url: 'https://sched.example.com',
    apiKey: 'sk_test_0123456789abcdef',
    fetch: answer,
  });
  return { sched, requests };
}

test('among 1,500 waiting deliveries, a canceled one is reported within two rounds', async () => {
  const waiting = Array.from({ length: 1_500 }, (_, i): [string, Delivery] => {
    const id = `dlv_${i}`;
    const isPaused = i % 10 === 1;
    const next_fire_at = isPaused ? null : '2100-01-01T00:00:00.000Z';
    const status = isPaused ? 'paused' : 'scheduled';
    return [id, { object: 'delivery', id, status, attempt_count: 0, next_fire_at } as Delivery];
  });
  const deliveries = new Map(waiting);
  const { sched, requests } = serviceWith(deliveries);
  const end = new AbortController();
  const events: string[] = [];
  await new Tail(sched, {
    clock: systemClock,
    timers: systemTimers,
    scheduleId: undefined,
    signal: end.signal,
    emit: ({ kind, delivery }) => {
      events.push(`${kind} ${delivery.id}`);
      end.abort();
    },
    notify: () => {
      const canceled = { ...deliveries.get('dlv_700'), status: 'canceled', next_fire_at: null } as Delivery;
      deliveries.set('dlv_700', canceled);
      requests.length = 0;
    },
  }).follow();
  expect(events).toEqual(['end dlv_700']);
  const rounds = requests.filter(
    ({ searchParams }) => !searchParams.has('status') && searchParams.has('limit'),
  );
  expect(rounds).toHaveLength(2);
  // The other deliveries are not checked one by one, nor are the paused ones.
  expect(requests.filter(({ pathname }) => pathname.includes('dlv_'))).toHaveLength(1);
});
