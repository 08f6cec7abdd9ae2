/**
 * From a batch of due deliveries to tries: read, unless that was done ahead, judged by the gate, claimed or put off
 * or ended, each kind in one step. Whoever changed a delivery in the meantime wins: every write is conditional on
 * the revision that was read, and in a cluster on the hold on its slot, which must not have changed since.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import { endUnsent, putOff } from '#src/domain/delivery-life.ts';
import { judge } from '#src/domain/dispatch.ts';
import { type Due, dueOf } from '#src/domain/due.ts';
import { gateTerms } from '#src/domain/gate.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import * as scheduleLife from '#src/domain/schedule-life.ts';
import type { ClaimWrite, EndWrite, Work } from '#src/ports/store.ts';
import type { Ahead, Ready } from './ahead.ts';
import { bringForward } from './bring-forward.ts';
import type { Gates } from './gates.ts';
import type { Letter } from './letters.ts';
import type { Tallies } from './tallies.ts';
import type { Territory } from './territory.ts';
import type { EngineWorld } from './world.ts';

/** Somebody else changed a delivery as it was to be claimed: so long it is left alone. */
const STALE_MS = 10;
/** Read and written together. */
export const BATCH_MAX = 64;
const MS_PER_SECOND = 1_000;

/** A delivery that is to be claimed, and what its try will need to know. */
export interface Claiming {
  readonly due: Due;
  readonly work: Work;
  readonly write: ClaimWrite;
  /** Of its slot, in which this was decided. */
  readonly epoch: number;
  /** Whether a turn at the gate was taken for it. */
  readonly hasTurn: boolean;
  /** The end of the breaker's window that it probes; null for one that is no probe. */
  readonly probeOf: Instant | null;
  /** What it sends, where that was made ready ahead. */
  readonly letter: Letter | null;
  /** Whether it was decided on what was read before its instant. */
  readonly isReadAhead: boolean;
}

export interface Sending {
  /** Whether there is room for more tries that are not settled yet. */
  readonly isSaturated: boolean;
  /** Before the claims are written: makes ready, and counts them as under way. */
  prepare(claims: readonly Claiming[]): void;
  /** The claim is ours: the try begins. It gives the slot back by `release`. */
  begin(claiming: Claiming): void;
  /** The claim was not made; `unsure`: or it was, and its answer got lost. */
  drop(claiming: Claiming, unsure: boolean): void;
}

/** Where the batches come from. */
export interface Queue {
  readonly isStopped: boolean;
  due(due: Due | null): void;
  /** The store knows of it from now on: it is found again only if it waits again. */
  forget(due: Due): void;
  /** Gives its slot back. */
  release(due: Due): void;
  /** The store failed: nothing is to be claimed for a moment. */
  rest(error: unknown): void;
}

export interface FiringParts {
  readonly territory: Territory;
  readonly gates: Gates;
  readonly sending: Sending;
  readonly queue: Queue;
  readonly ahead: Ahead;
  readonly tallies: Pick<Tallies, 'ended'>;
}

export class Firing {
  readonly #world: EngineWorld;
  readonly #territory: Territory;
  readonly #gates: Gates;
  readonly #sending: Sending;
  readonly #queue: Queue;
  readonly #ahead: Ahead;
  readonly #tallies: FiringParts['tallies'];

  constructor(world: EngineWorld, parts: FiringParts) {
    this.#world = world;
    this.#territory = parts.territory;
    this.#gates = parts.gates;
    this.#sending = parts.sending;
    this.#queue = parts.queue;
    this.#ahead = parts.ahead;
    this.#tallies = parts.tallies;
  }

