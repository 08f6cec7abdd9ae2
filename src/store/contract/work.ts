import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { type EndpointProfile, editProfile } from '#src/domain/profile.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { StoredPayload } from '#src/ports/store.ts';
import { type Bench, firingProfile, firingSchedule, pendingOf, type Suite } from './bench.ts';
import { HOUR_MS, HOURLY, SUCCESS } from './builders.ts';
import { hex } from './everything.ts';

export function workContract(suite: Suite): void {
  describe('the work of a delivery', () => {
    test('is it, its schedule, the profile as it is now and the gate as it was saved', async () => {
      const bench = await suite.bench();
      const inline = await bench.addSchedule();
      expect(await bench.work(pendingOf(inline))).toEqual({
        delivery: inline.pending,
        schedule: firingSchedule(inline.schedule),
        profile: null,
        gate: null,
        sweep: null,
      });

      const profile = await bench.addProfile();
      const view = await addOn(bench, profile);
      const edited = editProfile(profile, { timeout: '9s', rateLimit: { perSecond: 2.5 } }, bench.tick());
      await bench.store.replaceProfile({ profile: edited, headers: null, receipt: null });
      const saved = bench.gate(endpointKeyOf(pendingOf(view).target));
      await bench.store.saveGates([saved]);
      expect(await bench.work(pendingOf(view))).toEqual({
        delivery: view.pending,
        schedule: firingSchedule(view.schedule),
        profile: firingProfile(edited),
        gate: saved.gate,
        sweep: null,
      });
      expect(pendingOf(view).target.endpointVersion).toBe(1);
    });

    test('is given in the order asked for, with null for what is gone or of another partition', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const views = [await bench.addSchedule(), await addOn(bench, profile), await bench.addSchedule()];
      const [a, b, c] = views.map(pendingOf);
      if (!a || !b || !c) throw new Error('There are three.');
      const unknown = bench.schedule().pending;
      const elsewhere = { ...a, partition: bench.neighbour };
      const found = await bench.store.loadDeliveries([c, unknown, a, elsewhere, b, c]);
      expect(found.map((work) => work?.delivery ?? null)).toEqual([c, null, a, null, b, c]);
      expect(found.map((work) => work?.profile ?? null)).toEqual([
        null,
        null,
        null,
        null,
        firingProfile(profile),
        null,
      ]);
      expect(await bench.store.loadDeliveries([])).toEqual([]);
    });

    test('shows a delivery whatever its status: deciding is not the store’s', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule();
      const done = await bench.fire(pendingOf(view), SUCCESS);
      const { schedule } = await bench.view(view.schedule.id);
      expect(await bench.work(done)).toMatchObject({ delivery: done, schedule: firingSchedule(schedule) });
    });

    test('is of one moment, whatever is written meanwhile', async () => {
      const bench = await suite.bench();
      const { schedule } = await bench.addSchedule({ timing: HOURLY });
      for (let round = 0; round < 20; round++) {
        bench.tick(HOUR_MS);
        const view = await bench.view(schedule.id);
        const taken = pendingOf(view);
        const claimed = bench.store.claim([bench.claim(taken, view)]);
        const found = await bench.store.loadDeliveries(Array.from({ length: 1_000 }, () => taken));
        expect(await claimed).toEqual(['done']);
        for (const work of [...found, await bench.work(taken)]) {
          const isPending = work?.schedule.pendingId === taken.id;
          expect(work?.delivery.status).toBe(isPending ? 'scheduled' : 'claimed');
        }
      }
    });
  });

  describe('the message of a delivery', () => {
    const PAYLOAD = Uint8Array.of(1, 2, 3);

    test('is headers and body of its schedule; none is null', async () => {
      const bench = await suite.bench();
      const made = bench.schedule();
      await bench.store.addSchedule({ ...made, payload: PAYLOAD, profile: null, receipt: null });
      expect(await message(bench, made.pending)).toEqual({ payload: hex(PAYLOAD), profile: null });
      const bare = await bench.addSchedule();
      expect(await message(bench, pendingOf(bare))).toEqual({ payload: null, profile: null });
    });

    test('has timeout and headers of the version it was made from', async () => {
      const bench = await suite.bench();
      const first = bench.profile({ timeout: '7s' });
      const headers = [Uint8Array.of(7), Uint8Array.of(8, 8), null] as const;
      await bench.store.addProfile({ profile: first, headers: headers[0], receipt: null });
      const made = [await addOn(bench, first, PAYLOAD)];
      let profile = first;
      for (const [timeout, sealed] of [
        ['8s', headers[1]],
        [null, headers[2]],
      ] as const) {
        profile = editProfile(profile, { timeout }, bench.tick());
        await bench.store.replaceProfile({ profile, headers: sealed, receipt: null });
        made.push(await addOn(bench, profile));
      }
      const found = await messages(bench, made.map(pendingOf));
      expect(found).toEqual([
        { payload: hex(PAYLOAD), profile: { timeout: '7s', headers: hex(headers[0]) } },
        { payload: null, profile: { timeout: '8s', headers: hex(headers[1]) } },
        { payload: null, profile: { timeout: null, headers: null } },
      ]);
    });

    test('is given in the order asked for, as often as it is', async () => {
      const bench = await suite.bench();
      const [made, bare] = [bench.schedule(), await bench.addSchedule()];
      await bench.store.addSchedule({ ...made, payload: PAYLOAD, profile: null, receipt: null });
      const found = await messages(bench, [pendingOf(bare), made.pending, pendingOf(bare), made.pending]);
      expect(found.map(({ payload }) => payload)).toEqual([null, hex(PAYLOAD), null, hex(PAYLOAD)]);
      expect(await bench.store.loadPayloads([])).toEqual([]);
    });

    test('has every byte of its payload, whatever its size', async () => {
      const bench = await suite.bench();
      const sizes = [0, 1, 16_384, 16_385, 100_000, 1_048_604, 3];
      const payloads = sizes.map((size) => Uint8Array.from({ length: size }, (_, index) => index % 251));
      const made = payloads.map((payload) => ({ ...bench.schedule(), payload }));
      for (const one of made) await bench.store.addSchedule({ ...one, profile: null, receipt: null });
      const twice = [...made, ...made];
      const found = await messages(
        bench,
        twice.map(({ pending }) => pending),
      );
      for (const [index, { payload }] of twice.entries()) {
        expect(found[index]?.payload === hex(payload), `${payload.length} bytes`).toBe(true);
      }
      const { schedule } = made[5] ?? made[0] ?? bench.schedule();
      expect(hex(await bench.store.findPayload(bench.partition, schedule.id))).toBe(hex(payloads[5] ?? null));
    });

    test('of a replay, and of the next occurrence, is that of its schedule', async () => {
      const bench = await suite.bench();
      const made = bench.schedule({ timing: HOURLY });
      await bench.store.addSchedule({ ...made, payload: PAYLOAD, profile: null, receipt: null });
      bench.tick(HOUR_MS);
      const replay = await bench.addReplay(await bench.fire(made.pending, SUCCESS));
      for (const delivery of [replay, await bench.pending(made.schedule.id)]) {
        expect(await message(bench, delivery)).toEqual({ payload: hex(PAYLOAD), profile: null });
      }
    });
  });
}

async function addOn(
  bench: Bench,
  profile: EndpointProfile,
  payload: Uint8Array | null = null,
): Promise<ScheduleView> {
  const addition = { ...bench.scheduleOn(profile), payload };
  expect(await bench.store.addSchedule(addition)).toBe('done');
  return bench.view(addition.schedule.id);
}

/** With its bytes as text, whatever kind of array a store gives them in. */
async function message(bench: Bench, delivery: Delivery) {
  const [found] = await messages(bench, [delivery]);
  return found;
}

async function messages(bench: Bench, deliveries: readonly Delivery[]) {
  const found: readonly StoredPayload[] = await bench.store.loadPayloads(deliveries);
  return found.map(({ payload, profile }) => ({
    payload: hex(payload),
    profile: profile && { timeout: profile.timeout, headers: hex(profile.headers) },
  }));
}
