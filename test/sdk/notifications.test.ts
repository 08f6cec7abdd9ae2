/** What the SDK takes for a notification and for an alert, and what its types say about them. */
import * as fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type * as Api from '#sdk/api-types.ts';
import { type Alert, isAlert, isNotification, type Notification, type TestAlert } from '#sdk/index.ts';
import type { AlertBody, NotificationBody } from '#src/api/contract/notifications.ts';
import { Alert as AlertSchema, Notification as NotificationSchema } from '#src/api/contract/notifications.ts';
import { WEBHOOK_EXAMPLES } from '#src/api/contract/webhook-examples.ts';

type Json = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

const { notification, alert } = WEBHOOK_EXAMPLES;
const DEAD_LETTER = notification.default.value;
const OPENED = alert.default.value;
const { incident } = OPENED.data;

const EXPIRED: NotificationBody = {
  ...DEAD_LETTER,
  type: 'delivery.expired',
  data: {
    ...DEAD_LETTER.data,
    delivery: { ...DEAD_LETTER.data.delivery, status: 'expired', attempt_count: 0, notify: null },
    attempts: [],
    response: null,
  },
};
const CLOSED = {
  ...OPENED,
  type: 'alert.closed',
  data: { ...OPENED.data, incident: { ...incident, closed_at: '2026-11-16T08:20:00.000Z' } },
};

const KINDS = [
  {
    name: 'isNotification',
    is: isNotification,
    schema: NotificationSchema,
    bodies: [DEAD_LETTER, notification.succeeded.value, EXPIRED] as readonly object[],
  },
  {
    name: 'isAlert',
    is: isAlert,
    schema: AlertSchema,
    bodies: [
      OPENED,
      CLOSED,
      { ...OPENED, type: 'alert.reminder', data: { ...OPENED.data, url: null } },
      alert.test.value,
    ] as readonly object[],
  },
];

/** A body as it arrives. */
function arrived(body: object): unknown {
  return JSON.parse(JSON.stringify(body));
}

function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members = Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]));
  return [path, ...members];
}

/** Returns a copy with another value at the path. Without a value, the member is left out. */
function changed(body: unknown, [name, ...rest]: Path, value?: unknown): unknown {
  if (name === undefined) return value;
  if (Array.isArray(body))
    return body.flatMap((item, at) => (at === Number(name) ? [changed(item, rest, value)] : [item]));
  const member = changed((body as Json)[name], rest, value);
  return Object.fromEntries(
    Object.entries({ ...(body as Json), [name]: member }).filter(([, each]) => each !== undefined),
  );
}

/** Values of every kind. */
const VALUES = [null, true, 5, 'text', ['text'], [null], { a: 'text' }, {}];

describe.each(KINDS)('$name', ({ is, schema, bodies }) => {
  test('takes what the service sends', () => {
    for (const body of bodies) {
      expect(schema.safeParse(arrived(body)).error?.issues).toBeUndefined();
      expect(is(arrived(body))).toBe(true);
    }
  });

  test('takes fields that it does not know, at every depth', () => {
    for (const body of bodies) {
      const isObject = (path: Path) => {
        const value = path.reduce<unknown>((within, name) => (within as Json)[name], body);
        return typeof value === 'object' && value !== null && !Array.isArray(value);
      };
      const isMap = (path: Path) => path.at(-1) === 'metadata';
      for (const path of pathsIn(body).filter((each) => isObject(each) && !isMap(each)))
        expect([path, is(changed(arrived(body), [...path, 'later'], { a: [1] }))]).toEqual([path, true]);
    }
  });

  test('refuses a body in which a field is missing or has another type', () => {
    let refused = 0;
    for (const body of bodies) {
      for (const path of pathsIn(body)) {
        for (const value of [undefined, ...VALUES]) {
          const other = changed(arrived(body), path, value);
          // Only what the contract calls wrong has to be refused; sets of values and forms of texts may grow.
          const isWrong = (schema.safeParse(other).error?.issues ?? []).some(
            ({ code }) => code === 'invalid_type' || code === 'invalid_union',
          );
          if (!isWrong) continue;
          expect([path, value, is(other)]).toEqual([path, value, false]);
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(100);
  });

  test('refuses a type that it does not know', () => {
    for (const type of ['delivery.canceled', 'delivery', '', 'constructor', '__proto__', 'toString', null, 5])
      expect(is({ ...(arrived(bodies[0] ?? {}) as Json), type })).toBe(false);
  });

  test('throws for no value', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withTypedArray: true,
      withSparseArray: true,
    });
    fc.assert(fc.property(anything, (value) => !is(value)));
    const deep = fc.tuple(
      fc.constantFrom(...bodies.flatMap((body) => pathsIn(body).map((path) => [body, path] as const))),
      anything,
    );
    fc.assert(
      fc.property(deep, ([[body, path], value]) => {
        expect(typeof is(changed(arrived(body), path, value))).toBe('boolean');
      }),
    );
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const thrower = {
      get type(): string {
        throw new Error('no');
      },
    };
    for (const value of [proxy, thrower, { ...bodies[0], data: proxy }]) expect(is(value)).toBe(false);
  });
});

test('the type of a notification and the status of its delivery are the same', () => {
  const { delivery } = DEAD_LETTER.data;
  for (const status of ['succeeded', 'expired', 'claimed', 'constructor'])
    expect(
      isNotification({ ...DEAD_LETTER, data: { ...DEAD_LETTER.data, delivery: { ...delivery, status } } }),
    ).toBe(false);
});

test('only a test has no incident, and only an incident that is over has an end', () => {
  const withIncident = (type: string, given: unknown) =>
    isAlert({ ...OPENED, type, data: { ...OPENED.data, incident: given } });
  for (const type of ['alert.opened', 'alert.reminder', 'alert.closed'])
    expect(withIncident(type, null)).toBe(false);
  expect(withIncident('alert.test', incident)).toBe(false);
  expect(withIncident('alert.closed', incident)).toBe(false);
});

test('the types are those of the contract', () => {
  expectTypeOf<NotificationBody>().toExtend<Api.Notification>();
  expectTypeOf<Notification>().toExtend<Api.Notification>();
  expectTypeOf<Notification['type']>().toEqualTypeOf<NotificationBody['type']>();
  expectTypeOf<keyof Notification['data']>().toEqualTypeOf<keyof NotificationBody['data']>();
  expectTypeOf<Notification['data']['delivery']['status']>().toEqualTypeOf<
    'succeeded' | 'dead_letter' | 'expired'
  >();
  expectTypeOf<AlertBody>().toExtend<Api.Alert>();
  expectTypeOf<Alert>().toExtend<Api.Alert>();
  expectTypeOf<Alert['type']>().toEqualTypeOf<AlertBody['type']>();
  expectTypeOf<TestAlert['data']['incident']>().toEqualTypeOf<null>();
});
