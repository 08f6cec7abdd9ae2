/** The settings pages: projects, keys, secrets, users and the audit log. */
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type {
  AuditLine,
  EndpointSecretInfo,
  InvitationInfo,
  KeyInfo,
  Listed,
  NewKey,
  SecretInfo,
  UserInfo,
} from '#src/control/http/contract.ts';
import { expectRefused } from './browser.ts';
import { ABOUT, useDashboard } from './harness.ts';

const dashboard = useDashboard();
const SECRET = /^whsec_[0-9A-Za-z+/]{43}=$/;

async function listed<T>(path: string): Promise<Listed<T>['data']> {
  return (await dashboard().admin.get<Listed<T>>(path)).json.data;
}

describe('keys', () => {
  test('a key is shown once, works, and is refused within a second of being revoked', async () => {
    const { url, admin, viewer, advance } = dashboard();
    const { status, json } = await admin.post<NewKey>('p/shop/live/keys');
    expect(status).toBe(201);
    expect(json.key).toMatch(/^sk_live_\w{32}$/);
    const call = async () =>
      (await fetch(`${url}/v1/schedules`, { headers: { authorization: `Bearer ${json.key}` } })).status;
    expect(await call()).toBe(200);

    const keys = await viewer.get<Listed<KeyInfo>>('p/shop/live/keys');
    expect(keys.text).not.toContain(json.key);
    expect(keys.json.data).toEqual([
      expect.objectContaining({ id: json.id, hint: json.key.slice(-4), revoked_at: null }),
    ]);

    expect((await admin.post(`p/shop/live/keys/${json.id}/revoke`)).status).toBe(200);
    advance(1_000);
    expect(await call()).toBe(401);
    expectRefused(await admin.post(`p/shop/live/keys/${json.id}/revoke`), 404, 'unknown_key');
    expect((await listed<KeyInfo>('p/shop/live/keys'))[0]?.revoked_at).toEqual(expect.any(String));
  });
});

