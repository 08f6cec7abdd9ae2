/** Routes without a key: the OpenAPI document, the reference page, and the probes. */
import { describe, expect, it } from 'vitest';
import { expectStatus } from './expectations.ts';
import { TEST_KEY, useSched } from './harness.ts';
import { ONE_SHOT } from './resources.ts';

const { anonymous, atOneNode } = useSched();

/** The calls of the specification and of its extensions: method, path, status of success, whether marked IK. */
const ROUTES: readonly (readonly [method: string, path: string, status: number, marked: boolean])[] = [
  ['post', '/v1/schedules', 201, true],
  ['get', '/v1/schedules', 200, false],
  ['get', '/v1/schedules/{id}', 200, false],
  ['patch', '/v1/schedules/{id}', 200, true],
  ['post', '/v1/schedules/{id}/reschedule', 200, true],
  ['post', '/v1/schedules/{id}/pause', 200, false],
  ['post', '/v1/schedules/{id}/resume', 200, false],
  ['post', '/v1/schedules/{id}/cancel', 200, false],
  ['get', '/v1/schedules/{id}/deliveries', 200, false],
  ['post', '/v1/endpoints', 201, true],
  ['get', '/v1/endpoints', 200, false],
  ['get', '/v1/endpoints/{id}', 200, false],
  ['patch', '/v1/endpoints/{id}', 200, true],
  ['post', '/v1/endpoints/{id}/archive', 200, false],
  ['get', '/v1/deliveries', 200, false],
  ['get', '/v1/deliveries/{id}', 200, false],
  ['post', '/v1/deliveries/{id}/replay', 201, true],
  ['get', '/v1/deliveries/{id}/attempts', 200, false],
  ['put', '/v1/schedules/named/{name}', 200, false],
  ['get', '/v1/schedules/named/{name}', 200, false],
  ['post', '/v1/schedules/{id}/trigger', 200, true],
  ['put', '/v1/endpoints/named/{name}', 200, false],
  ['get', '/v1/endpoints/named/{name}', 200, false],
  ['post', '/v1/deliveries/{id}/cancel', 200, false],
  ['get', '/v1/deliveries/{id}/attempts/{attempt_no}/response', 200, false],
  ['get', '/v1/attempts', 200, false],
];

interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

async function openApi(): Promise<OpenApi> {
  return expectStatus(await anonymous.get<OpenApi>('/openapi.json'), 200);
}

describe('/openapi.json', () => {
  it('is OpenAPI 3.1 with the label v0 and exactly the routes of the specification and its extensions', async () => {
    const document = await openApi();
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe('v0');
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(described.toSorted()).toEqual(ROUTES.map(([method, path]) => `${method} ${path}`).toSorted());
  });

  it.each(ROUTES)('%s %s', async (method, path, status, marked) => {
    const operation = (await openApi()).paths[path]?.[method];
    const statuses = Object.keys(operation?.responses ?? {});
    expect(statuses).toContain(`${status}`);
    expect(operation?.responses['401']?.description).toContain('missing_api_key');
    if (path.includes('{id}')) expect(operation?.responses['404']?.description).toContain('not_found');
    const headers = operation?.parameters
      ?.filter((parameter) => parameter.in === 'header')
      .map(({ name }) => name);
    expect(headers?.includes('Idempotency-Key')).toBe(marked);
  });

  it.each([
    ['/v1/schedules', ['cursor', 'limit', 'state', 'kind', 'metadata', 'endpoint_id', 'name', 'q']],
    ['/v1/schedules/{id}/deliveries', ['id', 'cursor', 'limit']],
    ['/v1/endpoints', ['cursor', 'limit', 'include_archived']],
    [
      '/v1/deliveries',
      [
        'cursor',
        'limit',
        'status',
        'schedule_id',
        'endpoint_id',
        'replay_of',
        'notification_of',
        'created_after',
        'created_before',
      ],
    ],
    ['/v1/deliveries/{id}/attempts', ['id', 'cursor', 'limit']],
    ['/v1/attempts', ['cursor', 'limit', 'outcome', 'endpoint_id']],
  ])('the query of GET %s', async (path, expected) => {
    const parameters = (await openApi()).paths[path]?.get?.parameters ?? [];
    const names = parameters.filter((parameter) => parameter.in !== 'header').map(({ name }) => name);
    expect(names.toSorted()).toEqual(expected.toSorted());
  });
});

describe('/docs', () => {
  it('is a page that names every route', async () => {
    const { headers, text } = await anonymous.get('/docs');
    expect(headers['content-type']).toMatch(/^text\/html/);
    for (const [method, path] of ROUTES) {
      expect(text.toLowerCase()).toContain(method);
      expect(text).toContain(path);
    }
  });

  it('loads only its own script and style, and has a strict content security policy', async () => {
    const { headers, text } = await anonymous.get('/docs');
    const links = [...text.matchAll(/\s(?:src|href|action|poster|srcset)\s*=\s*["']?([^"'\s>]*)/gi)].map(
      (link) => link[1],
    );
    const outside = links.filter((link) => !/^(#|\/(?!\/)|data:image\/svg\+xml,)/.test(link ?? ''));
    expect(outside).toEqual([]);
    expect(
      text.match(/<script(?! type="module" src="\/docs\/page.js"><)|<style|<iframe|<object|<embed|<base/gi),
    ).toBeNull();

    const policy = String(headers['content-security-policy']).split(/;\s*/);
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
      ]),
    );
    expect(policy.filter((directive) => /\*|https?:|unsafe/.test(directive))).toEqual([]);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['x-frame-options']).toBe('DENY');
  });

  it.each(['/docs', '/docs/page.js', '/docs/page.css'])(
    '%s is compressed, and a browser that has it gets 304',
    async (path) => {
      const { headers, status } = await anonymous.with({ 'Accept-Encoding': 'gzip' }).get(path);
      expect([status, headers['content-encoding'], headers['cache-control']]).toEqual([
        200,
        'gzip',
        'no-cache',
      ]);
      const again = await anonymous
        .with({ 'Accept-Encoding': 'gzip', 'If-None-Match': String(headers.etag) })
        .get(path);
      expect([again.status, again.text]).toEqual([304, '']);
    },
  );
});

describe('the probes', () => {
  it.each(['/healthz', '/readyz'])('%s answers 200 without a key', async (path) => {
    expect(expectStatus(await anonymous.get(path), 200)).toHaveProperty('status');
  });

  it('/metrics counts requests by their route, never by path or id', async () => {
    const api = atOneNode.as(TEST_KEY);
    const { json } = await api.post<{ readonly id: string }>('/v1/schedules', ONE_SHOT);
    await api.get(`/v1/schedules/${json.id}`);
    const { status, headers, text } = await atOneNode.get('/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(text).toMatch(/^# TYPE \w+ (counter|histogram|gauge)$/m);
    expect(text).toMatch(/\{[^}]*"\/v1\/schedules\/:id"[^}]*\} \d/);
    expect(text).not.toContain(json.id);
  });
});
