import { expect, test } from 'vitest';
import { findNotifyError, NO_NOTIFY, notifyBody, notifyFormOf } from './notify-form.ts';

test('a field that is not set stays unset', () => {
  expect(notifyFormOf(null)).toEqual(NO_NOTIFY);
  expect(notifyBody(NO_NOTIFY)).toBeNull();
  expect(findNotifyError(NO_NOTIFY)).toBeNull();
});

test('nobody is told by an empty list of outcomes', () => {
  const form = notifyFormOf({ endpoint_id: null, on: [] });
  expect(form.choice).toBe('nobody');
  expect(notifyBody(form)).toEqual({ on: [] });
  expect(findNotifyError(form)).toBeNull();
});

test('an endpoint profile is told of outcomes, in the order of the API', () => {
  const form = notifyFormOf({ endpoint_id: 'ep_1', on: ['expired', 'succeeded'] });
  expect(form).toEqual({ choice: 'tell', endpointId: 'ep_1', on: ['succeeded', 'expired'] });
  const more = { ...form, on: [...form.on, 'dead_letter' as const] };
  expect(notifyBody(more)).toEqual({
    endpoint_id: 'ep_1',
    on: ['succeeded', 'dead_letter', 'expired'],
  });
});

test('an endpoint profile and an outcome are needed', () => {
  const form = { ...NO_NOTIFY, choice: 'tell' } as const;
  expect(findNotifyError(form)).toBe('Choose an endpoint profile.');
  expect(findNotifyError({ ...form, endpointId: 'ep_1', on: [] })).toBe('Choose at least one outcome.');
  expect(findNotifyError({ ...form, endpointId: 'ep_1' })).toBeNull();
});
