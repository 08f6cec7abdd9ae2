/** What each role may, over every route there is; and what a person who sees some projects sees of the others. */
import { describe, expect, test } from 'vitest';
import type { AuditLine, Listed, ProjectInfo, SessionInfo } from '#src/control/http/contract.ts';
import { mayAct, ROLES, type Role } from '#src/domain/role.ts';
import { type Browser, expectRefused } from './browser.ts';
import { useDashboard } from './harness.ts';

const dashboard = useDashboard();

interface Place {
  readonly method: string;
  readonly path: string;
  readonly needs: Role;
}

/** Every route, its parameters filled in with ids that name nothing. */
function places(project = 'default'): readonly Place[] {
  const { routes, projectRoutes } = dashboard().routes;
  const all = [
    ...routes.map(({ method, path, needs }) => ({ method, path, needs })),
    ...projectRoutes.map(({ method, path, needs }) => ({ method, path: `p/${project}/test/${path}`, needs })),
  ];
  return all.map((place) => ({ ...place, path: place.path.replaceAll(/:id/g, 'sch_nothing') }));
}

/** These end the session that asks. */
const LAST: ReadonlySet<string> = new Set(['logout', 'logout-everywhere']);

function ask(browser: Browser, { method, path }: Place) {
  return method === 'GET' ? browser.get(path) : browser.change(method, path, {});
}

async function auditLog(): Promise<readonly AuditLine[]> {
  return (await dashboard().admin.get<Listed<AuditLine>>('audit?limit=100')).json.data;
}

describe('roles', () => {
  test('there are routes for each of them', () => {
    expect(places().length).toBeGreaterThan(40);
    for (const role of ROLES) expect(places().filter(({ needs }) => needs === role)).not.toEqual([]);
  });

  test.each(['viewer', 'operator'] as const)('what a %s may not is refused, on every route', async (role) => {
    const before = await auditLog();
    const forbidden = places().filter(({ needs }) => !mayAct(role, needs));
    expect(forbidden.length).toBeGreaterThan(10);
    for (const place of forbidden) {
      expectRefused(await ask(dashboard()[role], place), 403, 'not_allowed');
    }
    expect(await auditLog()).toEqual(before);
  });

  test.each(ROLES)('what a %s may is never refused for their role', async (role) => {
    const browser = await dashboard().invite(`another-${role}`, role);
    const allowed = places().filter(({ needs, path }) => mayAct(role, needs) && !LAST.has(path));
    for (const place of allowed) {
      const { status } = await ask(browser, place);
      expect([`${place.method} ${place.path}`, status]).toEqual([
        `${place.method} ${place.path}`,
        expect.toBeOneOf([200, 201, 400, 404, 409, 410, 422]),
      ]);
    }
  });

  test('without a session nothing is answered, on any route', async () => {
    for (const place of [
      ...places(),
      { method: 'GET', path: 'live?watch=about', needs: 'viewer' as const },
    ]) {
      expectRefused(await ask(dashboard().browse(), place), 401, 'not_signed_in');
    }
  });

  test('a key of /v1 opens nothing here, and a session nothing there', async () => {
    const { url, admin, browse } = dashboard();
    const { json } = await admin.post<{ key: string }>('p/default/test/keys');
    const authorization = `Bearer ${json.key}`;
    expect((await fetch(`${url}/v1/schedules`, { headers: { authorization } })).status).toBe(200);
    for (const place of places()) {
      const { method, path } = place;
      const keyed =
        method === 'GET'
          ? await browse().get(path, { authorization })
          : await browse().change(method, path, {}, { authorization });
      expectRefused(keyed, 401, 'not_signed_in');
    }
    const cookie = admin.cookie ?? '';
    for (const headers of [{ cookie }, { cookie, 'x-sched-csrf': admin.csrf, origin: url }]) {
      const answer = await fetch(`${url}/v1/schedules`, { headers });
      expect([answer.status, await answer.json()]).toMatchObject([
        401,
        { error: { code: 'missing_api_key' } },
      ]);
    }
  });
});

