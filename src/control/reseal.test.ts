import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SecretId } from '#src/domain/id.ts';
import { encodeHeaders } from '#src/domain/payload.ts';
import type { Partition } from '#src/domain/project.ts';
import {
  alertUrlContext,
  payloadContext,
  profileHeadersContext,
  responseContext,
  signingSecretContext,
} from '#src/domain/sealing-contexts.ts';
import type { ResealingVault, SealedColumnName, SealedKey, SealedStore, Vault } from '#src/ports/vault.ts';
import { AesVault } from '#src/vault/aes-vault.ts';
import { type ControlHarness, openControlHarness, START } from '#test/process/control-harness.ts';
import { Builders, REDIRECT } from '#test/store-contract/builders.ts';
import { PAGE_BYTES_MAX, PAGE_ROWS_MAX, PAUSE_MS, type ResealCounts, reseal } from './reseal.ts';

const PARTITION = 1 as Partition;
const NONE = { resealed: 0, already: 0, unreadable: 0, changed: 0 };

class ResealHarness extends Builders {
  readonly control: ControlHarness;
  readonly oldVault: AesVault;
  readonly vault: AesVault;
  /** A vault that has only the new key. */
  readonly onlyNew: AesVault;
  readonly pauses: number[] = [];
  readonly progress: (readonly [SealedColumnName, ResealCounts])[] = [];

  constructor(control: ControlHarness) {
    super(PARTITION, control.ids);
    const [old, key] = [randomBytes(32), randomBytes(32)];
    this.control = control;
    this.oldVault = new AesVault(control.random, old);
    this.vault = new AesVault(control.random, key, [old]);
    this.onlyNew = new AesVault(control.random, key);
  }

  get sealed(): SealedStore {
    return this.control.store.sealed;
  }

  async payload(vault: Vault, plain: Uint8Array = Buffer.from('a body')): Promise<SealedKey> {
    const made = this.schedule();
    const payload = vault.seal(payloadContext(PARTITION, made.schedule.id, 1), plain);
    await this.control.store.addSchedule({ ...made, payload, profile: null, receipt: null });
    return [PARTITION, made.schedule.id, 1];
  }

  async response(vault: Vault): Promise<SealedKey> {
    const { schedule, pending } = this.schedule();
    await this.control.store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
    const claimed = this.claim(pending, { schedule, profile: null });
    await this.control.store.claim([claimed]);
    const sealed = vault.seal(responseContext(PARTITION, pending.id, 1), Buffer.from('an answer'));
    const response = { statusCode: 301, contentType: null, isTruncated: false, sealed };
    await this.control.store.settle([{ ...this.settle(claimed, schedule, REDIRECT), response }]);
    return [PARTITION, pending.id, 1];
  }

  async headers(vault: Vault): Promise<SealedKey> {
    const profile = this.profile();
    const plain = encodeHeaders([['X-Key', 'value']]) ?? new Uint8Array();
    const headers = vault.seal(profileHeadersContext(PARTITION, profile.id, 1), plain);
    await this.control.store.addProfile({ profile, headers, receipt: null });
    return [PARTITION, profile.id, 1];
  }

  async alertUrl(vault: Vault): Promise<SealedKey> {
    const id = this.ids.mint('chn', START);
    const sealedUrl = vault.seal(alertUrlContext(PARTITION, id), Buffer.from('https://a.example/hook'));
    const shown = { kind: 'slack', name: 'ops', shownUrl: 'https://a.example/…' } as const;
    const times = { createdAt: START, updatedAt: START, revision: 1 };
    await this.control.store.alerts.addChannel({ partition: PARTITION, id, sealedUrl, ...shown, ...times });
    return [PARTITION, id];
  }

