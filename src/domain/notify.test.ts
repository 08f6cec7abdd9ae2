import { expect, test } from 'vitest';
import type { EndpointId } from './id.ts';
import { notifyOf, notifyText, parseNotify } from './notify.ts';

const A = 'ep_01jcq3v8k4zqgw5m2r7n9x0abc' as EndpointId;
const B = 'ep_01jcq3v8k4zqgw5m2r7n9x0abd' as EndpointId;

test('the schedule wins over the profile, and may opt out', () => {
  const profile = { notify: { endpointId: A, on: ['expired'] } } as const;
  const own = { notify: { endpointId: B, on: ['succeeded'] } } as const;
  expect(notifyOf({ notify: null }, profile)).toEqual(profile.notify);
  expect(notifyOf(own, profile)).toEqual(own.notify);
  expect(notifyOf({ notify: { endpointId: null, on: [] } }, profile)).toBeNull();
  expect(notifyOf({ notify: { endpointId: B, on: [] } }, profile)).toBeNull();
  expect(notifyOf({ notify: null }, null)).toBeNull();
  expect(notifyOf({ notify: null }, { notify: null })).toBeNull();
});

test('its text is read back, and begins with the endpoint profile', () => {
  for (const notify of [
    null,
    { endpointId: null, on: [] },
    { endpointId: A, on: [] },
    { endpointId: A, on: ['dead_letter'] },
    { endpointId: A, on: ['succeeded', 'dead_letter', 'expired'] },
  ] as const) {
    expect(parseNotify(notifyText(notify))).toEqual(notify);
  }
  expect(notifyText({ endpointId: A, on: ['expired'] })).toBe(`${A} expired`);
});
