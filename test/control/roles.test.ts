/** Checks what each role may do on every route, and that a user sees nothing of projects outside their scope. */
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { Listed, ProjectInfo, SessionInfo } from '#src/control/http/contract.ts';
import type { Route } from '#src/control/http/route.ts';
import { mayAct, ROLES, type Role } from '#src/domain/role.ts';
import { ANSWERED } from './answers.ts';
import { type Browser, expectRefused } from './browser.ts';
import { useDashboard } from './harness.ts';
import { type Entry, MATRIX, PROJECT, Preparations } from './matrix.ts';

/** The test makes hundreds of calls, on a machine that may be busy. */
const MATRIX_MS_MAX = 120_000;
/**
 * The routes of the HTTP server itself: public routes, the stream, the authorized routes, and the files of the page.
 */
const SERVED = [
  'GET /api/whoami',
  'POST /api/login',
  'POST /api/invitation/lookup',
  'POST /api/invitation',
  'GET /api/live',
  'ALL /api/*',
  ...['', '/*', '/assets/*', '/licenses.md'].flatMap((path) => [`GET ${path}`, `HEAD ${path}`]),
];

const dashboard = useDashboard();

interface Target {
  readonly method: string;
  readonly path: string;
  readonly needs: Role;
}

/** Every route, with ids of objects that do not exist. */
function targets(project = 'default'): readonly Target[] {
  return everyRoute().map((name) => {
    const [method = '', pattern = ''] = name.split(' ');
    const path = pattern
      .replace('p/:project/:mode', `p/${project}/test`)
      .replaceAll(/:id|:secret/g, 'sch_nothing');
    return { method, path, needs: MATRIX[name]?.needs ?? 'viewer' };
  });
}

/** Returns the routes by their names in the matrix. */
function everyRoute(): readonly string[] {
  return authorized().map(({ name }) => name);
}

function authorized(): readonly Route[] {
  return dashboard().routes.filter(({ access }) => access !== 'public');
}

function send(browser: Browser, { method, path }: Pick<Target, 'method' | 'path'>, body: object = {}) {
  return method === 'GET' ? browser.get(path) : browser.change(method, path, body);
}

/** The projects that a user is limited to, relative to the project of the request. */
const SCOPES = {
  everything: undefined,
  'this project alone': [PROJECT],
  'another project alone': ['default'],
} as const satisfies Readonly<Record<string, readonly string[] | undefined>>;
type Scope = keyof typeof SCOPES;

function expected(name: string, { needs, status }: Entry, role: Role, scope: Scope): number {
  const isOfProject = name.includes(' p/:project/');
  if (isOfProject && scope === 'another project alone') return 404;
  const isInScope = isOfProject || needs !== 'admin' || scope === 'everything';
  return isInScope && mayAct(role, needs) ? status : 403;
}

describe('the matrix of roles, routes and project scopes', () => {
  test('has an entry for every route, and no other entry', () => {
    expect(everyRoute().toSorted()).toEqual(Object.keys(MATRIX).toSorted());
    expect(dashboard().served.toSorted()).toEqual(SERVED.toSorted());
  });

  test('every route has a schema of its answer and of each wildcard of its path, and every change is audited', () => {
    const names = dashboard().routes.map(({ name }) => name);
    expect([...names, 'POST local-session'].toSorted()).toEqual([...ANSWERED.keys()].toSorted());
    const unaudited = authorized().filter(({ isAudited, method }) => !isAudited && method !== 'GET');
    expect(unaudited.map(({ name }) => name)).toEqual(['POST p/:project/:mode/preview']);
    const open = dashboard().routes.filter(({ access }) => access === 'public');
    expect(open.filter(({ isAudited }) => isAudited)).toEqual([]);
    for (const { path, schemas } of authorized()) {
      const own = path.replace('p/:project/:mode/', '');
      const wildcards = [...own.matchAll(/:(\w+)/g)].map(([, name]) => name);
      const named = Object.keys((schemas.params as z.ZodObject).shape);
      expect(named, path).toEqual(expect.arrayContaining(wildcards));
    }
  });

  test.each(ROLES)('holds for a %s with every project scope', { timeout: MATRIX_MS_MAX }, async (role) => {
    const prepared = new Preparations(dashboard(), `for-${role}`);
    for (const [scope, projects] of Object.entries(SCOPES) as [Scope, readonly string[] | undefined][]) {
      const invited = () => dashboard().invite(prepared.newName(), role, projects);
      const person = await invited();
      for (const [name, entry] of Object.entries(MATRIX)) {
        const { id = '', secret = '', body = {}, query } = await entry.prepare(prepared);
        const [method = '', pattern = ''] = name.split(' ');
        const path = pattern
          .replace('p/:project/:mode', `p/${PROJECT}/test`)
          .replace(':id', id)
          .replace(':secret', secret);
        const browser = entry.endsSession === true ? await invited() : person;
        const target = { method, path: query === undefined ? path : `${path}?${query}` };
        const { status } = await send(browser, target, body);
        expect([name, role, scope, status]).toEqual([name, role, scope, expected(name, entry, role, scope)]);
      }
    }
  });

  test('holds for a change of destination, which needs an admin if headers or a body are stored', async () => {
    const prepared = new Preparations(dashboard(), 'moved');
    const schedule = `p/${PROJECT}/test/schedules/${await prepared.schedule()}`;
    const endpoint = `p/${PROJECT}/test/endpoints/${await prepared.endpoint()}`;
    const url = 'https://elsewhere.example/';
    for (const projects of [undefined, [PROJECT]]) {
      for (const role of ['viewer', 'operator', 'admin'] as const) {
        const person = await dashboard().invite(prepared.newName(), role, projects);
        for (const [path, change] of [
          [schedule, { endpoint: url }],
          [endpoint, { url }],
        ] as const) {
          const answer = await person.change('PATCH', path, change);
          if (role === 'admin') expect(answer.status).toBe(200);
          else expectRefused(answer, 403, role === 'viewer' ? 'not_allowed' : 'destination_guarded');
        }
      }
      await dashboard().admin.change('PATCH', schedule, { endpoint: 'https://receiver.example/' });
      await dashboard().admin.change('PATCH', endpoint, { url: 'https://receiver.example/' });
    }
  });
});

