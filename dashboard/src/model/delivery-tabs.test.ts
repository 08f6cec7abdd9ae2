import { describe, expect, it } from 'vitest';
import { filterOfTab, findId, readOutcome, readTab, searchQuery, tabQuery } from './delivery-tabs.ts';
import { NO_DELIVERY_FILTER } from './filters.ts';

const ID = '01jcq3v8k4zqgw5m2r7n9x0abc';
const ENDPOINT = `ep_${ID}`;

const params = (text: string) => new URLSearchParams(text);

describe('the tab of an address', () => {
  it.each([
    ['', 'activity'],
    ['outcome=terminal', 'activity'],
    ['tab=waiting', 'waiting'],
    ['tab=ended&status=expired', 'ended'],
    ['tab=elsewhere', 'activity'],
  ])('%j is %s', (address, tab) => expect(readTab(params(address))).toBe(tab));

  it.each([
    ['status=dead_letter', 'ended'],
    ['status=retry_scheduled', 'waiting'],
    ['schedule=sch_01jcq3v8k4zqgw5m2r7n9x0abc', 'ended'],
    ['range=1h', 'ended'],
  ])('follows from the filters of a link without a tab: %j', (address, tab) =>
    expect(readTab(params(address))).toBe(tab),
  );
});

describe('another tab', () => {
  it('keeps the filters that it has too', () => {
    const here = params(`tab=ended&status=expired&endpoint=${ENDPOINT}&range=1h&cursor=abc`);
    expect(tabQuery('waiting', here).toString()).toBe(`tab=waiting&endpoint=${ENDPOINT}&range=1h`);
    expect(tabQuery('activity', here).toString()).toBe(`endpoint=${ENDPOINT}`);
  });

  it('ignores a status that it does not have', () => {
    const status = params('status=expired');
    expect(filterOfTab('waiting', status)).toEqual(NO_DELIVERY_FILTER);
    expect(filterOfTab('ended', status).status).toBe('expired');
  });
});

it('the query of a list names its group', () => {
  const filter = { ...NO_DELIVERY_FILTER, status: 'expired', endpointId: ENDPOINT } as const;
  expect(searchQuery('ended', filter, 0)).toEqual({
    group: 'ended',
    endpoint_id: ENDPOINT,
    status: 'expired',
  });
});

it('an unknown outcome is ignored', () => {
  expect(readOutcome(params('outcome=terminal'))).toBe('terminal');
  expect(readOutcome(params('outcome=lost'))).toBeNull();
});

it.each([
  [` dlv_${ID}\n`, { page: `deliveries/dlv_${ID}` }],
  [`sch_${ID}`, { page: `schedules/sch_${ID}` }],
  [`ep_${ID}`, { page: `endpoints/ep_${ID}` }],
  [`job_${ID}`, { page: `replays/job_${ID}` }],
  [`inc_${ID}`, { page: `alerts/inc_${ID}` }],
  [`att_${ID}`, { attempt: `att_${ID}` }],
  ['dlv_short', null],
  [`usr_${ID}`, null],
  [`dlv_${ID}/../x`, null],
])('the id %j leads to %j', (text, found) => expect(findId(text)).toEqual(found));