test('a key that is revoked while a body arrives stores nothing', async () => {
  const { url, admin, viewer, advance } = dashboard();
  const { json } = await admin.post<NewKey>('p/shop/test/keys');
  const body = JSON.stringify({ endpoint: 'https://receiver.example/', delay: '1h' });
  const asked = request(`${url}/v1/schedules`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${json.key}`,
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  const answered = new Promise<IncomingMessage>((resolve) => asked.on('response', resolve));
  asked.flushHeaders();
  await new Promise((resolve) => asked.once('continue', resolve));
  asked.write(body.slice(0, 1));
  expect((await admin.post(`p/shop/test/keys/${json.id}/revoke`)).status).toBe(200);
  advance(1_000);
  asked.end(body.slice(1));
  expect((await answered).resume().statusCode).toBe(401);
  expect((await viewer.get<Listed<object>>('p/shop/test/schedules')).json.data).toEqual([]);
});

describe('secrets', () => {
  test('a rotation shows only the new secret, and older ones sign until the end of the overlap', async () => {
    const { admin, viewer } = dashboard();
    const before = await viewer.get<Listed<SecretInfo>>('p/default/live/secrets');
    expect(before.text).not.toContain('whsec_');
    const [old] = before.json.data;

    const { status, json } = await admin.post<Listed<SecretInfo>>('p/default/live/secrets/rotate', {
      overlap: '1h',
    });
    expect(status).toBe(201);
    expect(json.data).toEqual([
      expect.objectContaining({ text: expect.stringMatching(SECRET), expires_at: null }),
      { ...old, expires_at: expect.any(String) },
    ]);
    expectRefused(
      await admin.post('p/default/live/secrets/rotate', { overlap: 'soon' }),
      422,
      'invalid_overlap',
      'overlap',
    );
    expectRefused(
      await admin.post('p/default/live/secrets/rotate', { overlap: 5 }),
      400,
      'invalid_request',
      'overlap',
    );

    const revealed = await admin.post<SecretInfo>(`p/default/live/secrets/${old?.id}/reveal`);
    expect(revealed.json.text).toMatch(SECRET);
    const [newest] = await listed<AuditLine>('audit?action=secret.reveal');
    expect(newest).toMatchObject({
      actor: 'admin',
      action: 'secret.reveal',
      subject: old?.id,
      project: 'default',
      mode: 'live',
      outcome: 'done',
    });
  });
});

describe('secrets of an endpoint profile', () => {
  const PLACE = 'p/default/test/endpoints';

  test('are created, shown, rotated and removed by an admin, and other users see which ones sign', async () => {
    const { admin, viewer } = dashboard();
    const profile = await admin.post<{ id: string }>(PLACE, { url: 'https://receiver.example/' });
    const path = `${PLACE}/${profile.json.id}/secrets`;
    const created = await admin.post<Listed<EndpointSecretInfo>>(path, { overlap: '1h' });
    expect(created.status).toBe(201);
    const [own] = created.json.data;
    expect(own).toMatchObject({ text: expect.stringMatching(SECRET), expires_at: null });
    expectRefused(await admin.post(path), 409, 'endpoint_secret_exists');

    const seen = await viewer.get<Listed<EndpointSecretInfo>>(path);
    expect(seen.text).not.toContain('whsec_');
    const { text, ...shown } = own ?? { text: '' };
    expect(seen.json.data).toEqual([shown]);
    const revealed = await admin.post<EndpointSecretInfo>(`${path}/${own?.id}/reveal`);
    expect(revealed.json.text).toBe(text);
    expectRefused(await admin.post(`${path}/sec_nothing/reveal`), 404, 'not_found');

    const rotated = await admin.post<Listed<EndpointSecretInfo>>(`${path}/rotate`, { overlap: '2h' });
    expect(rotated.json.data).toEqual([
      expect.objectContaining({ text: expect.stringMatching(SECRET), alone_from: own?.alone_from }),
      { ...shown, expires_at: expect.any(String) },
    ]);
    const removed = await admin.post<Listed<EndpointSecretInfo>>(`${path}/remove`, { overlap: '0' });
    expect(removed.json.data).toEqual([]);
    expectRefused(await admin.post(`${path}/remove`), 409, 'no_endpoint_secret');
    expectRefused(await admin.post(path, { overlap: 'soon' }), 422, 'invalid_overlap', 'overlap');

    const log = await listed<AuditLine>('audit?action=secret.');
    const done = log.filter(({ subject, outcome }) => subject === profile.json.id && outcome === 'done');
    expect(done.map(({ action }) => action)).toEqual([
      'secret.remove',
      'secret.rotate',
      'secret.reveal',
      'secret.create',
    ]);
  });

  test('belong to endpoint profiles of the same project and mode', async () => {
    const { admin } = dashboard();
    const profile = await admin.post<{ id: string }>(PLACE, { url: 'https://receiver.example/' });
    const { id } = profile.json;
    for (const path of [
      `p/shop/test/endpoints/${id}`,
      `p/default/live/endpoints/${id}`,
      `${PLACE}/ep_01m7f3gs00zqgw5m2r7n9x0abc`,
    ]) {
      expectRefused(await admin.get(`${path}/secrets`), 404, 'unknown_endpoint');
      expectRefused(await admin.post(`${path}/secrets`), 404, 'unknown_endpoint');
    }
  });
});

describe('users', () => {
  test('are listed and changed by an admin', async () => {
    const { admin, invite } = dashboard();
    const browser = await invite('colleague', 'viewer', ['shop']);
    const colleague = (await listed<UserInfo>('users')).find(({ name }) => name === 'colleague');
    expect(colleague).toMatchObject({ role: 'viewer', projects: ['shop'], seen_at: expect.any(String) });

    const { json } = await admin.post<UserInfo>(`users/${colleague?.id}`, {
      role: 'operator',
      projects: null,
    });
    expect(json).toMatchObject({ name: 'colleague', role: 'operator', projects: null, seen_at: null });
    expectRefused(await browser.get('sessions'), 401, 'not_signed_in');

    const post = (body: object) => admin.post(`users/${colleague?.id}`, body);
    expectRefused(await post({ role: 'owner', projects: null }), 422, 'invalid_role', 'role');
    expectRefused(await post({ role: 'viewer', projects: ['nowhere'] }), 422, 'unknown_project', 'projects');
    expectRefused(await post({ role: 'viewer', projects: 'shop' }), 400, 'invalid_request', 'projects');
    expectRefused(await post({ projects: null }), 400, 'invalid_request', 'role');
    expectRefused(await admin.post('users/usr_01m7f3gs00zqgw5m2r7n9x0abc/remove'), 404, 'unknown_user');
    expectRefused(await admin.post('users/colleague/remove'), 404, 'not_found');
  });

  test('keep the last admin of every project', async () => {
    const { admin } = dashboard();
    const me = (await listed<UserInfo>('users')).find(({ name }) => name === 'admin');
    expectRefused(await admin.post(`users/${me?.id}/remove`), 409, 'last_admin');
    expectRefused(await admin.post(`users/${me?.id}`, { role: 'viewer', projects: null }), 409, 'last_admin');
    expect((await admin.get('sessions')).status).toBe(200);
  });

  test('have open invitations, which are listed without their tokens', async () => {
    const { admin } = dashboard();
    const made = await admin.post<{ path: string }>('invitations', { role: 'viewer', projects: ['shop'] });
    const answer = await admin.get<Listed<InvitationInfo>>('invitations');
    expect(answer.json.data).toContainEqual(
      expect.objectContaining({ role: 'viewer', projects: ['shop'], created_by: 'admin' }),
    );
    expect(answer.text).not.toContain(made.json.path.split('#')[1]);
  });
});

describe('the audit log', () => {
  test('has the user, time, address and outcome of every change, and no secrets', async () => {
    const { admin } = dashboard();
    await admin.post('projects', { name: 'audited' });
    expectRefused(await admin.post('projects', { name: 'audited' }), 409, 'project_exists', 'name');
    const lines = await listed<AuditLine>('audit?action=project.');
    expect(
      lines.map(({ actor, subject, outcome, code, address }) => [actor, subject, outcome, code, address]),
    ).toEqual([
      ['admin', 'audited', 'refused', 'project_exists', '127.0.0.1'],
      ['admin', 'audited', 'done', null, '127.0.0.1'],
    ]);
    const key = await admin.post<NewKey>('p/audited/test/keys');
    const all = await admin.get('audit?limit=100');
    expect(all.text).toContain(key.json.id);
    for (const secret of [key.json.key, 'whsec_', 'seven wet umbrellas'])
      expect(all.text).not.toContain(secret);
  });

  test('is read in pages, and filtered by user, project and action', async () => {
    const { admin } = dashboard();
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const page: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { json } = await admin.get<Listed<AuditLine>>(`audit?limit=3${page}`);
      ids.push(...json.data.map(({ id }) => id));
      cursor = json.next_cursor;
    } while (cursor !== null);
    expect(ids).toEqual((await listed<AuditLine>('audit?limit=100')).map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);

    const inShop = await listed<AuditLine>('audit?project=shop&limit=100');
    expect(new Set(inShop.map(({ project }) => project))).toEqual(new Set(['shop']));
    expectRefused(await admin.get('audit?user=somebody'), 400, 'invalid_request', 'user');
    expectRefused(await admin.get('audit?project=nowhere'), 400, 'invalid_request', 'project');
    expectRefused(await admin.get(`audit?action=${'x'.repeat(100)}`), 400, 'invalid_request', 'action');
    expectRefused(await admin.get('audit?cursor=made-up'), 400, 'invalid_cursor', 'cursor');
  });
});

test('every signed-in user sees the facts about the installation', async () => {
  expect((await dashboard().viewer.get('about')).json).toEqual(ABOUT);
});
