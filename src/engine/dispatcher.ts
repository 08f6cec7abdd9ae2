/**
 * Fires what is due. It sleeps until the earliest delivery it knows of, and is woken for an earlier one; at
 * its instant a delivery enters the lane of its endpoint, and from there, as slots are free, batches are
 * taken: read, judged by the gate, claimed in one step, sent.
 *
 * Whoever changed a delivery in the meantime wins: the claim is conditional on the revision that was read.
 * Nothing here is remembered that the store does not know: what is dropped, by a full lane or a store that is
 * away, is found again by looking (`look-out.ts`), at least once a second. Timers are monotonic and the clock
 * is asked again on waking, so that a clock that is set back or ahead fires nothing early and loses nothing.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import { endUnsent, isWaiting, putOff } from '#src/domain/delivery-life.ts';
import { judge } from '#src/domain/dispatch.ts';
import { type Due, dueOf } from '#src/domain/due.ts';
import { gateTerms } from '#src/domain/gate.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import * as scheduleLife from '#src/domain/schedule-life.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { ClaimWrite, EndWrite, Work } from '#src/ports/store.ts';
import type { Gates, Taken } from './gates.ts';
import { Lanes } from './lanes.ts';
import { LOOK_AHEAD_MS, LookOut } from './look-out.ts';
import { NearDue } from './near-due.ts';
import type { EngineWorld } from './world.ts';

/** Less than a second, with what a look takes. */
const LOOK_EVERY_MS = 900;
/** Between two looks behind, while there is more. */
const LOOK_AGAIN_MS = 20;
/** The same, while there is enough to do. */
const LOOK_ON_MS = 200;
/** Somebody else changed a delivery as it was to be claimed: so long it is left alone. */
const STALE_MS = 10;
/** No timer sleeps longer, whatever the clock says. */
const SLEEP_MS_MAX = 60_000;
const BATCH_MAX = 64;
/** Below so many overdue in memory, more are looked for at once. */
const OVERDUE_LOW = 1_000;
/** After the store failed. */
const STORE_REST_MS = 500;
/** So late, and a delivery counts as overdue work. */
const OVERDUE_AFTER_MS = 1_000;

/** A delivery that is to be claimed, and what its try will need to know. */
export interface Claiming {
  readonly due: Due;
  readonly work: Work;
  readonly write: ClaimWrite;
  readonly taken: Taken;
  /** The end of the breaker's window that it probes; null for one that is no probe. */
  readonly probeOf: Instant | null;
}

export interface Sending {
  /** Whether there is room for more tries that are not settled yet. */
  readonly isSaturated: boolean;
  /** Before the claim is written: makes ready, and counts it as under way. */
  prepare(claiming: Claiming): void;
  /** The claim is ours: the try begins. It gives the slot back by `release`. */
  begin(claiming: Claiming): void;
  /** The claim was not made; `unsure`: or it was, and its answer got lost. */
  drop(claiming: Claiming, unsure: boolean): void;
}

