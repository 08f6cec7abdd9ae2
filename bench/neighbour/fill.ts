/**
 * Creates the stored objects of each hostile customer through the API, so that every row is as the service writes it.
 * Deliveries are due in a year; `shiftDueInstants` moves them before a measurement. Large numbers are made by
 * multiplication.
 */
import type { NeighbourScale } from '../results.ts';
import type { Multiplication } from '../stored/multiply.ts';
import type { Api } from './api.ts';
import { type Hostile, LARGE_BODY } from './customers.ts';
import type { HostileReceiver } from './hostile-receiver.ts';

const MS_PER_SECOND = 1_000;
const SMALL_AT_ONCE = 32;
const LARGE_AT_ONCE = 4;
/** The number of schedules that are created before they are multiplied. Sizes are multiples of it. */
export const TEMPLATES = 500;
/** One more failure would open the breaker. */
export const RETRY_TEMPLATES = 4;
const HANGING_PATHS = 6;
const BURST_PATHS = 200;
const PROFILES = 200;
/** A batch of JSON bodies is due once in this time. */
const JSON_BATCH_EVERY_MS = 4_000;
const JSON_CHARACTERS = 262_144;
/** The next leap day is not during the measurement, and it is within ten years. */
const RARELY = '0 0 29 2 *';

export interface Filling {
  readonly api: Api;
  readonly receiver: HostileReceiver;
  readonly scale: NeighbourScale;
  /** The instant of the first deliveries, in milliseconds since the epoch. */
  readonly farAt: number;
}

const FILL: Readonly<Record<Hostile, (filling: Filling) => Promise<void>>> = {
  'hanging-bodies': ({ api, receiver, scale, farAt }) =>
    api.createMany('/schedules', scale.sizes['hanging-bodies'], LARGE_AT_ONCE, (number) => ({
      endpoint: `${receiver.url('hanging-bodies')}/hang/${number % HANGING_PATHS}`,
      fire_at: instant(farAt),
      body: LARGE_BODY,
    })),
  'large-json': ({ api, receiver, scale, farAt }) => {
    const size = scale.sizes['large-json'];
    const body = largeJson();
    return api.createMany('/schedules', size * jsonBatchesIn(scale.seconds), LARGE_AT_ONCE, (number) => ({
      endpoint: `${receiver.url('large-json')}/ok/json`,
      fire_at: instant(farAt + Math.floor(number / size) * JSON_BATCH_EVERY_MS),
      body,
    }));
  },
  paths: ({ api, receiver, scale, farAt }) =>
    api.createMany('/schedules', scale.sizes.paths, SMALL_AT_ONCE, (number) => ({
      endpoint: `${receiver.url('paths')}/hang/${number}`,
      fire_at: instant(farAt),
      body: '{}',
    })),
  // Every schedule has the label `a` and none is paused. Each has one of the other two labels, and none has both.
  filters: ({ api, farAt }) =>
    api.createMany('/schedules', TEMPLATES, SMALL_AT_ONCE, (number) => ({
      endpoint: `https://customer-${number}.example.com/hooks/reminders`,
      fire_at: instant(farAt),
      body: '{}',
      metadata: { a: 'b', ...(number % 2 === 0 ? { left: '1' } : { right: '1' }) },
    })),
  creates: () => Promise.resolve(),
  burst: ({ api, receiver, farAt }) =>
    api.createMany('/schedules', TEMPLATES, SMALL_AT_ONCE, (number) => ({
      endpoint: `${receiver.url('burst')}/ok/${number % BURST_PATHS}`,
      fire_at: instant(farAt),
    })),
  cancel: fillRetries,
  lists: async ({ api, farAt }) => {
    await api.createMany('/endpoints', PROFILES, SMALL_AT_ONCE, (number) => ({
      url: `https://customer-${number}.example.com/hooks/profile`,
    }));
    await api.createMany('/schedules', TEMPLATES, SMALL_AT_ONCE, (number) => ({
      endpoint: `https://customer-${number}.example.com/hooks/reminders`,
      fire_at: instant(farAt),
      body: '{}',
    }));
  },
};

export function fill(customer: Hostile, filling: Filling): Promise<void> {
  return FILL[customer](filling);
}

/** The multiplication of the customer's rows. Null if the rows are enough. */
export function multiplicationOf(
  customer: Hostile,
  { sizes }: NeighbourScale,
  partition: number,
): Multiplication | null {
  const size = sizes[customer];
  switch (customer) {
    case 'filters':
    case 'lists':
      return { kind: 'apart', copies: size / TEMPLATES, partition };
    case 'burst':
      return { kind: 'together', copies: size / TEMPLATES, partition };
    case 'cancel':
      return { kind: 'retries', copies: size / RETRY_TEMPLATES, partition };
    case 'hanging-bodies':
    case 'large-json':
    case 'paths':
    case 'creates':
      return null;
  }
}

/** One delivery of a recurring schedule succeeds. Its replays fail, and wait for their retry. */
async function fillRetries({ api, receiver, farAt }: Filling): Promise<void> {
  const { id } = (await api.call('POST', '/schedules', {
    endpoint: `${receiver.url('cancel')}/once/${farAt}`,
    cron: RARELY,
    retry_policy: { max_attempts: 8, base: '24h', factor: 2, max: '168h' },
  })) as { readonly id: string };
  await api.call('POST', `/schedules/${id}/reschedule`, { delay: '2s' });
  const [original] = await api.deliveriesWith(id, 'succeeded', 1);
  for (let replays = 0; replays < RETRY_TEMPLATES; replays++) {
    await api.call('POST', `/deliveries/${original?.id}/replay`);
  }
  await api.deliveriesWith(id, 'retry_scheduled', RETRY_TEMPLATES);
}

function jsonBatchesIn(seconds: number): number {
  return Math.max(1, Math.floor(((seconds - 1) * MS_PER_SECOND) / JSON_BATCH_EVERY_MS));
}

function largeJson(): string {
  const item = '{"id":1234567,"name":"an item of an order","price":12.5},';
  const items = item.repeat(Math.floor((JSON_CHARACTERS - 2) / item.length));
  return `[${items.slice(0, -1)}]`;
}

function instant(at: number): string {
  return new Date(at).toISOString();
}