  async secret(vault: Vault): Promise<SecretId> {
    const id = this.ids.mint('sec', START);
    const sealed = vault.seal(signingSecretContext(PARTITION, id), Buffer.from('whsec_x'));
    await this.control.store.addSecret(
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

async function openHarness(): Promise<ResealHarness & AsyncDisposable> {
  const control = await openControlHarness();
  await control.store.addProject({
    id: control.ids.mint('prj', START),
    name: 'default',
    pinnedVersion: '2026-11-15',
    createdAt: START,
  });
  return Object.assign(new ResealHarness(control), {
    [Symbol.asyncDispose]: () => control[Symbol.asyncDispose](),
  });
}

describe('resealing', () => {
  test('makes values of the earlier key readable with only the present key', async () => {
    await using harness = await openHarness();
    const payload = await harness.payload(harness.oldVault);
    const headers = await harness.headers(harness.oldVault);
    const response = await harness.response(harness.oldVault);
    const secret = await harness.secret(harness.oldVault);
    const channel = await harness.alertUrl(harness.oldVault);
    const { columns, total, unreadable } = await harness.reseal();
    expect({ total, unreadable }).toEqual({ total: { ...NONE, resealed: 5 }, unreadable: [] });
    expect(columns).toEqual({
      payloads: { ...NONE, resealed: 1 },
      earlier_payloads: NONE,
      attempt_responses: { ...NONE, resealed: 1 },
      profile_headers: { ...NONE, resealed: 1 },
      signing_secrets: { ...NONE, resealed: 1 },
      endpoint_secrets: NONE,
      alert_urls: { ...NONE, resealed: 1 },
    });
    const now = async (name: SealedColumnName, key: SealedKey) =>
      (await harness.sealed.findSealed(name, key)) ?? new Uint8Array();
    const context = payloadContext(PARTITION, payload[1] as never, 1);
    expect(Buffer.from(harness.onlyNew.open(context, await now('payloads', payload))).toString()).toBe(
      'a body',
    );
    harness.onlyNew.open(
      profileHeadersContext(PARTITION, headers[1] as never, 1),
      await now('profile_headers', headers),
    );
    harness.onlyNew.open(
      responseContext(PARTITION, response[1] as never, 1),
      await now('attempt_responses', response),
    );
    harness.onlyNew.open(alertUrlContext(PARTITION, channel[1] as never), await now('alert_urls', channel));
    harness.onlyNew.open(
      signingSecretContext(PARTITION, secret),
      await now('signing_secrets', [secret, PARTITION]),
    );
  });

  test('skips values of the present key without reading them, and so continues after an interruption', async () => {
    await using harness = await openHarness();
    for (let count = 0; count < 3; count++) await harness.payload(harness.oldVault);
    const fails = over(harness.sealed, {
      replaceSealed: async (name, replacements) => {
        await harness.sealed.replaceSealed(name, replacements.slice(0, 1));
        throw new Error('The connection is lost.');
      },
    });
    await expect(harness.reseal(fails)).rejects.toThrow('The connection is lost.');
    const read: SealedKey[] = [];
    const watched = over(harness.sealed, {
      findSealed: (name, key) => {
        read.push(key);
        return harness.sealed.findSealed(name, key);
      },
    });
    expect((await harness.reseal(watched)).columns.payloads).toEqual({ ...NONE, already: 1, resealed: 2 });
    expect(read).toHaveLength(2);
    expect((await harness.reseal(watched)).total).toEqual({ ...NONE, already: 3 });
    expect(read).toHaveLength(2);
  });

  test('counts and names values that cannot be opened, and leaves them unchanged', async () => {
    await using harness = await openHarness();
    const otherVault = new AesVault(harness.control.random, randomBytes(32));
    const key = await harness.payload(otherVault);
    const before = await harness.sealed.findSealed('payloads', key);
    await harness.payload(harness.oldVault);
    const report = await harness.reseal();
    expect(report.total).toEqual({ ...NONE, resealed: 1, unreadable: 1 });
    expect(report.unreadable).toEqual([`payload/1/${key[1]}`]);
    expect(await harness.sealed.findSealed('payloads', key)).toEqual(before);
  });

  test('does not overwrite a value that changed after it was read', async () => {
    await using harness = await openHarness();
    const key = await harness.payload(harness.oldVault);
    const context = payloadContext(PARTITION, key[1] as never, 1);
    const newer = harness.vault.seal(context, Buffer.from('a newer one'));
    const interfering = over(harness.sealed, {
      replaceSealed: async (name, replacements) => {
        const was = replacements[0]?.was ?? new Uint8Array();
        await harness.sealed.replaceSealed(name, [{ key, was, sealed: newer }]);
        return harness.sealed.replaceSealed(name, replacements);
      },
    });
    expect((await harness.reseal(interfering)).total).toEqual({ ...NONE, changed: 1 });
    expect(await harness.sealed.findSealed('payloads', key)).toEqual(Buffer.from(newer));
  });

  test('reads bounded pages with a pause after each', async () => {
    await using harness = await openHarness();
    const large = PAGE_BYTES_MAX / 4;
    for (let count = 0; count < 9; count++) await harness.payload(harness.oldVault, Buffer.alloc(large));
    for (let count = 0; count < PAGE_ROWS_MAX + 5; count++) await harness.payload(harness.oldVault);
    const pages: { rows: number; bytes: number }[] = [];
    const watched = over(harness.sealed, {
      replaceSealed: (name, replacements) => {
        const bytes = replacements.reduce((sum, { was }) => sum + was.length, 0);
        pages.push({ rows: replacements.length, bytes });
        return harness.sealed.replaceSealed(name, replacements);
      },
    });
    const { total } = await harness.reseal(watched);
    expect(total).toEqual({ ...NONE, resealed: PAGE_ROWS_MAX + 14 });
    for (const { rows, bytes } of pages) {
      expect(rows).toBeLessThanOrEqual(PAGE_ROWS_MAX);
      expect(bytes).toBeLessThanOrEqual(PAGE_BYTES_MAX);
    }
    expect(pages.length).toBeGreaterThan(3);
    expect(harness.pauses).toEqual(pages.map(() => PAUSE_MS));
    expect(harness.progress.at(-1)).toEqual(['payloads', total]);
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
