/**
 * Random input for every route of the control plane. The fields come from the schemas of the routes, so a new route is
 * tested without further code. No answer may be a fault of the service, and a refused request must change nothing.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { BODY_FIELDS } from '#src/api/contract/bodies.ts';
import { useDashboard } from './harness.ts';
import { PROJECT, Preparations } from './matrix.ts';

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

test('random input is never a fault of the service, and changes nothing if it is refused', {
  timeout: TEST_MS_MAX,
}, async () => {
  const { admin, routes, stored } = dashboard();
  const objects = await existing();
  for (const { method, path, schemas } of routes.filter((route) => !ENDS_SESSION.has(route.path))) {
    const target = path.replace('p/:project/:mode', `p/${PROJECT}/test`);
    const param = fc.oneof(hostileText, fc.constantFrom(...objects)).filter((text) => text.isWellFormed());
    const input = fc.record({
      id: param,
      secret: param,
      query: objectOf(schemas.query, hostileText),
      body: objectOf(schemas.body, anyValue),
    });
    let before = stored();
    await fc.assert(
      fc.asyncProperty(input, async ({ id, secret, query, body }) => {
        const filled = target
          .replace(':id', () => encodeURIComponent(id))
          .replace(':secret', () => encodeURIComponent(secret));
        const sent = `${filled}?${new URLSearchParams(query).toString()}`;
        const { status } = method === 'GET' ? await admin.get(sent) : await admin.change(method, sent, body);
        expect(status).toBeLessThan(500);
        if (method === 'GET') return;
        const after = stored();
        if (status >= 300) expect(after, `${method} ${sent}`).toBe(before);
        before = after;
      }),
      { numRuns: RUNS_OF_ROUTE },
    );
    expect(stored(), path).toBe(before);
  }
});

/** The ids of one object of each kind. Without them, nearly all requests would be refused because of their path. */
async function existing(): Promise<readonly string[]> {
  const prepared = new Preparations(dashboard(), 'random');
  const { id, secret } = await prepared.endpointSecret();
  const others = await Promise.all(
    (['user', 'invitation', 'key', 'secret', 'schedule', 'endedDelivery', 'job'] as const).map((kind) =>
      prepared[kind](),
    ),
  );
  return [id, secret, ...others];
}