describe('reach', () => {
  test('of other projects a person sees nothing, as if they were not there', async () => {
    const { invite } = dashboard();
    for (const role of ROLES) {
      const confined = await invite(`confined-${role}`, role, ['shop']);
      const { json } = await confined.get<Listed<ProjectInfo>>('projects');
      expect(json.data.map(({ name }) => name)).toEqual(['shop']);
      expect((await confined.get<SessionInfo>('whoami')).json.projects.map(({ name }) => name)).toEqual([
        'shop',
      ]);
      expect((await confined.get('p/shop/live/keys')).status).toBe(200);

      const others = places('default').filter(({ path }) => path.startsWith('p/'));
      for (const place of others) {
        const hidden = await ask(confined, place);
        const missing = await ask(confined, { ...place, path: place.path.replace('p/default', 'p/nowhere') });
        expectRefused(hidden, 404, 'not_found');
        expect(withoutId(hidden.text)).toBe(withoutId(missing.text));
      }
    }
  });

  test('an admin of some projects has no say in what concerns all of them', async () => {
    const confined = await dashboard().invite('confined', 'admin', ['shop']);
    for (const place of places().filter(({ needs, path }) => needs === 'admin' && !path.startsWith('p/'))) {
      expectRefused(await ask(confined, place), 403, 'not_allowed');
    }
  });

  test('an id of another project or mode names nothing', async () => {
    const { admin } = dashboard();
    const key = await admin.post<{ id: string }>('p/default/test/keys');
    expectRefused(await admin.post(`p/shop/test/keys/${key.json.id}/revoke`), 404, 'not_found');
    expectRefused(await admin.post(`p/default/live/keys/${key.json.id}/revoke`), 404, 'not_found');
    const secrets = await admin.get<Listed<{ id: string }>>('p/default/test/secrets');
    const secretId = secrets.json.data[0]?.id ?? '';
    expectRefused(await admin.post(`p/shop/test/secrets/${secretId}/reveal`), 404, 'not_found');
    expectRefused(await admin.post(`p/default/live/secrets/${secretId}/reveal`), 404, 'not_found');
    const schedule = await admin.post<{ id: string }>('p/default/test/schedules', {
      endpoint: 'https://receiver.example/',
      delay: '1h',
    });
    expect(schedule.status).toBe(201);
    for (const path of ['', '/calendar', '/reveal', '/pause']) {
      const place = { path: `p/shop/test/schedules/${schedule.json.id}${path}`, needs: 'admin' as const };
      const isChange = path === '/reveal' || path === '/pause';
      expectRefused(await ask(admin, { ...place, method: isChange ? 'POST' : 'GET' }), 404, 'not_found');
    }
  });

  test.each(['p/default/both/keys', 'p/default/TEST/keys', 'p/default/__proto__/keys', 'p/%2e%2e/test/keys'])(
    '%s is no place',
    async (path) => {
      expectRefused(await dashboard().admin.get(path), 404, 'not_found');
    },
  );

  test('what is watched live is refused alike', async () => {
    const { invite } = dashboard();
    const confined = await invite('watching', 'viewer', ['shop']);
    const watches = ['p/default/test/keys', 'users', 'whoami', 'p/shop/test/keys'];
    const told = await confined.watch(watches);
    expect(
      told.map((each) => [each.watch, each.event, each.event === 'refused' ? each.status : 200]),
    ).toEqual(
      expect.arrayContaining([
        ['p/default/test/keys', 'refused', 404],
        ['users', 'refused', 403],
        ['whoami', 'refused', 404],
        ['p/shop/test/keys', 'data', 200],
      ]),
    );
  });
});

function withoutId(text: string): string {
  return text.replace(/req_\w+/, '');
}
