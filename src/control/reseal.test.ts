import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SecretId } from '#src/domain/id.ts';
import { encodeHeaders } from '#src/domain/payload.ts';
import type { Partition } from '#src/domain/project.ts';
import {
  legacyProfileHeadersContext,
  payloadContext,
  profileHeadersContext,
  signingSecretContext,
} from '#src/domain/sealing-contexts.ts';
import type { ResealingVault, SealedColumnName, SealedKey, SealedStore, Vault } from '#src/ports/vault.ts';
import { Builders } from '#src/store/contract/builders.ts';
import { AesVault } from '#src/vault/aes-vault.ts';
import { type ControlHarness, openControlHarness, START } from '#test/process/control-harness.ts';
import { PAGE_BYTES_MAX, PAGE_ROWS_MAX, PAUSE_MS, type ResealCounts, reseal } from './reseal.ts';

const PARTITION = 1 as Partition;
const NONE = { resealed: 0, already: 0, unreadable: 0, changed: 0 };

class Bench extends Builders {
  readonly harness: ControlHarness;
  readonly oldVault: AesVault;
  readonly vault: AesVault;
  /** A vault that has only the new key. */
  readonly onlyNew: AesVault;
  readonly pauses: number[] = [];
  readonly progress: (readonly [SealedColumnName, ResealCounts])[] = [];

  constructor(harness: ControlHarness) {
    super(PARTITION, harness.ids);
    const [old, key] = [randomBytes(32), randomBytes(32)];
    this.harness = harness;
    this.oldVault = new AesVault(harness.random, old);
    this.vault = new AesVault(harness.random, key, [old]);
    this.onlyNew = new AesVault(harness.random, key);
  }

  get sealed(): SealedStore {
    return this.harness.store.sealed;
  }

  async payload(vault: Vault, plain: Uint8Array = Buffer.from('a body')): Promise<SealedKey> {
    const made = this.schedule();
    const payload = vault.seal(payloadContext(PARTITION, made.schedule.id), plain);
    await this.harness.store.addSchedule({ ...made, payload, profile: null, receipt: null });
    return [PARTITION, made.schedule.id];
  }

  /** `seal` gets the place of the headers, and their earlier one. */
  async headers(seal: (place: string, earlier: string, plain: Uint8Array) => Uint8Array): Promise<SealedKey> {
    const profile = this.profile();
    const plain = encodeHeaders([['X-Key', 'value']]) ?? new Uint8Array();
    const places = [
      profileHeadersContext(PARTITION, profile.id, 1),
      legacyProfileHeadersContext(PARTITION, profile.id),
    ] as const;
    await this.harness.store.addProfile({ profile, headers: seal(...places, plain), receipt: null });
    return [PARTITION, profile.id, 1];
  }

  async secret(vault: Vault): Promise<SecretId> {
    const id = this.ids.mint('sec', START);
    const sealed = vault.seal(signingSecretContext(PARTITION, id), Buffer.from('whsec_x'));
    await this.harness.store.addSecret(
      { id, partition: PARTITION, sealed, createdAt: START, expiresAt: null },
      START,
    );
    return id;
  }

  reseal(sealed: SealedStore = this.sealed, vault: ResealingVault = this.vault) {
    return reseal({
      sealed,
      vault,
      timers: {
        after: (ms, act) => {
          this.pauses.push(ms);
          queueMicrotask(act);
          return () => {};
        },
      },
      progress: (name, counts) => this.progress.push([name, counts]),
    });
  }
}

