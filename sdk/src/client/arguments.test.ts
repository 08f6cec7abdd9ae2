import { describe, expect, test } from 'vitest';
import { checkBody, encodeId } from './arguments.ts';

describe('an id in a path', () => {
  test.each<readonly [unknown, string]>([
    [undefined, 'It got undefined.'],
    [null, 'It got null.'],
    ['', 'It got an empty text.'],
    ['.', 'It got a text.'],
    ['..', 'It got a text.'],
    ['sch_\ud800', 'It got a text.'],
    [4711, 'It got a number.'],
    [{ id: 'sch_1' }, 'It got an object with an id. Pass the id itself.'],
    [Promise.resolve('sch_1'), 'It got a promise (await it first).'],
  ])('%j is refused', (id, ending) => {
    const attempt = () => encodeId('schedules.get', id as string);
    expect(attempt).toThrow(TypeError);
    expect(attempt).toThrow(
      `schedules.get needs the id of a schedule, such as "sch_01jcq3v8k4zqgw5m2r7n9x0abc". ${ending}`,
    );
  });

  test('names the object that the call is about', () => {
    expect(() => encodeId('deliveries.replay', '')).toThrow(/the id of a delivery, such as "dlv_/);
    expect(() => encodeId('endpoints.archive', '')).toThrow(/the id of an endpoint profile, such as "ep_/);
  });

  test('outside ASCII is passed to the service', () => {
    expect(encodeId('schedules.get', 'sch_📨')).toBe('sch_%F0%9F%93%A8');
  });

  test('cannot lead to another path', () => {
    expect(encodeId('schedules.get', 'a/../b?c#d%2F')).toBe('a%2F..%2Fb%3Fc%23d%252F');
  });
});

test.each<readonly [unknown, string]>([
  [undefined, 'It got undefined.'],
  [null, 'It got null.'],
  ['https://example.com', 'It got a text.'],
  [[{}], 'It got an array.'],
  [new Date(), 'It got a Date.'],
  [() => ({}), 'It got a function.'],
  [Promise.resolve({}), 'It got a promise (await it first).'],
])('%j is not a body', (body, ending) => {
  const attempt = () => checkBody('schedules.update', body as object, "{ ttl: '1h' }");
  expect(attempt).toThrow(TypeError);
  expect(attempt).toThrow(`schedules.update needs an object, such as { ttl: '1h' }. ${ending}`);
});
