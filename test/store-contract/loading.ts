import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { type EndpointProfile, editProfile } from '#src/domain/endpoint-profile.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { StoredPayload } from '#src/ports/store.ts';
import { HOUR_MS, HOURLY, SUCCESS } from './builders.ts';
import { hex } from './everything.ts';
import { type Fixture, firingProfile, firingSchedule, pendingOf, type Suite } from './fixture.ts';

export function loadingContract(suite: Suite): void {
  describe('a loaded delivery', () => {
    test('comes with its schedule, the current profile and the saved gate', async () => {
      const fixture = await suite.fixture();
      const inline = await fixture.addSchedule();
      expect(await fixture.load(pendingOf(inline))).toEqual({
        delivery: inline.pending,
        schedule: firingSchedule(inline.schedule),
        profile: null,
        endpointProfile: null,
        gate: null,
        sweep: null,
      });

      const profile = await fixture.addProfile();
      const view = await addOn(fixture, profile);
      const edited = editProfile(profile, { timeout: '9s', rateLimit: { perSecond: 2.5 } }, fixture.tick());
      await fixture.store.replaceProfile({ profile: edited, headers: null, receipt: null });
      const saved = fixture.gate(endpointKeyOf(pendingOf(view).target));
      await fixture.store.saveGates([saved]);
      expect(await fixture.load(pendingOf(view))).toEqual({
        delivery: view.pending,
        schedule: firingSchedule(view.schedule),
        profile: firingProfile(edited),
        endpointProfile: firingProfile(edited),
        gate: saved.gate,
        sweep: null,
      });
      expect(pendingOf(view).target.endpointVersion).toBe(1);
    });

    test('comes with the profile that it goes to, when its schedule has another destination by now', async () => {
      const fixture = await suite.fixture();
      const [first, second] = [await fixture.addProfile(), await fixture.addProfile()];
      const destinations = [
        { kind: 'profile', endpointId: second.id },
        { kind: 'inline', url: 'https://example.com/elsewhere', method: 'POST' },
      ] as const;
      const [moved, inline] = [await addOn(fixture, first), await addOn(fixture, first)];
      const taken = await fixture.addSchedule();
      const changes = [
        [moved, destinations[0]],
        [inline, destinations[1]],
        [taken, destinations[0]],
      ] as const;
      for (const [{ schedule }, destination] of changes) {
        const changed = { ...schedule, destination, revision: schedule.revision + 1 };
        const replacement = { schedule: changed, pending: null, sweep: null, receipt: null };
        expect(await fixture.store.replaceSchedule(replacement)).toBe('done');
      }
      const found = await fixture.store.loadDeliveries([moved, inline, taken].map(pendingOf));
      expect(
        found.map((loaded) => [loaded?.profile?.id ?? null, loaded?.endpointProfile?.id ?? null]),
      ).toEqual([
        [second.id, first.id],
        [null, first.id],
        [second.id, null],
      ]);
      expect(found[0]?.endpointProfile).toEqual(firingProfile(first));
    });

    test('is returned in the requested order, with null for one that is gone or of another partition', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const views = [await fixture.addSchedule(), await addOn(fixture, profile), await fixture.addSchedule()];
      const [a, b, c] = views.map(pendingOf);
      if (!a || !b || !c) throw new Error('There are fewer than three.');
      const unknown = fixture.schedule().pending;
      const elsewhere = { ...a, partition: fixture.neighbour };
      const found = await fixture.store.loadDeliveries([c, unknown, a, elsewhere, b, c]);
      expect(found.map((loaded) => loaded?.delivery ?? null)).toEqual([c, null, a, null, b, c]);
      expect(found.map((loaded) => loaded?.profile ?? null)).toEqual([
        null,
        null,
        null,
        null,
        firingProfile(profile),
        null,
      ]);
      expect(await fixture.store.loadDeliveries([])).toEqual([]);
    });

    test('may have any status: the store does not decide', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule();
      const done = await fixture.fire(pendingOf(view), SUCCESS);
      const { schedule } = await fixture.view(view.schedule.id);
      expect(await fixture.load(done)).toMatchObject({ delivery: done, schedule: firingSchedule(schedule) });
    });

    test('is consistent while others write', async () => {
      const fixture = await suite.fixture();
      const { schedule } = await fixture.addSchedule({ timing: HOURLY });
      for (let round = 0; round < 20; round++) {
        fixture.tick(HOUR_MS);
        const view = await fixture.view(schedule.id);
        const taken = pendingOf(view);
        const claimed = fixture.store.claim([fixture.claim(taken, view)]);
        const found = await fixture.store.loadDeliveries(Array.from({ length: 1_000 }, () => taken));
        expect(await claimed).toEqual(['done']);
        for (const loaded of [...found, await fixture.load(taken)]) {
          const isPending = loaded?.schedule?.pendingId === taken.id;
          expect(loaded?.delivery.status).toBe(isPending ? 'scheduled' : 'claimed');
        }
      }
    });
  });

  describe('the payload of a delivery', () => {
    const PAYLOAD = Uint8Array.of(1, 2, 3);

    test('holds headers and body of its schedule, or null', async () => {
      const fixture = await suite.fixture();
      const made = fixture.schedule();
      await fixture.store.addSchedule({ ...made, payload: PAYLOAD, profile: null, receipt: null });
      expect(await payloadOf(fixture, made.pending)).toEqual({ payload: hex(PAYLOAD), profile: null });
      const bare = await fixture.addSchedule();
      expect(await payloadOf(fixture, pendingOf(bare))).toEqual({ payload: null, profile: null });
    });

    test('comes with the terms of the profile version of the delivery', async () => {
      const fixture = await suite.fixture();
      const first = fixture.profile({ timeout: '7s', standardWebhooks: true, responseExcerpt: 9 });
      const headers = [Uint8Array.of(7), Uint8Array.of(8, 8), null] as const;
      await fixture.store.addProfile({ profile: first, headers: headers[0], receipt: null });
      const made = [await addOn(fixture, first, PAYLOAD)];
      let profile = first;
      for (const [edit, sealed] of [
        [{ timeout: '8s', standardWebhooks: false }, headers[1]],
        [{ timeout: null, responseExcerpt: null }, headers[2]],
      ] as const) {
        profile = editProfile(profile, edit, fixture.tick());
        await fixture.store.replaceProfile({ profile, headers: sealed, receipt: null });
        made.push(await addOn(fixture, profile));
      }
      const found = await payloadsOf(fixture, made.map(pendingOf));
      expect(found).toEqual([
        {
          payload: hex(PAYLOAD),
          profile: { timeout: '7s', headers: hex(headers[0]), responseExcerpt: 9, standardWebhooks: true },
        },
        {
          payload: null,
          profile: { timeout: '8s', headers: hex(headers[1]), responseExcerpt: 9, standardWebhooks: false },
        },
        {
          payload: null,
          profile: { timeout: null, headers: null, responseExcerpt: null, standardWebhooks: false },
        },
      ]);
    });

    test('is returned in the requested order, as often as requested', async () => {
      const fixture = await suite.fixture();
      const [made, bare] = [fixture.schedule(), await fixture.addSchedule()];
      await fixture.store.addSchedule({ ...made, payload: PAYLOAD, profile: null, receipt: null });
      const found = await payloadsOf(fixture, [pendingOf(bare), made.pending, pendingOf(bare), made.pending]);
      expect(found.map(({ payload }) => payload)).toEqual([null, hex(PAYLOAD), null, hex(PAYLOAD)]);
      expect(await fixture.store.loadPayloads([])).toEqual([]);
    });

    test('is complete at any size', async () => {
      const fixture = await suite.fixture();
      const sizes = [0, 1, 16_384, 16_385, 100_000, 1_048_604, 3];
      const payloads = sizes.map((size) => Uint8Array.from({ length: size }, (_, index) => index % 251));
      const made = payloads.map((payload) => ({ ...fixture.schedule(), payload }));
      for (const one of made) await fixture.store.addSchedule({ ...one, profile: null, receipt: null });
      const twice = [...made, ...made];
      const found = await payloadsOf(
        fixture,
        twice.map(({ pending }) => pending),
      );
      for (const [index, { payload }] of twice.entries()) {
        expect(found[index]?.payload === hex(payload), `${payload.length} bytes`).toBe(true);
      }
      const { schedule } = made[5] ?? made[0] ?? fixture.schedule();
      expect(hex(await fixture.store.findPayload(fixture.partition, schedule.id, 1))).toBe(
        hex(payloads[5] ?? null),
      );
    });

    test('of a replay and of the next occurrence is that of the schedule', async () => {
      const fixture = await suite.fixture();
      const made = fixture.schedule({ timing: HOURLY });
      await fixture.store.addSchedule({ ...made, payload: PAYLOAD, profile: null, receipt: null });
      fixture.tick(HOUR_MS);
      const replay = await fixture.addReplay(await fixture.fire(made.pending, SUCCESS));
      for (const delivery of [replay, await fixture.pending(made.schedule.id)]) {
        expect(await payloadOf(fixture, delivery)).toEqual({ payload: hex(PAYLOAD), profile: null });
      }
    });
  });
}

async function addOn(
  fixture: Fixture,
  profile: EndpointProfile,
  payload: Uint8Array | null = null,
): Promise<ScheduleView> {
  const addition = { ...fixture.scheduleOn(profile), payload };
  expect(await fixture.store.addSchedule(addition)).toBe('done');
  return fixture.view(addition.schedule.id);
}

/** The payload with its bytes as text, because stores return different kinds of arrays. */
async function payloadOf(fixture: Fixture, delivery: Delivery) {
  const [found] = await payloadsOf(fixture, [delivery]);
  return found;
}

async function payloadsOf(fixture: Fixture, deliveries: readonly Delivery[]) {
  const found: readonly StoredPayload[] = await fixture.store.loadPayloads(deliveries);
  return found.map(({ payload, profile }) => ({
    payload: hex(payload),
    profile: profile && { ...profile, headers: hex(profile.headers) },
  }));
}