async function opened(): Promise<Bench & AsyncDisposable> {
  const harness = await openControlHarness();
  await harness.store.addProject({
    id: harness.ids.mint('prj', START),
    name: 'default',
    pinnedVersion: '2026-11-15',
    createdAt: START,
  });
  return Object.assign(new Bench(harness), { [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() });
}

describe('resealing', () => {
  test('makes values of the earlier key readable with only the present key', async () => {
    await using bench = await opened();
    const payload = await bench.payload(bench.oldVault);
    const headers = await bench.headers((place, _, plain) => bench.oldVault.seal(place, plain));
    const secret = await bench.secret(bench.oldVault);
    const { columns, total, unreadable } = await bench.reseal();
    expect({ total, unreadable }).toEqual({ total: { ...NONE, resealed: 3 }, unreadable: [] });
    expect(columns).toEqual({
      payloads: { ...NONE, resealed: 1 },
      profile_headers: { ...NONE, resealed: 1 },
      signing_secrets: { ...NONE, resealed: 1 },
      endpoint_secrets: NONE,
    });
    const now = async (name: SealedColumnName, key: SealedKey) =>
      (await bench.sealed.findSealed(name, key)) ?? new Uint8Array();
    const place = payloadContext(PARTITION, payload[1] as never);
    expect(Buffer.from(bench.onlyNew.open(place, await now('payloads', payload))).toString()).toBe('a body');
    bench.onlyNew.open(
      profileHeadersContext(PARTITION, headers[1] as never, 1),
      await now('profile_headers', headers),
    );
    bench.onlyNew.open(
      signingSecretContext(PARTITION, secret),
      await now('signing_secrets', [secret, PARTITION]),
    );
  });

  test('skips values of the present key without reading them, and so continues after an interruption', async () => {
    await using bench = await opened();
    for (let count = 0; count < 3; count++) await bench.payload(bench.oldVault);
    const fails = over(bench.sealed, {
      replaceSealed: async (name, replacements) => {
        await bench.sealed.replaceSealed(name, replacements.slice(0, 1));
        throw new Error('The connection is lost.');
      },
    });
    await expect(bench.reseal(fails)).rejects.toThrow('The connection is lost.');
    const read: SealedKey[] = [];
    const watched = over(bench.sealed, {
      findSealed: (name, key) => {
        read.push(key);
        return bench.sealed.findSealed(name, key);
      },
    });
    expect((await bench.reseal(watched)).columns.payloads).toEqual({ ...NONE, already: 1, resealed: 2 });
    expect(read).toHaveLength(2);
    expect((await bench.reseal(watched)).total).toEqual({ ...NONE, already: 3 });
    expect(read).toHaveLength(2);
  });

  test('binds older headers to their version, including those sealed with the present key', async () => {
    await using bench = await opened();
    const earlier = await Promise.all([
      bench.headers((_, place, plain) => bench.vault.seal(place, plain)),
      bench.headers((_, place, plain) => bench.oldVault.seal(place, plain)),
    ]);
    await bench.headers((place, _, plain) => bench.vault.seal(place, plain));
    expect((await bench.reseal()).columns.profile_headers).toEqual({ ...NONE, resealed: 2, already: 1 });
    for (const key of earlier) {
      const sealed = (await bench.sealed.findSealed('profile_headers', key)) ?? new Uint8Array();
      const place = profileHeadersContext(PARTITION, key[1] as never, 1);
      expect(bench.onlyNew.open(place, sealed).length).toBeGreaterThan(0);
    }
    expect((await bench.reseal()).columns.profile_headers).toEqual({ ...NONE, already: 3 });
  });

  test('counts and names values that cannot be opened, and leaves them unchanged', async () => {
    await using bench = await opened();
    const stranger = new AesVault(bench.harness.random, randomBytes(32));
    const key = await bench.payload(stranger);
    const before = await bench.sealed.findSealed('payloads', key);
    await bench.payload(bench.oldVault);
    const report = await bench.reseal();
    expect(report.total).toEqual({ ...NONE, resealed: 1, unreadable: 1 });
    expect(report.unreadable).toEqual([`payload/1/${key[1]}`]);
    expect(await bench.sealed.findSealed('payloads', key)).toEqual(before);
  });

  test('does not overwrite a value that changed after it was read', async () => {
    await using bench = await opened();
    const key = await bench.payload(bench.oldVault);
    const place = payloadContext(PARTITION, key[1] as never);
    const newer = bench.vault.seal(place, Buffer.from('a newer one'));
    const interfering = over(bench.sealed, {
      replaceSealed: async (name, replacements) => {
        const was = replacements[0]?.was ?? new Uint8Array();
        await bench.sealed.replaceSealed(name, [{ key, was, sealed: newer }]);
        return bench.sealed.replaceSealed(name, replacements);
      },
    });
    expect((await bench.reseal(interfering)).total).toEqual({ ...NONE, changed: 1 });
    expect(await bench.sealed.findSealed('payloads', key)).toEqual(Buffer.from(newer));
  });

  test('reads bounded pages with a pause after each', async () => {
    await using bench = await opened();
    const large = PAGE_BYTES_MAX / 4;
    for (let count = 0; count < 9; count++) await bench.payload(bench.oldVault, Buffer.alloc(large));
    for (let count = 0; count < PAGE_ROWS_MAX + 5; count++) await bench.payload(bench.oldVault);
    const pages: { rows: number; bytes: number }[] = [];
    const watched = over(bench.sealed, {
      replaceSealed: (name, replacements) => {
        const bytes = replacements.reduce((sum, { was }) => sum + was.length, 0);
        pages.push({ rows: replacements.length, bytes });
        return bench.sealed.replaceSealed(name, replacements);
      },
    });
    const { total } = await bench.reseal(watched);
    expect(total).toEqual({ ...NONE, resealed: PAGE_ROWS_MAX + 14 });
    for (const { rows, bytes } of pages) {
      expect(rows).toBeLessThanOrEqual(PAGE_ROWS_MAX);
      expect(bytes).toBeLessThanOrEqual(PAGE_BYTES_MAX);
    }
    expect(pages.length).toBeGreaterThan(3);
    expect(bench.pauses).toEqual(pages.map(() => PAUSE_MS));
    expect(bench.progress.at(-1)).toEqual(['payloads', total]);
  });
});

function over(store: SealedStore, verbs: Partial<SealedStore>): SealedStore {
  return {
    listSealed: store.listSealed.bind(store),
    findSealed: store.findSealed.bind(store),
    replaceSealed: store.replaceSealed.bind(store),
    ...verbs,
  };
}
