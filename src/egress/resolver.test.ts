import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Timers } from '#src/ports/system.ts';
import { systemTimers } from '#src/system/timers.ts';
import {
  ANSWERED,
  eventually,
  loopbackEgress,
  ScriptedTimers,
  send,
  startHttpsServer,
} from '#test/egress/harness.ts';
import { type NameAnswer, nameServer, type RecordType } from '#test/egress/name-server.ts';
import { HostsFile } from './hosts-file.ts';
import { systemResolver } from './resolver.ts';

const NO_HOSTS = new HostsFile('/nonexistent/hosts');
const LOOKUP_MS = 6_000;
const OTHER_FAMILY_MS = 100;

type Script = Readonly<Record<string, Partial<Record<RecordType, NameAnswer>>>>;

async function scripted(script: Script, timers: Timers = systemTimers, hosts = NO_HOSTS) {
  const server = await nameServer((name, type) => script[name]?.[type] ?? []);
  return { server, resolve: systemResolver({ timers, hosts, servers: [server.address] }) };
}

describe('name servers', () => {
  test('are asked for both families', async () => {
    const { resolve } = await scripted({
      'both.test': { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8::1'] },
      'four.test': { A: ['192.0.2.1'] },
      'six.test': { A: 'NXDOMAIN', AAAA: ['2001:db8::1'] },
      'half.test': { A: ['192.0.2.1'], AAAA: 'SERVFAIL' },
    });
    expect((await resolve('both.test')).toSorted()).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1']);
    expect(await resolve('four.test')).toEqual(['192.0.2.1']);
    expect(await resolve('six.test')).toEqual(['2001:db8::1']);
    expect(await resolve('half.test')).toEqual(['192.0.2.1']);
  });

  test.each([
    ['the name is unknown', { A: 'NXDOMAIN', AAAA: 'NXDOMAIN' }, 'name_not_found'],
    ['it has no address', { A: [], AAAA: [] }, 'name_not_found'],
    ['the server fails', { A: 'SERVFAIL', AAAA: 'SERVFAIL' }, 'name_server_silent'],
    ['it fails for one family', { A: 'SERVFAIL', AAAA: [] }, 'name_server_silent'],
  ] as const)('a name cannot be resolved if %s', async (_name, answers, failure) => {
    const { resolve } = await scripted({ 'gone.test': answers });
    await expect(resolve('gone.test')).rejects.toMatchObject({ failure });
  });

  test.each(['a..test', `${'a'.repeat(64)}.test`, `${'a.'.repeat(200)}test`, '', '.'])(
    'are not asked for %j, which is not a valid name',
    async (name) => {
      const { resolve } = await scripted({});
      await expect(resolve(name)).rejects.toMatchObject({ failure: 'name_not_found' });
    },
  );

  test('are asked again for each lookup', async () => {
    const answers = [['192.0.2.1'], ['192.0.2.2']];
    const server = await nameServer((_name, type) => (type === 'A' ? (answers.shift() ?? []) : []));
    const resolve = systemResolver({ timers: systemTimers, hosts: NO_HOSTS, servers: [server.address] });
    expect(await resolve('moving.test')).toEqual(['192.0.2.1']);
    expect(await resolve('moving.test')).toEqual(['192.0.2.2']);
  });

  test('that are silent about one family delay the lookup by only a moment', async () => {
    const timers = new ScriptedTimers();
    const { resolve } = await scripted({ 'half.test': { A: ['192.0.2.1'], AAAA: 'silence' } }, timers);
    const resolved = resolve('half.test');
    await eventually(() => expect(timers.pending()).toContain(OTHER_FAMILY_MS));
    timers.fire(OTHER_FAMILY_MS);
    expect(await resolved).toEqual(['192.0.2.1']);
    expect(timers.pending()).toEqual([]);
  });

  test('that are silent for both families end the lookup after its time limit', async () => {
    const timers = new ScriptedTimers();
    const { server, resolve } = await scripted({ 'hung.test': { A: 'silence', AAAA: 'silence' } }, timers);
    const resolved = resolve('hung.test');
    await eventually(() => expect(server.asked).toHaveLength(2));
    timers.fire(LOOKUP_MS);
    await expect(resolved).rejects.toMatchObject({ failure: 'name_server_silent' });
    expect(server.asked).toHaveLength(2);
    expect(timers.pending()).toEqual([]);
  });

  test('are no longer asked when the lookup is aborted', async () => {
    const timers = new ScriptedTimers();
    const { server, resolve } = await scripted({ 'hung.test': { A: 'silence', AAAA: 'silence' } }, timers);
    const aborter = new AbortController();
    const resolved = resolve('hung.test', aborter.signal);
    await eventually(() => expect(server.asked).toHaveLength(2));
    aborter.abort();
    await expect(resolved).rejects.toMatchObject({ failure: 'aborted' });
    await expect(resolve('hung.test', aborter.signal)).rejects.toMatchObject({ failure: 'aborted' });
    expect(server.asked).toHaveLength(2);
    expect(timers.pending()).toEqual([]);
  });

  test('that hang for one host do not delay another host', async () => {
    const script: Script = {
      'hung.test': { A: 'silence', AAAA: 'silence' },
      'receiver.test': { A: ['127.0.0.1'] },
    };
    const receiver = await startHttpsServer((response) => response.end());
    const { server, resolve } = await scripted(script);
    const egress = loopbackEgress({ resolve });
    const aborter = new AbortController();
    const hung = Array.from({ length: 50 }, () =>
      send(egress, 'https://hung.test/', { signal: aborter.signal }),
    );
    await eventually(() => expect(server.asked.length).toBeGreaterThanOrEqual(100));
    expect(await send(egress, receiver.url('/', 'receiver.test'))).toEqual(ANSWERED);
    aborter.abort();
    for (const result of await Promise.all(hung)) expect(result.kind).toBe('failed');
  });

  test('cannot get around the guard: every address they return is checked', async () => {
    const { resolve } = await scripted({ 'inside.test': { A: ['8.8.8.8'], AAAA: ['::ffff:10.0.0.1'] } });
    const sent = await send(loopbackEgress({ resolve }), 'https://inside.test/');
    expect(sent).toEqual({ kind: 'failed', failure: 'address_not_allowed' });
    const gone = await send(loopbackEgress({ resolve }), 'https://gone.test/');
    expect(gone).toEqual({ kind: 'failed', failure: 'name_not_found' });
  });
});

describe('the hosts file', () => {
  function hostsFile(text: string) {
    const directory = mkdtempSync(join(tmpdir(), 'sched-hosts-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const path = join(directory, 'hosts');
    writeFileSync(path, text);
    return { path, hosts: new HostsFile(path) };
  }

  test('is used first, and then no name server is asked', async () => {
    const { hosts } = hostsFile('192.0.2.7 receiver.test\n');
    const { server, resolve } = await scripted(
      { 'receiver.test': { A: ['192.0.2.1'] } },
      systemTimers,
      hosts,
    );
    expect(await resolve('receiver.test')).toEqual(['192.0.2.7']);
    expect(server.asked).toEqual([]);
  });

  test('gives every name and address, ignores case and skips comments', async () => {
    const { hosts } = hostsFile(
      [
        '# 192.0.2.9 no.test',
        '',
        '192.0.2.1\tOne.test  two.test # three.test',
        '2001:db8::1 one.test\r',
        '192.0.2.1 one.test',
        'lonely',
      ].join('\n'),
    );
    expect(await hosts.addressesOf('one.test')).toEqual(['192.0.2.1', '2001:db8::1']);
    expect(await hosts.addressesOf('TWO.test')).toEqual(['192.0.2.1']);
    for (const name of ['no.test', 'three.test', 'lonely', '', '#'])
      expect(await hosts.addressesOf(name)).toEqual([]);
  });

  test('is read again when it has changed', async () => {
    const { path, hosts } = hostsFile('192.0.2.1 one.test\n');
    expect(await hosts.addressesOf('one.test')).toEqual(['192.0.2.1']);
    writeFileSync(path, '192.0.2.2 one.test\n');
    expect(await hosts.addressesOf('one.test')).toEqual(['192.0.2.2']);
    rmSync(path);
    expect(await hosts.addressesOf('one.test')).toEqual([]);
    writeFileSync(path, '192.0.2.3 one.test\n');
    expect(await hosts.addressesOf('one.test')).toEqual(['192.0.2.3']);
  });

  test('does not get around the guard: its addresses are checked too', async () => {
    const { hosts } = hostsFile('10.0.0.1 inside.test\nfe80::1%lo0 zone.test\n');
    const { resolve } = await scripted({}, systemTimers, hosts);
    for (const name of ['inside.test', 'zone.test']) {
      expect(await send(loopbackEgress({ resolve }), `https://${name}/`)).toMatchObject({
        kind: 'failed',
        failure: 'address_not_allowed',
      });
    }
  });
});
