/** What each role may, over every route there is; and what a person who sees some projects sees of the others. */
import { describe, expect, test } from 'vitest';
import type { Listed, ProjectInfo, SessionInfo } from '#src/control/http/contract.ts';
import { mayAct, ROLES, type Role } from '#src/domain/role.ts';
import { type Browser, expectRefused } from './browser.ts';
import { useDashboard } from './harness.ts';
import { type Entry, MATRIX, PROJECT, Preparations } from './matrix.ts';

/** The test makes hundreds of calls, on a machine that may be busy. */
const MATRIX_MS_MAX = 120_000;
/** Everything that the HTTP server itself tells apart: public routes, the stream, the desk, the page's files. */
const SERVED = [
  'GET /api/whoami',
  'POST /api/login',
  'POST /api/invitation/lookup',
  'POST /api/invitation',
  'GET /api/live',
  'ALL /api/*',
  ...['GET', 'HEAD'].flatMap((method) => [`${method} `, `${method} /*`]),
];

const dashboard = useDashboard();

interface Place {
  readonly method: string;
  readonly path: string;
  readonly needs: Role;
}

/** Every route, its parameters filled in with ids that name nothing. */
function places(project = 'default'): readonly Place[] {
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
  const { routes, projectRoutes } = dashboard().routes;
  return [
    ...routes.map(({ method, path }) => `${method} ${path}`),
    ...projectRoutes.map(({ method, path }) => `${method} p/:project/:mode/${path}`),
  ];
}

function ask(browser: Browser, { method, path }: Pick<Place, 'method' | 'path'>, body: object = {}) {
  return method === 'GET' ? browser.get(path) : browser.change(method, path, body);
}

/** The projects that a person is limited to, seen from the project that is asked about. */
const REACHES = {
  everything: undefined,
  'this project alone': [PROJECT],
  'another project alone': ['default'],
} as const satisfies Readonly<Record<string, readonly string[] | undefined>>;
type Reach = keyof typeof REACHES;

function expected(name: string, { needs, status }: Entry, role: Role, reach: Reach): number {
  const isOfProject = name.includes(' p/:project/');
  if (isOfProject && reach === 'another project alone') return 404;
  const hasSay = isOfProject || needs !== 'admin' || reach === 'everything';
  return hasSay && mayAct(role, needs) ? status : 403;
}

describe('the matrix of roles, routes and reach', () => {
  test('has an entry for every route, and none for any other', () => {
    expect(everyRoute().toSorted()).toEqual(Object.keys(MATRIX).toSorted());
    expect(dashboard().served.toSorted()).toEqual(SERVED.toSorted());
  });

  test.each(ROLES)('is what a %s finds, with every reach', { timeout: MATRIX_MS_MAX }, async (role) => {
    const prepared = new Preparations(dashboard(), `for-${role}`);
    for (const [reach, projects] of Object.entries(REACHES) as [Reach, readonly string[] | undefined][]) {
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
        const place = { method, path: query === undefined ? path : `${path}?${query}` };
        const { status } = await ask(browser, place, body);
        expect([name, role, reach, status]).toEqual([name, role, reach, expected(name, entry, role, reach)]);
      }
    }
  });

  test('holds for a change of destination, which needs an admin once something is stored', async () => {
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
