/**
 * A request with one fault to every route that changes something. Without the fault it succeeds, so the fault alone is
 * the reason for the refusal. A refused request changes nothing.
 */
import { expect, test } from 'vitest';
import type { Route } from '#src/control/http/route.ts';
import { type Browser, expectRefused } from './browser.ts';
import { useDashboard } from './harness.ts';
import { type Call, MATRIX, PROJECT, Preparations } from './matrix.ts';

const dashboard = useDashboard();

const TEST_MS_MAX = 120_000;
/** Values that no field of the control plane accepts: too long, a wrong type, too many, and too deep. */
const WRONG: readonly unknown[] = [
  'x'.repeat(10_000),
  {},
  Array.from({ length: 1_001 }, () => 'x'),
  JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`),
];

function changes(): readonly Route[] {
  return dashboard().routes.filter(({ access, method }) => access !== 'public' && method !== 'GET');
}

/** The operations of /v1 have the errors of /v1. */
function isOperation({ schemas: { body } }: Route): boolean {
  return !('shape' in body);
}

function pathOf({ path }: Route, { id = '', secret = '' }: Call): string {
  return path.replace('p/:project/:mode', `p/${PROJECT}/test`).replace(':id', id).replace(':secret', secret);
}

test('an unknown field of a body is refused by every route, and the same request succeeds without it', {
  timeout: TEST_MS_MAX,
}, async () => {
  const { stored, invite } = dashboard();
  const prepared = new Preparations(dashboard(), 'unknown');
  for (const route of changes()) {
    const { prepare, status, endsSession } = MATRIX[route.name] ?? {};
    const call = (await prepare?.(prepared)) ?? {};
    const person: Browser =
      endsSession === true ? await invite(prepared.newName(), 'admin') : dashboard().admin;
    const before = stored();
    for (const name of ['unknown', '__proto__', 'constructor']) {
      const body = Object.fromEntries([...Object.entries(call.body ?? {}), [name, null]]);
      const answer = await person.change(route.method, pathOf(route, call), body);
      expectRefused(answer, 400, 'unknown_field', name);
    }
    expect(stored(), route.name).toBe(before);
    const { status: answered } = await person.change(route.method, pathOf(route, call), call.body ?? {});
    expect([route.name, answered]).toEqual([route.name, status]);
  }
});

test('a wrong value of any field is refused by every route with the name of the field', {
  timeout: TEST_MS_MAX,
}, async () => {
  const { stored, admin } = dashboard();
  const prepared = new Preparations(dashboard(), 'wrong');
  for (const route of changes()) {
    const call = (await MATRIX[route.name]?.prepare(prepared)) ?? {};
    const before = stored();
    for (const field of Object.keys(call.body ?? {})) {
      for (const value of WRONG) {
        const answer = await admin.change(route.method, pathOf(route, call), {
          ...call.body,
          [field]: value,
        });
        const { error } = answer.json as { readonly error?: { readonly param: string | null } };
        expect([route.name, field, answer.status, error?.param]).toEqual([
          route.name,
          field,
          expect.toBeOneOf([400, 403, 422]),
          field,
        ]);
        if (!isOperation(route)) expect(answer.status).not.toBe(403);
      }
    }
    expect(stored(), route.name).toBe(before);
  }
});

test('an id of the wrong form or kind names nothing that exists', { timeout: TEST_MS_MAX }, async () => {
  const { routes, admin, stored } = dashboard();
  const prepared = new Preparations(dashboard(), 'wrong-id');
  for (const route of routes.filter(({ path }) => path.includes(':id'))) {
    const { body = {} } = (await MATRIX[route.name]?.prepare(prepared)) ?? {};
    const unchanged = stored();
    for (const id of ['x', 'admin', '..', '%00', 'sess_01m7f3gs00zqgw5m2r7n9x0abc', 'x'.repeat(101)]) {
      const path = pathOf(route, { id, secret: 'sec_01m7f3gs00zqgw5m2r7n9x0abc' });
      const answer =
        route.method === 'GET' ? await admin.get(path) : await admin.change(route.method, path, body);
      expectRefused(answer, 404, 'not_found');
    }
    expect(stored(), route.name).toBe(unchanged);
  }
});
