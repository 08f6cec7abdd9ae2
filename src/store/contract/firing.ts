import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ATTEMPT_OUTCOMES, type Attempt } from '#src/domain/delivery.ts';
import { INTERRUPTED } from '#src/domain/delivery-life.ts';
import { editProfile } from '#src/domain/profile.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import type { Schedule, ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-life.ts';
import type { ClaimWrite, SettleWrite } from '#src/ports/store.ts';
import * as arbitrary from './arbitraries.ts';
import { type Bench, pendingOf, type Suite } from './bench.ts';
import { FAILURE, HOUR_MS, HOURLY, REDIRECT, SUCCESS } from './builders.ts';

export function firingContract(suite: Suite): void {
  describe('claiming', () => {
    test('stores the claim and the row of the attempt', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule();
      bench.tick(HOUR_MS + 7);
      const claimed = claimPending(bench, view);
      expect(await bench.store.claim([claimed])).toEqual(['done']);
      expect(await bench.delivery(claimed.delivery.id)).toEqual(claimed.delivery);
      expect(claimed.delivery).toMatchObject({
        status: 'claimed',
        attemptCount: 1,
        claim: { node: 'node-1' },
      });
      expect(await attempts(bench, claimed)).toEqual([claimed.attempt]);
      expect((await bench.view(view.schedule.id)).schedule).toEqual(view.schedule);
    });

    test('the pending delivery of a recurring schedule moves it on to the next', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule({ timing: HOURLY });
      bench.tick(HOUR_MS);
      const claimed = claimPending(bench, view);
      expect(await bench.store.claim([claimed])).toEqual(['done']);
      expect(await bench.view(view.schedule.id)).toEqual({
        schedule: claimed.advanced?.schedule,
        pending: claimed.advanced?.next,
        profile: null,
      });
      expect(await bench.delivery(pendingOf(view).id)).toEqual(claimed.delivery);
      expect(await attempts(bench, claimed)).toEqual([claimed.attempt]);
    });

    test('is refused whole when the delivery or the schedule changed since it was read', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule({ timing: HOURLY });
      bench.tick(HOUR_MS);
      const moved = claimPending(bench, view);
      await bench.change(view.schedule.id, (read) => life.reschedule(read, bench.oneShot(), bench.now));
      expect(await bench.changesNothing(() => bench.store.claim([moved]))).toEqual(['stale']);

      const again = await bench.view(view.schedule.id);
      const claimed = claimPending(bench, again);
      expect(claimed.advanced).not.toBeNull();
      const renamed: Schedule = {
        ...again.schedule,
        metadata: [['a', 'b']],
        revision: again.schedule.revision + 1,
      };
      const rename = { schedule: renamed, pending: null, sweep: null, receipt: null };
      expect(await bench.store.replaceSchedule(rename)).toBe('done');
      expect(await bench.changesNothing(() => bench.store.claim([claimed]))).toEqual(['stale']);
    });

    test('of a delivery that is not there is stale', async () => {
      const bench = await suite.bench();
      const made = bench.schedule();
      const claimed = claimPending(bench, { ...made, profile: null });
      expect(await bench.changesNothing(() => bench.store.claim([claimed]))).toEqual(['stale']);
    });

    test('answers each for itself', async () => {
      const bench = await suite.bench();
      const views = [await bench.addSchedule(), await bench.addSchedule(), await bench.addSchedule()];
      const [first, second, third] = views.map((view) => claimPending(bench, view));
      if (first === undefined || second === undefined || third === undefined) return;
      await bench.store.claim([second]);
      expect(await bench.store.claim([first, second, third])).toEqual(['done', 'stale', 'done']);
      for (const { delivery } of [first, second, third]) {
        expect((await bench.delivery(delivery.id)).status).toBe('claimed');
      }
      expect(await bench.store.claim([])).toEqual([]);
    });

    test('materializes no occurrence twice: such a claim fails whole, and takes nothing else with it', async () => {
      const bench = await suite.bench();
      const good = await bench.addSchedule();
      const view = await bench.addSchedule({ timing: HOURLY });
      bench.tick(HOUR_MS);
      const claimed = claimPending(bench, view);
      if (claimed.advanced === null) throw new Error('A recurring schedule moves on.');
      const { occurrence } = claimed.delivery;
      const next = { ...claimed.advanced.next, occurrence };
      const double: ClaimWrite = { ...claimed, advanced: { ...claimed.advanced, next } };
      const goodClaim = claimPending(bench, good);

      const answers = await bench.changesNothing(() => answersOf(() => bench.store.claim([double])));
      expect(answers).not.toContain('done');

      // Whatever is not answered `done` did not happen: an error in one must not hide what another did.
      const [answer = 'refused'] = await answersOf(() => bench.store.claim([goodClaim, double]));
      const status = answer === 'done' ? 'claimed' : 'scheduled';
      expect((await bench.delivery(goodClaim.delivery.id)).status).toBe(status);
      expect((await bench.delivery(double.delivery.id)).status).toBe('scheduled');
    });

    test('of one delivery by many at once is done once', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule({ timing: HOURLY });
      bench.tick(HOUR_MS);
      const claims = Array.from({ length: 20 }, (_, i) => bench.claim(pendingOf(view), view, `node-${i}`));
      const answers = (await Promise.all(claims.map((claimed) => bench.store.claim([claimed])))).flat();
      expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
      const winner = claims[answers.indexOf('done')];
      expect(await bench.delivery(pendingOf(view).id)).toEqual(winner?.delivery);
      expect((await bench.view(view.schedule.id)).pending).toEqual(winner?.advanced?.next);
    });

    test.for([
      ['cancel', (view: ScheduleView, bench: Bench) => life.cancel(view, bench.now)],
      ['pause', (view: ScheduleView, bench: Bench) => life.pause(view, bench.now)],
      ['reschedule', (view: ScheduleView, bench: Bench) => life.reschedule(view, bench.oneShot(), bench.now)],
      ['edit', (view: ScheduleView, bench: Bench) => life.edit(view, { ttl: '9s' }, bench.now)],
    ] as const)('and %s at once: one of them wins', async ([, decide]) => {
      const bench = await suite.bench();
      for (const claimFirst of [true, false]) {
        const view = await bench.addSchedule();
        const changed = decide(view, bench);
        if (changed === null) throw new Error('There is something to change.');
        const claim = () => bench.store.claim([claimPending(bench, view)]);
        const change = () => bench.store.replaceSchedule({ ...changed, receipt: null });
        const [first, second] = claimFirst ? [claim(), change()] : [change(), claim()];
        const answers = (await Promise.all([first, second])).flat();
        expect(answers.toSorted()).toEqual(['done', 'stale']);
        const claimWon = claimFirst === (answers[0] === 'done');
        const status = (await bench.pending(view.schedule.id)).status;
        expect(status).toBe(claimWon ? 'claimed' : changed.pending?.status);
      }
    });

    test('makes the next occurrence from the profile as it is: one that was edited meanwhile is read again', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const timing = HOURLY;
      const made = bench.scheduleOn(profile, { timing });
      expect(await bench.store.addSchedule(made)).toBe('done');
      const view = await bench.view(made.schedule.id);
      const early = claimPending(bench, view);
      const edited = editProfile(profile, { url: 'https://example.com/edited' }, bench.tick());
      expect(await bench.store.replaceProfile({ profile: edited, headers: null, receipt: null })).toBe(
        'done',
      );
      expect(await bench.changesNothing(() => bench.store.claim([early]))).toEqual(['stale']);
      const claimed = claimPending(bench, await bench.view(made.schedule.id));
      expect(await bench.store.claim([claimed])).toEqual(['done']);
      expect((await bench.pending(made.schedule.id)).target).toMatchObject({
        url: edited.url,
        endpointVersion: 2,
      });
    });
  });

  describe('settling', () => {
    test.for([
      ['a success', SUCCESS, 'succeeded', 'completed'],
      ['a failure to be retried', FAILURE, 'retry_scheduled', 'active'],
      ['a redirect', REDIRECT, 'dead_letter', 'completed'],
    ] as const)(
      '%s closes the attempt and moves delivery and schedule',
      async ([, result, status, state]) => {
        const bench = await suite.bench();
        const view = await bench.addSchedule();
        const claimed = await bench.take(view);
        bench.tick(250);
        const settled = bench.settle(claimed, view.schedule, result);
        expect(await bench.store.settle([settled])).toEqual(['done']);
        expect(await bench.delivery(claimed.delivery.id)).toEqual(settled.delivery);
        expect(await attempts(bench, claimed)).toEqual([settled.attempt]);
        expect((await bench.view(view.schedule.id)).schedule).toEqual(settled.completed ?? view.schedule);
        expect(settled.delivery.status).toBe(status);
        expect((await bench.view(view.schedule.id)).schedule.state).toBe(state);
      },
    );

    test('keeps whatever the attempt came to, field for field', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule({
        retryPolicy: { ...DEFAULT_RETRY_POLICY, base: '0', maxAttempts: 50 },
      });
      const expected: Attempt[] = [];
      const outcome = fc.record({
        outcome: fc.constantFrom(...ATTEMPT_OUTCOMES),
        statusCode: fc.option(fc.integer({ min: 100, max: 999 })),
        dueAt: arbitrary.anyInstant,
        firedAt: arbitrary.anyInstant,
        finishedAt: arbitrary.anyInstant,
        egressMs: fc.option(fc.nat()),
        error: fc.option(arbitrary.plainText),
        timing: fc.option(arbitrary.attemptTiming),
      });
      for (const contents of fc.sample(outcome, { numRuns: 40, seed: 6 })) {
        const { delivery, attempt } = bench.claim(await bench.pending(view.schedule.id), view);
        const { dueAt, firedAt } = contents;
        const fired = { ...attempt, dueAt, firedAt };
        expect(await bench.store.claim([{ delivery, attempt: fired, advanced: null }])).toEqual(['done']);
        const settled = bench.settle({ delivery, attempt: fired }, view.schedule, FAILURE);
        expected.push({ ...settled.attempt, ...contents });
        const closed = { ...settled, attempt: { ...settled.attempt, ...contents } };
        expect(await bench.store.settle([closed])).toEqual(['done']);
      }
      expect(await bench.store.listAttempts(bench.partition, pendingOf(view).id, 0, 100)).toEqual(expected);
    });

    test('is refused when the claim has moved on: recovered and taken by another node', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule();
      const lost = await bench.take(view);
      const recovered = bench.settle(lost, view.schedule, INTERRUPTED);
      expect(await bench.store.settle([recovered])).toEqual(['done']);
      const taken = bench.claim(recovered.delivery, view, 'node-2');
      expect(await bench.store.claim([taken])).toEqual(['done']);

      const late = bench.settle(lost, view.schedule, SUCCESS);
      expect(await bench.changesNothing(() => bench.store.settle([late]))).toEqual(['stale']);
      expect(await bench.store.settle([bench.settle(taken, view.schedule, SUCCESS)])).toEqual(['done']);
      expect(await bench.changesNothing(() => bench.store.settle([late]))).toEqual(['stale']);
    });

    test('twice is done once', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule();
      const claimed = await bench.take(view);
      const both = [SUCCESS, FAILURE].map((result) => bench.settle(claimed, view.schedule, result));
      const answers = await Promise.all(both.map((settled) => bench.store.settle([settled])));
      expect(answers).toEqual([['done'], ['stale']]);
      expect((await bench.delivery(claimed.delivery.id)).status).toBe('succeeded');
    });

    test.for([
      ['paused', life.pause, 'paused'],
      ['canceled', life.cancel, 'canceled'],
    ] as const)('a failure decided before the schedule was %s is decided anew', async ([, order, status]) => {
      const bench = await suite.bench();
      const view = await bench.addSchedule();
      const claimed = await bench.take(view);
      const early = bench.settle(claimed, view.schedule, FAILURE);
      const { schedule } = await bench.change(view.schedule.id, (read) => order(read, bench.tick()));
      expect(await bench.changesNothing(() => bench.store.settle([early]))).toEqual(['stale']);
      expect(await bench.store.settle([bench.settle(claimed, schedule, FAILURE)])).toEqual(['done']);
      expect((await bench.delivery(claimed.delivery.id)).status).toBe(status);
    });

    test('a success that completes the schedule is decided anew when the schedule was edited', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule();
      const claimed = await bench.take(view);
      const early = bench.settle(claimed, view.schedule, SUCCESS);
      expect(early.completed?.state).toBe('completed');
      const metadata = [['kept', 'yes']] as const;
      const { schedule } = await bench.change(view.schedule.id, (read) =>
        life.edit(read, { metadata }, bench.now),
      );
      expect(await bench.changesNothing(() => bench.store.settle([early]))).toEqual(['stale']);
      expect(await bench.store.settle([bench.settle(claimed, schedule, SUCCESS)])).toEqual(['done']);
      expect((await bench.view(schedule.id)).schedule).toMatchObject({ state: 'completed', metadata });
    });

    test('an attempt that is not under way changes nothing', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule();
      const claimed = await bench.take(view);
      const settled = bench.settle(claimed, view.schedule, SUCCESS);
      const unknown: SettleWrite = { ...settled, attempt: { ...settled.attempt, attemptNo: 2 } };
      expect(await bench.changesNothing(() => bench.store.settle([unknown]))).toEqual(['stale']);

      expect(await bench.store.settle([bench.settle(claimed, view.schedule, FAILURE)])).toEqual(['done']);
      const delivery = await bench.delivery(claimed.delivery.id);
      const again = { ...settled.delivery, revision: delivery.revision + 1 };
      const closed: SettleWrite = { ...settled, delivery: again };
      expect(await bench.changesNothing(() => bench.store.settle([closed]))).toEqual(['stale']);
    });

    test('answers each for itself', async () => {
      const bench = await suite.bench();
      const views = [await bench.addSchedule(), await bench.addSchedule(), await bench.addSchedule()];
      const settles = [];
      for (const view of views) settles.push(bench.settle(await bench.take(view), view.schedule, SUCCESS));
      const [first, second, third] = settles;
      if (first === undefined || second === undefined || third === undefined) return;
      await bench.store.settle([second]);
      expect(await bench.store.settle([first, second, third])).toEqual(['done', 'stale', 'done']);
      expect(await bench.store.settle([])).toEqual([]);
    });
  });
}

function claimPending(bench: Bench, view: ScheduleView): ClaimWrite {
  return bench.claim(pendingOf(view), view);
}

function attempts(bench: Bench, { delivery }: ClaimWrite) {
  return bench.store.listAttempts(bench.partition, delivery.id, 0, 100);
}

/** The answers, or none when the verb was refused with an error. */
async function answersOf(verb: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await verb();
  } catch {
    return [];
  }
}
