/** Large requests: all are answered, small ones do not wait for them, and their fields follow the same rules. */
import { describe, expect, it } from 'vitest';
import { expectError, expectStatus } from './expectations.ts';
import { useSched } from './harness.ts';
import { ONE_SHOT, type Schedule } from './resources.ts';

const { api, anonymous, addProject } = useSched();

const LARGE_COUNT = 300;
const LARGE_CHARACTERS = 131_072;
const BODY_CHARACTERS = 262_144;

describe('300 concurrent large creates', () => {
  it('are all stored, and small calls are answered meanwhile', async () => {
    const other = (await addProject('small')).test;
    const raw = JSON.stringify({ ...ONE_SHOT, body: 'x'.repeat(LARGE_CHARACTERS) });
    let answered = 0;
    const large = Array.from({ length: LARGE_COUNT }, async () => {
      const { status } = await api.send('POST', '/v1/schedules', { raw });
      answered++;
      return status;
    });
    for (const caller of [other, api]) {
      expectStatus(await caller.post('/v1/schedules', ONE_SHOT), 201);
      expectStatus(await caller.get('/v1/schedules?limit=1'), 200);
    }
    expectStatus(await anonymous.get('/healthz'), 200);
    expect(answered).toBeLessThan(LARGE_COUNT);
    expect(new Set(await Promise.all(large))).toEqual(new Set([201]));
  });
});

const MEMBERS = 60_000;

function members(value: string, prefix = 'k'): string {
  return Array.from({ length: MEMBERS }, (_, i) => `"${prefix}${i.toString(36)}":${value}`).join();
}

function fields(more: string): string {
  return `${JSON.stringify(ONE_SHOT).slice(0, -1)},${more}}`;
}

describe('a large body', () => {
  const refused: readonly (readonly [
    what: string,
    raw: string,
    status: number,
    code: string,
    param: string | null,
  ])[] = [
    ['of spaces', ' '.repeat(100_000), 400, 'invalid_json', null],
    ['that is a list', `[${'1,'.repeat(100_000)}1]`, 400, 'invalid_json', null],
    ['that ends too early', fields(`"x":"${'x'.repeat(100_000)}"`).slice(0, -1), 400, 'invalid_json', null],
    ['with a text after its end', `${fields(`"x":{${members('1')}}`)}x`, 400, 'invalid_json', null],
    ['with a fault nested deep', fields(`"x":${'['.repeat(50_000)}x`), 400, 'invalid_json', null],
    ['with very many labels', fields(`"metadata":{${members('"v"')}}`), 422, 'too_many_labels', 'metadata'],
    ['with very many headers', fields(`"headers":{${members('""')}}`), 413, 'payload_too_large', 'headers'],
    [
      'with labels that are not strings',
      fields(`"metadata":{${members('1')}}`),
      400,
      'invalid_request',
      'metadata',
    ],
    [
      'with nested labels',
      fields(`"metadata":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
      400,
      'invalid_request',
      'metadata',
    ],
    [
      'with a string that is too long',
      fields(`"body":"${'x'.repeat(BODY_CHARACTERS + 1)}"`),
      413,
      'payload_too_large',
      'body',
    ],
    [
      'with an invalid field after very many others',
      `{${members('1')},${fields('"method":"TRACE"').slice(1)}`,
      400,
      'invalid_method',
      'method',
    ],
  ];
  it.each(refused)('%s is refused', async (_what, raw, status, code, param) => {
    expectError(await api.send('POST', '/v1/schedules', { raw }), status, code, param);
  });

  const accepted: readonly (readonly [what: string, raw: string])[] = [
    ['of many unknown fields', fields(members('1'))],
    ['of many unknown fields before the known ones', `{${members('1')},${fields('"x":1').slice(1)}`],
    ['of a deep unknown field', fields(`"x":${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}`)],
    ['of the longest text, each character two units', fields(`"body":"${'\ud83d\ude80'.repeat(200_000)}"`)],
    [
      'with a string that is itself JSON',
      fields(`"body":${JSON.stringify(`[${'{"a":"b"},'.repeat(20_000)}1]`)}`),
    ],
    ['with a byte order mark', `\ufeff${fields(`"x":"${'x'.repeat(100_000)}"`)}`],
  ];
  it.each(accepted)('%s is accepted', async (_what, raw) => {
    expectStatus(await api.send('POST', '/v1/schedules', { raw }), 201);
    expectStatus(await api.send('POST', '/v1/schedules', { raw, chunked: true }), 201);
  });

  it('is idempotent like a small one', async () => {
    const raw = fields(`"x":"${'x'.repeat(100_000)}"`);
    const headers = { 'idempotency-key': 'large' };
    const first = await api.send<Schedule>('POST', '/v1/schedules', { raw, headers });
    const again = await api.send<Schedule>('POST', '/v1/schedules', { raw, headers });
    expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([201, 201, 'true']);
    expect(again.json.id).toBe(first.json.id);
  });

  it('keeps the known fields among very many others', async () => {
    const policy = `"retry_policy":{${members('1')},"max_attempts":3}`;
    const headers = `"headers":{${'"X-A":"1",'.repeat(20_000)}"X-B":"2"}`;
    const raw = fields(`${policy},${headers}`);
    const shown = expectStatus(await api.send<Schedule>('POST', '/v1/schedules', { raw }), 201);
    expect(shown.retry_policy.max_attempts).toBe(3);
    expect(shown.header_keys).toEqual(['X-A', 'X-B']);
  });

  it('of a PATCH follows the same rules', async () => {
    const { id } = expectStatus(await api.post<Schedule>('/v1/schedules', ONE_SHOT), 201);
    const raw = `{${members('1')},"metadata":{"a":"b"}}`;
    const patched = expectStatus(await api.send<Schedule>('PATCH', `/v1/schedules/${id}`, { raw }), 200);
    expect(patched.metadata).toEqual({ a: 'b' });
  });

  it('of an operation without a body is ignored', async () => {
    const { id } = expectStatus(await api.post<Schedule>('/v1/schedules', ONE_SHOT), 201);
    expectStatus(await api.send('POST', `/v1/schedules/${id}/pause`, { raw: 'x'.repeat(100_000) }), 200);
  });
});
