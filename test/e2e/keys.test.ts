/** The names of labels and headers are stored as they were sent, whatever other customers sent before. */
import { describe, expect, it } from 'vitest';
import { expectStatus } from './expectations.ts';
import { useSched } from './harness.ts';
import type { Schedule } from './resources.ts';

const { api, addProject } = useSched();

const FIELDS = '"endpoint":"https://example.com/hook","delay":"1h"';

/** A name of another customer with a backslash, a name written with an escape, and the name it means. */
const PAIRS = [
  ['gr\\\\u0', 'gr\\u00f6\\u00dfe', 'größe'],
  ['\\\\', '\\"', '"'],
  ['X-\\\\', 'X-\\u0041', 'X-A'],
] as const;

describe('after another customer’s name with a backslash', () => {
  it.each(PAIRS)('%s, the name %s is read correctly', async (theirs, written, name) => {
    const other = (await addProject(`before-${PAIRS.findIndex(([first]) => first === theirs)}`)).test;
    const maps = (key: string, value: string) => `{"order":"${value}","${key}":"${value}"}`;
    const create = (key: string, value: string) =>
      `{${FIELDS},"metadata":${maps(key, value)},"headers":${maps(key, value)}}`;
    expectStatus(await other.send('POST', '/v1/schedules', { raw: create(theirs, 'a') }), 201);

    const shown = expectStatus(
      await api.send<Schedule>('POST', '/v1/schedules', { raw: create(written, 'b') }),
      201,
    );
    expect(shown.metadata).toEqual({ order: 'b', [name]: 'b' });
    expect(shown.header_keys).toEqual(['order', name]);
    const again = await api.get<Schedule>(`/v1/schedules/${shown.id}`);
    expect(again.text).toContain(`{"order":"b",${JSON.stringify(name)}:"b"}`);

    const patch = { raw: `{"metadata":${maps(written, 'c')}}` };
    const patched = expectStatus(await api.send<Schedule>('PATCH', `/v1/schedules/${shown.id}`, patch), 200);
    expect(patched.metadata).toEqual({ order: 'c', [name]: 'c' });
    const large = `{${FIELDS},"metadata":${maps(written, 'd')},"body":"${'x'.repeat(100_000)}"}`;
    const stored = expectStatus(await api.send<Schedule>('POST', '/v1/schedules', { raw: large }), 201);
    expect(stored.metadata).toEqual({ order: 'd', [name]: 'd' });
  });
});
