import { describe, expect, it } from 'vitest';
import {
  deliveryQuery,
  filterOfQuery,
  NO_DELIVERY_FILTER,
  pathWithQuery,
  readDeliveryFilter,
  readScheduleFilter,
  writeDeliveryFilter,
  writeScheduleFilter,
} from './filters.ts';

const params = (text: string) => new URLSearchParams(text);
const NOW_MS = Date.parse('2026-11-15T12:34:56.789Z');

describe('filters of schedules', () => {
  it('survive being written to the address and read from it', () => {
    const filter = { q: 'team=billing env=prod', state: 'paused', kind: 'recurring' } as const;
    expect(readScheduleFilter(writeScheduleFilter(filter))).toEqual(filter);
  });

  it('ignore invalid values in an address', () => {
    expect(readScheduleFilter(params('q=%20&state=asleep&kind=weekly'))).toEqual({
      q: '',
      state: null,
      kind: null,
    });
    expect(writeScheduleFilter({ q: '', state: null, kind: null }).toString()).toBe('');
  });
});

describe('filters of deliveries', () => {
  it('survive being written to the address and read from it', () => {
    const filter = {
      ...NO_DELIVERY_FILTER,
      status: 'dead_letter',
      scheduleId: 'sch_01jcq3v8k4zqgw5m2r7n9x0abc',
      after: '2026-11-14T00:00:00.000Z',
      before: '2026-11-15T00:00:00.000Z',
    } as const;
    expect(readDeliveryFilter(writeDeliveryFilter(filter))).toEqual(filter);
  });

  it('prefer a range to fixed instants', () => {
    const filter = readDeliveryFilter(params('range=1h&after=2026-01-01T00:00:00Z'));
    expect(filter).toEqual({ ...NO_DELIVERY_FILTER, range: '1h' });
    expect(deliveryQuery(filter, NOW_MS)).toEqual({ created_after: '2026-11-15T11:34:00.000Z' });
  });

  it('ignore invalid ids and instants', () => {
    expect(readDeliveryFilter(params('schedule=<script>&after=soon&status=lost'))).toEqual(
      NO_DELIVERY_FILTER,
    );
  });

  it.each([
    'schedule=sch_01jcq3v8k4zqgw5m2r7n9x0ab',
    'endpoint=ep_0',
    'endpoint=sch_01jcq3v8k4zqgw5m2r7n9x0abc',
  ])('ignore an id that is half typed or of another kind: %s', (address) =>
    expect(readDeliveryFilter(params(address))).toEqual(NO_DELIVERY_FILTER),
  );

  it('can be restored from the query of a bulk replay', () => {
    const query = { status: 'expired', created_before: '2026-11-15T00:00:00.000Z' };
    expect(deliveryQuery(filterOfQuery(query), NOW_MS)).toEqual(query);
  });
});

it('a path with an empty query has no question mark', () => {
  expect(pathWithQuery('deliveries', params(''))).toBe('deliveries');
  expect(pathWithQuery('deliveries', params('status=expired'))).toBe('deliveries?status=expired');
});
