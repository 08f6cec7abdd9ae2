import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ATTEMPT_OUTCOMES, type Attempt } from '#src/domain/delivery.ts';
import { editProfile } from '#src/domain/endpoint-profile.ts';
import { INTERRUPTED } from '#src/domain/failures.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import type { Schedule, ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import type { ClaimWrite, SettleWrite } from '#src/ports/store.ts';
import * as arbitrary from './arbitraries.ts';
import { FAILURE, HOUR_MS, HOURLY, REDIRECT, SUCCESS } from './builders.ts';
import { type Fixture, pendingOf, type Suite } from './fixture.ts';

export function firingContract(suite: Suite): void {
  describe('claiming', () => {
    test('stores the claim, and the attempt in flight is listed from it', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule();
      fixture.tick(HOUR_MS + 7);
      const claimed = claimPending(fixture, view);
      expect(await fixture.store.claim([claimed])).toEqual(['done']);
      expect(await fixture.delivery(claimed.delivery.id)).toEqual(claimed.delivery);
      expect(claimed.delivery).toMatchObject({
        status: 'claimed',
        attemptCount: 1,
        claim: { node: 'node-1' },
      });
      expect(await attempts(fixture, claimed)).toEqual([claimed.attempt]);
      expect((await fixture.view(view.schedule.id)).schedule).toEqual(view.schedule);
    });

    test('of the pending delivery advances a recurring schedule', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ timing: HOURLY });
      fixture.tick(HOUR_MS);
      const claimed = claimPending(fixture, view);
      expect(await fixture.store.claim([claimed])).toEqual(['done']);
      expect(await fixture.view(view.schedule.id)).toEqual({
        schedule: claimed.advanced?.schedule,
        pending: claimed.advanced?.next,
        profile: null,
      });
      expect(await fixture.delivery(pendingOf(view).id)).toEqual(claimed.delivery);
      expect(await attempts(fixture, claimed)).toEqual([claimed.attempt]);
    });

    test('is refused completely if the delivery or the schedule changed since it was read', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ timing: HOURLY });
      fixture.tick(HOUR_MS);
      const moved = claimPending(fixture, view);
      await fixture.change(view.schedule.id, (read) => life.reschedule(read, fixture.oneShot(), fixture.now));
      expect(await fixture.changesNothing(() => fixture.store.claim([moved]))).toEqual(['stale']);

      const again = await fixture.view(view.schedule.id);
      const claimed = claimPending(fixture, again);
      expect(claimed.advanced).not.toBeNull();
      const renamed: Schedule = {
        ...again.schedule,
        metadata: [['a', 'b']],
        revision: again.schedule.revision + 1,
      };
      const rename = { schedule: renamed, pending: null, sweep: null, receipt: null };
      expect(await fixture.store.replaceSchedule(rename)).toBe('done');
      expect(await fixture.changesNothing(() => fixture.store.claim([claimed]))).toEqual(['stale']);
    });

    test('is the same as the status: nothing else can be stored', async () => {
      const fixture = await suite.fixture();
      const claimed = claimPending(fixture, await fixture.addSchedule());
      const { claim, status } = claimed.delivery;
      const made = fixture.schedule();
      for (const wrong of [{ status }, { claim }]) {
        const addition = {
          ...made,
          pending: { ...made.pending, ...wrong },
          payload: null,
          profile: null,
          receipt: null,
        };
        const refused = () => expect(fixture.store.addSchedule(addition)).rejects.toThrow(/constraint/i);
        await fixture.changesNothing(refused);
      }
    });

    test('of a delivery that does not exist is stale', async () => {
      const fixture = await suite.fixture();
      const made = fixture.schedule();
      const claimed = claimPending(fixture, { ...made, profile: null });
      expect(await fixture.changesNothing(() => fixture.store.claim([claimed]))).toEqual(['stale']);
    });

    test('answers each verb on its own', async () => {
      const fixture = await suite.fixture();
      const views = [await fixture.addSchedule(), await fixture.addSchedule(), await fixture.addSchedule()];
      const [first, second, third] = views.map((view) => claimPending(fixture, view));
      if (first === undefined || second === undefined || third === undefined) return;
      await fixture.store.claim([second]);
      expect(await fixture.store.claim([first, second, third])).toEqual(['done', 'stale', 'done']);
      for (const { delivery } of [first, second, third]) {
        expect((await fixture.delivery(delivery.id)).status).toBe('claimed');
      }
      expect(await fixture.store.claim([])).toEqual([]);
    });

    test('creates no occurrence twice: such a claim has no effect, and others are not affected', async () => {
      const fixture = await suite.fixture();
      const good = await fixture.addSchedule();
      const view = await fixture.addSchedule({ timing: HOURLY });
      fixture.tick(HOUR_MS);
      const claimed = claimPending(fixture, view);
      if (claimed.advanced === null) throw new Error('The claim does not advance the schedule.');
      const { occurrence } = claimed.delivery;
      const next = { ...claimed.advanced.next, occurrence };
      const double: ClaimWrite = { ...claimed, advanced: { ...claimed.advanced, next } };
      const goodClaim = claimPending(fixture, good);

      const answers = await fixture.changesNothing(() => answersOf(() => fixture.store.claim([double])));
      expect(answers).not.toContain('done');

      // A verb that is not answered `done` has no effect. An error of one verb must not hide the effect of another.
      const [answer = 'refused'] = await answersOf(() => fixture.store.claim([goodClaim, double]));
      const status = answer === 'done' ? 'claimed' : 'scheduled';
      expect((await fixture.delivery(goodClaim.delivery.id)).status).toBe(status);
      expect((await fixture.delivery(double.delivery.id)).status).toBe('scheduled');
    });

    test('of one delivery by many nodes at once succeeds once', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ timing: HOURLY });
      fixture.tick(HOUR_MS);
      const claims = Array.from({ length: 20 }, (_, i) => fixture.claim(pendingOf(view), view, `node-${i}`));
      const answers = (await Promise.all(claims.map((claimed) => fixture.store.claim([claimed])))).flat();
      expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
      const winner = claims[answers.indexOf('done')];
      expect(await fixture.delivery(pendingOf(view).id)).toEqual(winner?.delivery);
      expect((await fixture.view(view.schedule.id)).pending).toEqual(winner?.advanced?.next);
    });

    test.for([
      ['cancel', (view: ScheduleView, fixture: Fixture) => life.cancel(view, fixture.now)],
      ['pause', (view: ScheduleView, fixture: Fixture) => life.pause(view, fixture.now)],
      [
        'reschedule',
        (view: ScheduleView, fixture: Fixture) => life.reschedule(view, fixture.oneShot(), fixture.now),
      ],
      ['edit', (view: ScheduleView, fixture: Fixture) => life.edit(view, { ttl: '9s' }, fixture.now)],
    ] as const)('and %s at the same time: one of them wins', async ([, decide]) => {
      const fixture = await suite.fixture();
      for (const claimFirst of [true, false]) {
        const view = await fixture.addSchedule();
        const changed = decide(view, fixture);
        if (changed === null) throw new Error('There is nothing to change.');
        const claim = () => fixture.store.claim([claimPending(fixture, view)]);
        const change = () => fixture.store.replaceSchedule({ ...changed, receipt: null });
        const [first, second] = claimFirst ? [claim(), change()] : [change(), claim()];
        const answers = (await Promise.all([first, second])).flat();
        expect(answers.toSorted()).toEqual(['done', 'stale']);
        const claimWon = claimFirst === (answers[0] === 'done');
        const status = (await fixture.pending(view.schedule.id)).status;
        expect(status).toBe(claimWon ? 'claimed' : changed.pending?.status);
      }
    });

    test('creates the next occurrence from the current profile: if it was edited, the claim is stale', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const timing = HOURLY;
      const made = fixture.scheduleOn(profile, { timing });
      expect(await fixture.store.addSchedule(made)).toBe('done');
      const view = await fixture.view(made.schedule.id);
      const early = claimPending(fixture, view);
      const edited = editProfile(profile, { url: 'https://example.com/edited' }, fixture.tick());
      expect(await fixture.store.replaceProfile({ profile: edited, headers: null, receipt: null })).toBe(
        'done',
      );
      expect(await fixture.changesNothing(() => fixture.store.claim([early]))).toEqual(['stale']);
      const claimed = claimPending(fixture, await fixture.view(made.schedule.id));
      expect(await fixture.store.claim([claimed])).toEqual(['done']);
      expect((await fixture.pending(made.schedule.id)).target).toMatchObject({
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
        const fixture = await suite.fixture();
        const view = await fixture.addSchedule();
        const claimed = await fixture.addClaim(view);
        fixture.tick(250);
        const settled = fixture.settle(claimed, view.schedule, result);
        expect(await fixture.store.settle([settled])).toEqual(['done']);
        expect(await fixture.delivery(claimed.delivery.id)).toEqual(settled.delivery);
        expect(await attempts(fixture, claimed)).toEqual([settled.attempt]);
        expect((await fixture.view(view.schedule.id)).schedule).toEqual(settled.completed ?? view.schedule);
        expect(settled.delivery.status).toBe(status);
        expect((await fixture.view(view.schedule.id)).schedule.state).toBe(state);
      },
    );

    test('stores every field of the attempt’s result', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({
        retryPolicy: { ...DEFAULT_RETRY_POLICY, base: '0', maxAttempts: 50 },
      });
      const expected: Attempt[] = [];
      const outcome = fc.record({
        outcome: fc.constantFrom(...ATTEMPT_OUTCOMES),
        statusCode: fc.option(fc.integer({ min: 100, max: 999 })),
        dueAt: arbitrary.anyInstant,
        firedAt: arbitrary.anyInstant,
        finishedAt: arbitrary.anyInstant,
        egressMs: fc.nat(),
        error: fc.option(arbitrary.plainText),
        timing: fc.option(arbitrary.attemptTiming),
      });
      for (const contents of fc.sample(outcome, { numRuns: 40, seed: 6 })) {
        const claimed = fixture.claim(await fixture.pending(view.schedule.id), view);
        const { dueAt, firedAt } = contents;
        const claim = { ...claimed.delivery.claim, dueAt, firedAt };
        const delivery = { ...claimed.delivery, claim };
        expect(await fixture.store.claim([{ delivery, advanced: null }])).toEqual(['done']);
        expect((await attempts(fixture, claimed)).at(-1)).toEqual({ ...claimed.attempt, dueAt, firedAt });
        const settled = fixture.settle({ delivery }, view.schedule, FAILURE);
        expected.push({ ...settled.attempt, ...contents });
        const closed = { ...settled, attempt: { ...settled.attempt, ...contents } };
        expect(await fixture.store.settle([closed])).toEqual(['done']);
      }
      expect(await fixture.store.listAttempts(fixture.partition, pendingOf(view).id, 0, 100)).toEqual(
        expected,
      );
    });

    test('is refused if the claim was recovered and taken by another node', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule();
      const lost = await fixture.addClaim(view);
      const recovered = fixture.settle(lost, view.schedule, INTERRUPTED);
      expect(await fixture.store.settle([recovered])).toEqual(['done']);
      const taken = fixture.claim(recovered.delivery, view, 'node-2');
      expect(await fixture.store.claim([taken])).toEqual(['done']);

      const late = fixture.settle(lost, view.schedule, SUCCESS);
      expect(await fixture.changesNothing(() => fixture.store.settle([late]))).toEqual(['stale']);
      expect(await fixture.store.settle([fixture.settle(taken, view.schedule, SUCCESS)])).toEqual(['done']);
      expect(await fixture.changesNothing(() => fixture.store.settle([late]))).toEqual(['stale']);
    });

    test('twice succeeds once', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule();
      const claimed = await fixture.addClaim(view);
      const both = [SUCCESS, FAILURE].map((result) => fixture.settle(claimed, view.schedule, result));
      const answers = await Promise.all(both.map((settled) => fixture.store.settle([settled])));
      expect(answers).toEqual([['done'], ['stale']]);
      expect((await fixture.delivery(claimed.delivery.id)).status).toBe('succeeded');
    });

    test.for([
      ['paused', life.pause, 'paused'],
      ['canceled', life.cancel, 'canceled'],
    ] as const)('a failure is stale if the schedule was %s in between', async ([, order, status]) => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule();
      const claimed = await fixture.addClaim(view);
      const early = fixture.settle(claimed, view.schedule, FAILURE);
      const { schedule } = await fixture.change(view.schedule.id, (read) => order(read, fixture.tick()));
      expect(await fixture.changesNothing(() => fixture.store.settle([early]))).toEqual(['stale']);
      expect(await fixture.store.settle([fixture.settle(claimed, schedule, FAILURE)])).toEqual(['done']);
      expect((await fixture.delivery(claimed.delivery.id)).status).toBe(status);
    });

    test('a success that completes the schedule is stale if the schedule was edited', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule();
      const claimed = await fixture.addClaim(view);
      const early = fixture.settle(claimed, view.schedule, SUCCESS);
      expect(early.completed?.state).toBe('completed');
      const metadata = [['kept', 'yes']] as const;
      const { schedule } = await fixture.change(view.schedule.id, (read) =>
        life.edit(read, { metadata }, fixture.now),
      );
      expect(await fixture.changesNothing(() => fixture.store.settle([early]))).toEqual(['stale']);
      expect(await fixture.store.settle([fixture.settle(claimed, schedule, SUCCESS)])).toEqual(['done']);
      expect((await fixture.view(schedule.id)).schedule).toMatchObject({ state: 'completed', metadata });
    });

    test('an attempt that is not in flight changes nothing', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule();
      const claimed = await fixture.addClaim(view);
      const settled = fixture.settle(claimed, view.schedule, SUCCESS);
      // A database that lost its last writes may have given the same revision to another claim.
      const { attempt: other } = fixture.claim(pendingOf(view), view, 'node-2');
      const unknown: SettleWrite = { ...settled, attempt: { ...settled.attempt, id: other.id } };
      expect(await fixture.changesNothing(() => fixture.store.settle([unknown]))).toEqual(['stale']);

      expect(await fixture.store.settle([fixture.settle(claimed, view.schedule, FAILURE)])).toEqual(['done']);
      const delivery = await fixture.delivery(claimed.delivery.id);
      const again = { ...settled.delivery, revision: delivery.revision + 1 };
      const closed: SettleWrite = { ...settled, delivery: again };
      expect(await fixture.changesNothing(() => fixture.store.settle([closed]))).toEqual(['stale']);
    });

    test('lists each attempt once: in flight, when it ends, and when its settlement is repeated', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule();
      const expected: Attempt[] = [];
      for (const [at, result] of [FAILURE, INTERRUPTED, SUCCESS].entries()) {
        fixture.tick(HOUR_MS);
        const claimed = await fixture.addClaim(await fixture.view(view.schedule.id), `node-${at}`);
        expect(claimed.attempt.attemptNo).toBe(at + 1);
        expect(await attempts(fixture, claimed)).toEqual([...expected, claimed.attempt]);
        expect(await attempts(fixture, claimed, at)).toEqual([claimed.attempt]);
        expect(await attempts(fixture, claimed, at + 1)).toEqual([]);
        expect(await attempts(fixture, claimed, 0, at)).toEqual(expected);
        fixture.tick(250);
        const settled = fixture.settle(claimed, view.schedule, result);
        expect(await fixture.store.settle([settled])).toEqual(['done']);
        expected.push(settled.attempt);
        expect(await attempts(fixture, claimed)).toEqual(expected);
        expect(await fixture.changesNothing(() => fixture.store.settle([settled]))).toEqual(['stale']);
      }
      expect(expected.map(({ attemptNo }) => attemptNo)).toEqual([1, 2, 3]);
    });

    test('and reading at the same time: no list misses an attempt or has it twice', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({
        retryPolicy: { ...DEFAULT_RETRY_POLICY, base: '0', maxAttempts: 50 },
      });
      for (let no = 1; no <= 20; no++) {
        const claimed = await fixture.addClaim(await fixture.view(view.schedule.id));
        const settled = fixture.settle(claimed, view.schedule, FAILURE);
        const [answers, ...lists] = await Promise.all([
          fixture.store.settle([settled]),
          ...Array.from({ length: 4 }, () => attempts(fixture, claimed)),
        ]);
        expect(answers).toEqual(['done']);
        const numbers = Array.from({ length: no }, (_, at) => at + 1);
        for (const list of lists) expect(list.map(({ attemptNo }) => attemptNo)).toEqual(numbers);
      }
    });

    test('answers each verb on its own', async () => {
      const fixture = await suite.fixture();
      const views = [await fixture.addSchedule(), await fixture.addSchedule(), await fixture.addSchedule()];
      const settles = [];
      for (const view of views)
        settles.push(fixture.settle(await fixture.addClaim(view), view.schedule, SUCCESS));
      const [first, second, third] = settles;
      if (first === undefined || second === undefined || third === undefined) return;
      await fixture.store.settle([second]);
      expect(await fixture.store.settle([first, second, third])).toEqual(['done', 'stale', 'done']);
      expect(await fixture.store.settle([])).toEqual([]);
    });
  });
}

function claimPending(fixture: Fixture, view: ScheduleView): ReturnType<Fixture['claim']> {
  return fixture.claim(pendingOf(view), view);
}

function attempts(fixture: Fixture, { delivery }: ClaimWrite, after = 0, limit = 100) {
  return fixture.store.listAttempts(fixture.partition, delivery.id, after, limit);
}

/** The answers, or none if the verb failed with an error. */
async function answersOf(verb: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await verb();
  } catch {
    return [];
  }
}
