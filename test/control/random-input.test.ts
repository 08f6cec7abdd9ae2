/**
 * Random input for every route of the control plane. The fields come from the schemas of the routes, so a new route is
 * tested without further code. No answer may be a fault of the service, and a refused request must change nothing.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { BODY_FIELDS } from '#src/api/contract/bodies.ts';
import { useDashboard } from './harness.ts';

const dashboard = useDashboard();

const RUNS_OF_ROUTE = 10;
const TEST_MS_MAX = 240_000;
/** These routes read no input, and end the session of the test. */
const ENDS_SESSION: ReadonlySet<string> = new Set(['logout', 'logout-everywhere']);
/**
 * The lists of all that the service stores, as an admin sees it. The audit log is left out: it has refused requests
 * too.
 */
const STORED = [
  'projects',
  'users',
  'invitations',
  ...['keys', 'secrets', 'schedules', 'endpoints', 'deliveries', 'replays'].map(
    (path) => `p/default/test/${path}`,
  ),
];

const id = fc
  .tuple(
    fc.constantFrom('sch', 'dlv', 'ep', 'job', 'usr', 'key', 'aud'),
    fc.constantFrom('0'.repeat(26), '01m7f3gs00zqgw5m2r7n9x0abc', 'x'),
  )
  .map(([kind, rest]) => `${kind}_${rest}`);
const HOSTILE_TEXTS = [
  '',
  ' ',
  '__proto__',
  'constructor',
  '%',
  '\0',
  '\ud800',
  '..',
  '1e9',
  '-1',
  'true',
  '24h',
  '-1h',
  '2026-11-15T08:00:00Z',
  '0000-00-00T00:00:00Z',
  'active',
  'admin',
  'https://a.example/',
  'http://[',
];
const hostileText = fc.oneof(
  id,
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.integer({ min: 1_000, max: 5_000 }).map((length) => 'x'.repeat(length)),
);
const anyValue = fc.oneof(
  hostileText,
  fc.constantFrom(null, true, 0, -1, 1.5, 1e300, 2 ** 53),
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(hostileText, { maxLength: 3 }),
  fc.constant(Array.from({ length: 1_001 }, () => 'x')),
);

function namesIn(schema: z.ZodType): readonly string[] {
  return 'shape' in schema ? Object.keys((schema as z.ZodObject).shape) : [...BODY_FIELDS];
}

/** An object with some of the fields, and perhaps one that no schema has. */
function objectOf<T>(schema: z.ZodType, value: fc.Arbitrary<T>): fc.Arbitrary<Readonly<Record<string, T>>> {
  const name = fc.constantFrom(...namesIn(schema), 'unknown', '__proto__');
  return fc.uniqueArray(fc.tuple(name, value), { maxLength: 6, selector: ([field]) => field }).map(
    // Assigning `__proto__` would not make a field.
    (fields) => Object.fromEntries(fields),
  );
}

async function storedNow(): Promise<string> {
  const answers = await Promise.all(STORED.map((path) => dashboard().admin.get(path)));
  return JSON.stringify(
    answers.map(({ json }) => json),
    (name, value: unknown) => (name === 'seen_at' || name === 'last_used_at' ? null : value),
  );
}

test('random input is never a fault of the service, and changes nothing if it is refused', {
  timeout: TEST_MS_MAX,
}, async () => {
  const { admin, routes } = dashboard();
  const all = [
    ...routes.routes.filter(({ path }) => !ENDS_SESSION.has(path)),
    ...routes.projectRoutes.map((route) => ({ ...route, path: `p/default/test/${route.path}` })),
  ];
  for (const { method, path, schemas } of all) {
    const input = fc.record({
      target: fc
        .tuple(fc.array(hostileText, { minLength: 2, maxLength: 2 }), objectOf(schemas.query, hostileText))
        .filter(([params]) => params.every((text) => text.isWellFormed()))
        .map(([[first = '', second = ''], query]) => {
          const at = [first, second].map(encodeURIComponent);
          const filled = path.replace(':id', at[0] ?? '').replace(':secret', at[1] ?? '');
          return `${filled}?${new URLSearchParams(query).toString()}`;
        }),
      body: objectOf(schemas.body, anyValue),
    });
    let stored = method === 'GET' ? '' : await storedNow();
    await fc.assert(
      fc.asyncProperty(input, async ({ target, body }) => {
        const { status } =
          method === 'GET' ? await admin.get(target) : await admin.change(method, target, body);
        expect(status).toBeLessThan(500);
        if (method !== 'GET' && status < 300) stored = await storedNow();
      }),
      { numRuns: RUNS_OF_ROUTE },
    );
    if (method !== 'GET') expect(await storedNow(), path).toBe(stored);
  }
});
