/**
 * Random input for every route of the control plane. A request is the one of the matrix, with some values replaced. The
 * fields come from the schemas of the routes. No answer may be a fault of the service, and a refused request must
 * change nothing.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { BODY_FIELDS } from '#src/api/contract/bodies.ts';
import { useDashboard } from './harness.ts';
import { MATRIX, PROJECT, Preparations } from './matrix.ts';

const dashboard = useDashboard();

const RUNS_OF_ROUTE = 10;
const TEST_MS_MAX = 240_000;
/** These routes read no input, and end the session of the test. */
const ENDS_SESSION: ReadonlySet<string> = new Set(['logout', 'logout-everywhere']);

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
  { arbitrary: hostileText, weight: 3 },
  fc.constantFrom(null, true, 0, -1, 1.5, 1e300, 2 ** 53),
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(hostileText, { maxLength: 3 }),
  fc.constant(Array.from({ length: 1_001 }, () => 'x')),
);

function namesIn(schema: z.ZodType): readonly string[] {
  return 'shape' in schema ? Object.keys((schema as z.ZodObject).shape) : [...BODY_FIELDS];
}

/** New values for one or two fields. Rarely, one of them is a field that no schema has. */
function valuesOf<T>(schema: z.ZodType, value: fc.Arbitrary<T>) {
  const names = [...namesIn(schema)];
  const name = fc.oneof(
    { arbitrary: fc.constantFrom(...(names.length === 0 ? ['unknown'] : names)), weight: 9 },
    { arbitrary: fc.constantFrom('unknown', '__proto__'), weight: 1 },
  );
  return fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 2 });
}

test('random input is never a fault of the service, and changes nothing if it is refused', {
  timeout: TEST_MS_MAX,
}, async () => {
  const { admin, routes, stored } = dashboard();
  const prepared = new Preparations(dashboard(), 'random');
  for (const { name, method, path, schemas } of routes.filter((route) => !ENDS_SESSION.has(route.path))) {
    const call = (await MATRIX[name]?.prepare(prepared)) ?? {};
    const target = path.replace('p/:project/:mode', `p/${PROJECT}/test`);
    const param = (given = '') =>
      fc.oneof(
        { arbitrary: fc.constant(given), weight: 3 },
        { arbitrary: hostileText.filter((text) => text.isWellFormed()), weight: 1 },
      );
    const input = fc.record({
      id: param(call.id),
      secret: param(call.secret),
      query: valuesOf(schemas.query, hostileText),
      fields: valuesOf(schemas.body, anyValue),
    });
    let before = stored();
    await fc.assert(
      fc.asyncProperty(input, async ({ id, secret, query, fields }) => {
        const filled = target
          .replace(':id', () => encodeURIComponent(id))
          .replace(':secret', () => encodeURIComponent(secret));
        const sent = `${filled}?${new URLSearchParams(query).toString()}`;
        // Assigning `__proto__` would not make a field.
        const body = Object.fromEntries([...Object.entries(call.body ?? {}), ...fields]);
        const { status } = method === 'GET' ? await admin.get(sent) : await admin.change(method, sent, body);
        expect(status).toBeLessThan(500);
        if (method === 'GET') return;
        const after = stored();
        if (status >= 300) expect(after, `${method} ${sent}`).toBe(before);
        before = after;
      }),
      { numRuns: RUNS_OF_ROUTE, endOnFailure: true },
    );
    expect(stored(), path).toBe(before);
  }
});