describe('roles', () => {
  test('every route needs a session', async () => {
    for (const target of [
      ...targets(),
      { method: 'GET', path: 'live?watch=about', needs: 'viewer' as const },
    ]) {
      expectRefused(await send(dashboard().browse(), target), 401, 'not_signed_in');
    }
  });

  test('a key of /v1 is not accepted here, and a session is not accepted by /v1', async () => {
    const { url, admin, browse } = dashboard();
    const { json } = await admin.post<{ key: string }>('p/default/test/keys');
    const authorization = `Bearer ${json.key}`;
    expect((await fetch(`${url}/v1/schedules`, { headers: { authorization } })).status).toBe(200);
    for (const target of targets()) {
      const { method, path } = target;
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

describe('the project scope', () => {
  test('hides other projects as if they did not exist', async () => {
    const { invite } = dashboard();
    for (const role of ROLES) {
      const confined = await invite(`confined-${role}`, role, ['shop']);
      const { json } = await confined.get<Listed<ProjectInfo>>('projects');
      expect(json.data.map(({ name }) => name)).toEqual(['shop']);
      expect((await confined.get<SessionInfo>('whoami')).json.projects.map(({ name }) => name)).toEqual([
        'shop',
      ]);
      expect((await confined.get('p/shop/live/keys')).status).toBe(200);

      const others = targets('default').filter(({ path }) => path.startsWith('p/'));
      for (const target of others) {
        const hidden = await send(confined, target);
        const missing = await send(confined, {
          ...target,
          path: target.path.replace('p/default', 'p/nowhere'),
        });
        expectRefused(hidden, 404, 'not_found');
        expect(withoutId(hidden.text)).toBe(withoutId(missing.text));
      }
    }
  });

  test('keeps an admin of some projects from routes that concern every project', async () => {
    const confined = await dashboard().invite('confined', 'admin', ['shop']);
    for (const target of targets().filter(({ needs, path }) => needs === 'admin' && !path.startsWith('p/'))) {
      expectRefused(await send(confined, target), 403, 'not_allowed');
    }
  });

  test('hides objects of another project or mode', async () => {
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
      const target = { path: `p/shop/test/schedules/${schedule.json.id}${path}`, needs: 'admin' as const };
      const isChange = path === '/reveal' || path === '/pause';
      expectRefused(await send(admin, { ...target, method: isChange ? 'POST' : 'GET' }), 404, 'not_found');
    }
  });

  test.each(['p/default/both/keys', 'p/default/TEST/keys', 'p/default/__proto__/keys', 'p/%2e%2e/test/keys'])(
    'does not accept the path %s',
    async (path) => {
      expectRefused(await dashboard().admin.get(path), 404, 'not_found');
    },
  );

  test('applies to live streams too', async () => {
    const { invite } = dashboard();
    const confined = await invite('watching', 'viewer', ['shop']);
    const watches = ['p/default/test/keys', 'users', 'whoami', 'p/shop/test/keys'];
    const events = await confined.watch(watches);
    expect(
      events.map((each) => [each.watch, each.event, each.event === 'refused' ? each.status : 200]),
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