export class Dispatcher implements Hints {
  readonly #world: EngineWorld;
  readonly #gates: Gates;
  readonly #sending: Sending;
  readonly #nearDue = new NearDue();
  readonly #lanes = new Lanes();
  readonly #lookOut: LookOut;
  #callOffWake: (() => void) | null = null;
  #callOffLook: (() => void) | null = null;
  #wakeAt: Instant | null = null;
  #isTurnComing = false;
  #isLooking = false;
  #isLookWanted = false;
  #isResting = false;
  #hasLooked = false;
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor(world: EngineWorld, gates: Gates, sending: Sending) {
    this.#world = world;
    this.#gates = gates;
    this.#sending = sending;
    const lanes = this.#lanes;
    this.#lookOut = new LookOut(world, {
      ahead: (due) => this.#nearDue.add(due),
      behind: (due) => lanes.add(due, this.#punctuality(due)),
      get hasRoomBehind() {
        return lanes.hasRoom;
      },
      pageRead: () => this.#turn(),
    });
  }

  get waiting(): number {
    return this.#lanes.waiting;
  }

  get inFlight(): number {
    return this.#lanes.underWay;
  }

  /** Whether due work is found and claimed as it should be. */
  get isFiring(): boolean {
    return this.#state === 'running' && this.#hasLooked && !this.#isResting;
  }

  start(): void {
    this.#state = 'running';
    this.#lookIn(0);
  }

  /** Nothing more is claimed; what is claimed goes on. */
  stop(): void {
    this.#state = 'stopped';
    this.#callOffWake?.();
    this.#callOffLook?.();
  }

  due(due: Due | null): void {
    if (due === null || this.#state !== 'running') return;
    if (due.dueAt > this.#world.clock.now() + LOOK_AHEAD_MS) return;
    if (!this.#nearDue.add(due)) return;
    if (due.dueAt <= this.#world.clock.now()) this.turnSoon();
    else if (this.#wakeAt === null || due.dueAt < this.#wakeAt) this.#sleep();
  }

  lookAgain(): void {
    if (this.#state === 'running') this.#lookIn(0);
  }

  /** A slot is free again. */
  release(due: Due): void {
    this.#lanes.release(due);
    this.turnSoon();
  }

  #lookIn(ms: number): void {
    this.#callOffLook?.();
    this.#callOffLook = this.#world.timers.after(ms, () => void this.#look());
  }

  async #look(): Promise<void> {
    if (this.#state !== 'running') return;
    this.#isLookWanted = this.#isLooking;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#lookOut.ahead();
      await this.#lookOut.behind();
      this.#hasLooked = true;
    } catch (error) {
      this.#hasLooked = false;
      this.#world.log.warn({ error: String(error) }, 'due work could not be looked for');
    } finally {
      this.#isLooking = false;
    }
    if (this.#state !== 'running') return;
    this.#turn();
    this.#lookIn(this.#isLookWanted ? 0 : this.#lookAfterMs());
  }

  #lookAfterMs(): number {
    if (!this.#lookOut.isMoreBehind) return LOOK_EVERY_MS;
    return this.#lanes.overdue < OVERDUE_LOW ? LOOK_AGAIN_MS : LOOK_ON_MS;
  }

  /** There may be room for more. */
  turnSoon(): void {
    if (this.#isTurnComing) return;
    this.#isTurnComing = true;
    queueMicrotask(() => this.#turn());
  }

  /** Moves what is due into its lane, starts what may go, and sleeps until the next. */
  #turn(): void {
    this.#isTurnComing = false;
    if (this.#state !== 'running') return;
    for (const due of this.#nearDue.take(this.#world.clock.now())) {
      this.#lanes.add(due, this.#punctuality(due));
    }
    while (!this.#isResting && !this.#sending.isSaturated) {
      const batch = this.#lanes.take(BATCH_MAX);
      if (batch.length === 0) break;
      void this.#fire(batch);
    }
    this.#sleep();
  }

  #punctuality({ dueAt }: Due): 'in_time' | 'overdue' {
    return this.#world.clock.now() - dueAt > OVERDUE_AFTER_MS ? 'overdue' : 'in_time';
  }

  #sleep(): void {
    this.#callOffWake?.();
    this.#callOffWake = null;
    this.#wakeAt = this.#nearDue.nextAt();
    if (this.#wakeAt === null || this.#state !== 'running') return;
    const ms = Math.min(Math.max(this.#wakeAt - this.#world.clock.now(), 0), SLEEP_MS_MAX);
    this.#callOffWake = this.#world.timers.after(ms, () => this.#turn());
  }

  async #fire(batch: readonly Due[]): Promise<void> {
    const { store, clock } = this.#world;
    const claims: Claiming[] = [];
    const ends: Decided<EndWrite>[] = [];
    const putOffs: Decided<Delivery>[] = [];
    let works: readonly (Work | null)[];
    try {
      works = await store.findWork(batch);
    } catch (error) {
      for (const due of batch) this.release(due);
      this.#rest(error);
      return;
    }
    const now = clock.now();
    for (const [index, due] of batch.entries()) {
      const work = works[index] ?? null;
      if (work === null || this.#state === 'stopped') this.release(due);
      else this.#judge(due, work, now, { claims, ends, putOffs });
    }
    await Promise.all([this.#claim(claims), this.#end(ends), this.#putOff(putOffs)]);
  }

  /** One that cannot be judged must not keep the others from it. */
  #judge(due: Due, work: Work, now: Instant, into: Decisions): void {
    try {
      this.#decide(due, work, now, into);
    } catch (error) {
      this.#world.log.error({ delivery: due.id, error: String(error) }, 'a delivery could not be judged');
      this.release(due);
    }
  }

  #decide(due: Due, work: Work, now: Instant, into: Decisions): void {
    const { delivery, schedule, profile } = work;
    const seen = dueOf(delivery);
    if (seen !== null && seen.endpoint !== due.endpoint) {
      // Its endpoint was changed since it was seen: it belongs into another lane.
      this.release(due);
      this.due(seen);
      return;
    }
    const before = this.#gates.of(due, work.gate);
    const verdict = judge(delivery, before, gateTerms(profile, schedule.rateLimit), now);
    switch (verdict.kind) {
      case 'gone':
        this.release(due);
        return;
      case 'not_yet':
        this.release(due);
        this.due(dueOf(delivery));
        return;
      case 'end':
        into.ends.push({ due, write: this.#ended(work, verdict.why, now), taken: null });
        return;
      case 'put_off': {
        const taken = { before, after: verdict.gate };
        into.putOffs.push({ due, write: putOff(delivery, verdict.until, verdict.booked), taken });
        this.#gates.set(due, verdict.gate);
        return;
      }
      case 'send': {
        const { gate, probe } = verdict;
        const probeOf = probe ? gate.breaker.openUntil : null;
        into.claims.push({
          due,
          work,
          probeOf,
          taken: { before, after: gate },
          write: this.#claimed(work, now),
        });
        this.#gates.set(due, gate);
      }
    }
  }

  #ended({ delivery, schedule, profile }: Work, why: 'expired' | 'exhausted', now: Instant): EndWrite {
    const ended = endUnsent(delivery, why, now);
    return {
      delivery: ended,
      completed: scheduleLife.completedBy(schedule, ended, now),
      advanced: scheduleLife.advance(schedule, profile, delivery, this.#world.ids.mint('dlv', now), now),
    };
  }

  #claimed(work: Work, now: Instant): ClaimWrite {
    const { ids, node } = this.#world;
    const attempt = ids.mint('att', now);
    const delivery = ids.mint('dlv', now);
    return scheduleLife.claim(work.delivery, work, { node, token: attempt }, { attempt, delivery }, now);
  }

  async #claim(claims: readonly Claiming[]): Promise<void> {
    if (claims.length === 0) return;
    const { store, metrics } = this.#world;
    const answered = store.claim(claims.map(({ write }) => write));
    // While the disk works, the requests are made ready.
    for (const claiming of claims) this.#sending.prepare(claiming);
    try {
      const answers = await answered;
      for (const [index, claiming] of claims.entries()) {
        const { write, due } = claiming;
        this.#lanes.forget(due);
        if (answers[index] === 'done') {
          metrics.lateness('claim', (write.attempt.firedAt - write.attempt.dueAt) / 1_000);
          if (write.advanced !== null) this.due(dueOf(write.advanced.next));
          this.#sending.begin(claiming);
        } else {
          this.#sending.drop(claiming, false);
          this.#lookAtAgain(claiming);
        }
      }
    } catch (error) {
      for (const claiming of claims) {
        this.#sending.drop(claiming, true);
        this.#gates.giveBack(claiming.due, claiming.taken);
        this.release(claiming.due);
      }
      this.#rest(error);
    }
  }

  async #end(ends: readonly Decided<EndWrite>[]): Promise<void> {
    if (ends.length === 0) return;
    const { store, metrics } = this.#world;
    await this.#write(
      ends,
      (writes) => store.endUnsent(writes),
      ({ write }) => {
        metrics.unsent(write.delivery.status === 'expired' ? 'expired' : 'dead_letter');
        if (write.advanced !== null) this.due(dueOf(write.advanced.next));
      },
    );
  }

  async #putOff(putOffs: readonly Decided<Delivery>[]): Promise<void> {
    if (putOffs.length === 0) return;
    const { store, metrics } = this.#world;
    await this.#write(
      putOffs,
      (writes) => store.putOff(writes),
      ({ write }) => {
        metrics.unsent('put_off');
        const due = dueOf(write);
        if (due !== null && !write.booked) this.#gates.holdBack(due);
        this.due(due);
      },
    );
  }

  async #write<W>(
    decided: readonly Decided<W>[],
    write: (writes: readonly W[]) => Promise<readonly ('done' | 'stale')[]>,
    done: (one: Decided<W>) => void,
  ): Promise<void> {
    try {
      const answers = await write(decided.map((one) => one.write));
      for (const [index, one] of decided.entries()) {
        if (answers[index] === 'done') {
          this.release(one.due);
          done(one);
        } else this.#lookAtAgain(one);
      }
    } catch (error) {
      for (const { due, taken } of decided) {
        if (taken !== null) this.#gates.giveBack(due, taken);
        this.release(due);
      }
      this.#rest(error);
    }
  }

  /** Somebody else changed it meanwhile. It may still be due, and a hint at it may have been passed over. */
  #lookAtAgain({ due, taken }: Pick<Decided<unknown>, 'due' | 'taken'>): void {
    if (taken !== null) this.#gates.giveBack(due, taken);
    this.release(due);
    this.due({ ...due, dueAt: instant(this.#world.clock.now() + STALE_MS) });
  }

  /** Those that an open breaker held back and that need not wait any longer. */
  async bringForward(heldBack: readonly Due[]): Promise<void> {
    const { store, clock } = this.#world;
    const putOffTo = new Map(heldBack.map(({ id, dueAt }) => [id, dueAt]));
    try {
      for (let at = 0; at < heldBack.length; at += BATCH_MAX) {
        const works = await store.findWork(heldBack.slice(at, at + BATCH_MAX));
        const now = clock.now();
        const forward = works
          .filter((work) => work !== null)
          .map(({ delivery }) => delivery)
          .filter((delivery) => delivery.dueAt === putOffTo.get(delivery.id) && isWaiting(delivery.status))
          .map((delivery) => putOff(delivery, now, false));
        const answers = await store.putOff(forward);
        for (const [index, delivery] of forward.entries()) {
          if (answers[index] === 'done') this.due(dueOf(delivery));
        }
      }
    } catch (error) {
      this.#world.log.warn({ error: String(error) }, 'deliveries held back wait for the end of the window');
    }
  }

  /** The store is away: nothing is claimed for a moment. What was dropped is found again. */
  #rest(error: unknown): void {
    this.#world.log.warn({ error: String(error) }, 'due work could not be claimed');
    if (this.#isResting) return;
    this.#isResting = true;
    this.#world.timers.after(STORE_REST_MS, () => {
      this.#isResting = false;
      this.lookAgain();
    });
  }
}

interface Decided<W> {
  readonly due: Due;
  readonly write: W;
  readonly taken: Taken | null;
}

interface Decisions {
  readonly claims: Claiming[];
  readonly ends: Decided<EndWrite>[];
  readonly putOffs: Decided<Delivery>[];
}