  /** Each of the batch holds a slot, which is given back as soon as it is not to be sent. */
  async fire(batch: readonly Due[]): Promise<void> {
    const ready: Read[] = [];
    const unread: Unread[] = [];
    for (const { due, epoch } of this.#ours(batch)) {
      const made = this.#ahead.take(due);
      if (made?.work.profile === null) {
        ready.push({ due, epoch, work: made.work, letter: made.letter, isReadAhead: true });
        continue;
      }
      // The policies of a profile count as they are now.
      if (made !== null) this.#gates.readEnds([due]);
      unread.push({ due, epoch, made });
    }
    await Promise.all([this.#decideAll(ready), this.#readAll(unread)]);
  }

  async #readAll(asked: readonly Unread[]): Promise<void> {
    if (asked.length === 0) return;
    const dues = asked.map(({ due }) => due);
    let works: readonly (Work | null)[];
    this.#gates.readBegins(dues);
    try {
      works = await this.#world.store.findWork(dues);
    } catch (error) {
      this.#gates.readEnds(dues);
      for (const due of dues) this.#queue.release(due);
      this.#queue.rest(error);
      return;
    }
    const read: Read[] = [];
    for (const [index, { due, epoch, made }] of asked.entries()) {
      const work = works[index] ?? null;
      // The gate that was read is of the epoch in which it was asked for.
      if (work !== null && this.#territory.epochOf(due) === epoch) {
        const isSame = made?.work.delivery.revision === work.delivery.revision;
        read.push({ due, epoch, work, letter: isSame ? (made?.letter ?? null) : null, isReadAhead: false });
        continue;
      }
      this.#gates.readEnds([due]);
      this.#queue.release(due);
    }
    await this.#decideAll(read);
  }

  /** The gates of all of them are being read until they are judged. */
  async #decideAll(read: readonly Read[]): Promise<void> {
    if (read.length === 0) return;
    const claims: Claiming[] = [];
    const ends: Decided<EndWrite>[] = [];
    const putOffs: Decided<Delivery>[] = [];
    const now = this.#world.clock.now();
    for (const one of read) {
      if (this.#queue.isStopped) this.#queue.release(one.due);
      else this.#judge(one, now, { claims, ends, putOffs });
    }
    this.#gates.readEnds(read.map(({ due }) => due));
    // In this order: a store carries out first what it was asked first.
    const turns = [...claims, ...putOffs].filter(({ hasTurn }) => hasTurn).map(({ due }) => due);
    const saved = turns.length === 0 ? null : this.#gates.saveTurns(turns);
    await Promise.all([saved, this.#claim(claims), this.#end(ends), this.#putOff(putOffs)]);
  }

  /** What lies elsewhere by now is let go of, unread. */
  #ours(batch: readonly Due[]): readonly Asked[] {
    const asked: Asked[] = [];
    for (const due of batch) {
      const epoch = this.#territory.epochOf(due);
      if (epoch === null) this.#queue.release(due);
      else asked.push({ due, epoch });
    }
    return asked;
  }

  /** One that cannot be judged must not keep the others from it. */
  #judge(read: Read, now: Instant, into: Decisions): void {
    const { due } = read;
    try {
      this.#decide(read, now, into);
    } catch (error) {
      this.#world.log.error({ delivery: due.id, error: String(error) }, 'a delivery could not be judged');
      this.#queue.release(due);
    }
  }

  #decide({ due, work, epoch, letter, isReadAhead }: Read, now: Instant, into: Decisions): void {
    const { delivery, schedule, profile } = work;
    // What was read ahead was compared then.
    const seen = isReadAhead ? due : dueOf(delivery);
    if (seen !== null && seen.endpoint !== due.endpoint) {
      // Its endpoint was changed since it was seen: it belongs into another lane.
      this.#queue.release(due);
      this.#queue.due(seen);
      return;
    }
    this.#gates.letGo(due);
    const before = this.#gates.of(due, work.gate);
    const verdict = judge(delivery, before, gateTerms(profile, schedule.rateLimit), now, work.sweep);
    switch (verdict.kind) {
      case 'gone':
        this.#queue.release(due);
        return;
      case 'not_yet':
        this.#queue.release(due);
        this.#queue.due(seen);
        return;
      case 'end':
        into.ends.push({
          due,
          epoch,
          isReadAhead,
          write: this.#ended(work, verdict.why, now),
          hasTurn: false,
        });
        return;
      case 'put_off': {
        const write = putOff(delivery, verdict.until, verdict.booked);
        const hasTurn = this.#gates.decided(due, before, verdict.gate);
        into.putOffs.push({ due, epoch, isReadAhead, write, hasTurn });
        return;
      }
      case 'send': {
        const { gate, probe } = verdict;
        const probeOf = probe ? gate.breaker.openUntil : null;
        const write = this.#claimed(work, now);
        const hasTurn = this.#gates.decided(due, before, gate);
        into.claims.push({ due, work, epoch, letter, isReadAhead, probeOf, write, hasTurn });
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
    const writes = claims.map(({ write }) => write);
    const answered = store.claim(writes, this.#territory.tenure);
    // While the disk works, the requests are made ready.
    this.#sending.prepare(claims);
    try {
      const answers = await answered;
      for (const [index, claiming] of claims.entries()) {
        const { write, due } = claiming;
        this.#queue.forget(due);
        if (answers[index] === 'done') {
          this.#turnEnds(claiming, true);
          metrics.lateness('claim', (write.attempt.firedAt - write.attempt.dueAt) / MS_PER_SECOND);
          if (write.advanced !== null) this.#queue.due(dueOf(write.advanced.next));
          this.#sending.begin(claiming);
        } else {
          this.#sending.drop(claiming, false);
          this.#lookAtAgain(claiming);
        }
      }
    } catch (error) {
      for (const claiming of claims) this.#sending.drop(claiming, true);
      await this.#failed(claims, ({ write }) => write.delivery, error);
    }
  }

  async #end(ends: readonly Decided<EndWrite>[]): Promise<void> {
    if (ends.length === 0) return;
    const { store, metrics } = this.#world;
    await this.#write(
      ends,
      (writes) => store.endUnsent(writes, this.#territory.tenure),
      ({ write }) => write.delivery,
      ({ due, write }) => {
        metrics.unsent(write.delivery.status === 'expired' ? 'expired' : 'dead_letter');
        this.#tallies.ended(due, write.delivery.status);
        if (write.advanced !== null) this.#queue.due(dueOf(write.advanced.next));
      },
    );
  }

  async #putOff(putOffs: readonly Decided<Delivery>[]): Promise<void> {
    if (putOffs.length === 0) return;
    const { store, metrics } = this.#world;
    await this.#write(
      putOffs,
      (writes) => store.putOff(writes, this.#territory.tenure),
      ({ write }) => write,
      ({ write, epoch }) => {
        metrics.unsent('put_off');
        const due = dueOf(write);
        this.#queue.due(due);
        if (due === null || !this.#territory.isStill(due, epoch)) return;
        if (!write.booked && !this.#gates.holdBack(due)) void this.bringForward([due]);
      },
    );
  }

  async #write<W>(
    decided: readonly Decided<W>[],
    write: (writes: readonly W[]) => Promise<readonly ('done' | 'stale')[]>,
    deliveryOf: (one: Decided<W>) => Delivery,
    done: (one: Decided<W>) => void,
  ): Promise<void> {
    try {
      const answers = await write(decided.map((one) => one.write));
      for (const [index, one] of decided.entries()) {
        if (answers[index] === 'done') {
          this.#turnEnds(one, true);
          this.#queue.release(one.due);
          done(one);
        } else this.#lookAtAgain(one);
      }
    } catch (error) {
      await this.#failed(decided, deliveryOf, error);
    }
  }

  /** A write failed, or only its answer got lost: what is stored tells which turns are used. */
  async #failed<D extends Decided<unknown>>(
    decided: readonly D[],
    deliveryOf: (one: D) => Delivery,
    error: unknown,
  ): Promise<void> {
    this.#queue.rest(error);
    const stored = await this.#revisions(decided.filter(({ hasTurn }) => hasTurn));
    for (const one of decided) {
      const { id, revision } = deliveryOf(one);
      this.#turnEnds(one, (stored.get(id) ?? revision) >= revision);
      this.#queue.release(one.due);
    }
  }

  /** Of what can be read. */
  async #revisions(decided: readonly Decided<unknown>[]): Promise<ReadonlyMap<string, number>> {
    try {
      const works = await this.#world.store.findWork(decided.map(({ due }) => due));
      const deliveries = works.filter((work) => work !== null).map(({ delivery }) => delivery);
      return new Map(deliveries.map(({ id, revision }) => [id, revision]));
    } catch {
      return new Map();
    }
  }

  #turnEnds({ due, epoch, hasTurn }: Decided<unknown>, wasUsed: boolean): void {
    if (hasTurn && this.#territory.isStill(due, epoch)) this.#gates.turnEnds(due, wasUsed);
  }

  /**
   * Somebody else changed it meanwhile. It may still be due, and a hint at it may have been passed over. Or its
   * slot is somebody else's by now. Of what was read ahead that says little: it is read anew, at once.
   */
  #lookAtAgain(one: Decided<unknown>): void {
    const { due, isReadAhead } = one;
    this.#turnEnds(one, false);
    this.#queue.release(due);
    if (!isReadAhead) this.#territory.doubt();
    this.#queue.due({ ...due, dueAt: instant(this.#world.clock.now() + (isReadAhead ? 0 : STALE_MS)) });
  }

  bringForward(heldBack: readonly Due[]): Promise<void> {
    return bringForward(heldBack, this.#world, this.#territory, this.#queue);
  }
}

interface Asked {
  readonly due: Due;
  /** In which its slot is held. */
  readonly epoch: number;
}

interface Unread extends Asked {
  /** What was made ready ahead, of which its letter is still good where it has not changed since. */
  readonly made: Ready | null;
}

interface Read extends Asked {
  readonly work: Work;
  readonly letter: Letter | null;
  readonly isReadAhead: boolean;
}

interface Decided<W> {
  readonly due: Due;
  readonly epoch: number;
  readonly isReadAhead: boolean;
  readonly write: W;
  readonly hasTurn: boolean;
}

interface Decisions {
  readonly claims: Claiming[];
  readonly ends: Decided<EndWrite>[];
  readonly putOffs: Decided<Delivery>[];
}
