/**
 * From a batch of due deliveries to tries: read, judged by the gate, claimed or put off or ended, each kind in
 * one step. Whoever changed a delivery in the meantime wins: every write is conditional on the revision that
 * was read, and in a cluster on the hold on its slot, which must not have changed since.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import { endUnsent, isWaiting, putOff } from '#src/domain/delivery-life.ts';
import { judge } from '#src/domain/dispatch.ts';
import { type Due, dueOf } from '#src/domain/due.ts';
import { gateTerms } from '#src/domain/gate.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import * as scheduleLife from '#src/domain/schedule-life.ts';
import type { ClaimWrite, EndWrite, Work } from '#src/ports/store.ts';
import type { Gates } from './gates.ts';
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

export class Firing {
  readonly #world: EngineWorld;
  readonly #territory: Territory;
  readonly #gates: Gates;
  readonly #sending: Sending;
  readonly #queue: Queue;

  constructor(world: EngineWorld, territory: Territory, gates: Gates, sending: Sending, queue: Queue) {
    this.#world = world;
    this.#territory = territory;
    this.#gates = gates;
    this.#sending = sending;
    this.#queue = queue;
  }

  /** Each of the batch holds a slot, which is given back as soon as it is not to be sent. */
  async fire(batch: readonly Due[]): Promise<void> {
    const { store, clock } = this.#world;
    const claims: Claiming[] = [];
    const ends: Decided<EndWrite>[] = [];
    const putOffs: Decided<Delivery>[] = [];
    const asked = this.#ours(batch);
    if (asked.length === 0) return;
    const dues = asked.map(({ due }) => due);
    let works: readonly (Work | null)[];
    this.#gates.readBegins(dues);
    try {
      works = await store.findWork(dues);
    } catch (error) {
      this.#gates.readEnds(dues);
      for (const due of dues) this.#queue.release(due);
      this.#queue.rest(error);
      return;
    }
    const now = clock.now();
    for (const [index, { due, epoch }] of asked.entries()) {
      const work = works[index] ?? null;
      // The gate that was read is of the epoch in which it was asked for.
      const isOurs = this.#territory.epochOf(due) === epoch;
      if (work === null || !isOurs || this.#queue.isStopped) this.#queue.release(due);
      else this.#judge({ due, epoch, work }, now, { claims, ends, putOffs });
    }
    this.#gates.readEnds(dues);
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

  #decide({ due, work, epoch }: Read, now: Instant, into: Decisions): void {
    const { delivery, schedule, profile } = work;
    const seen = dueOf(delivery);
    if (seen !== null && seen.endpoint !== due.endpoint) {
      // Its endpoint was changed since it was seen: it belongs into another lane.
      this.#queue.release(due);
      this.#queue.due(seen);
      return;
    }
    this.#gates.letGo(due);
    const before = this.#gates.of(due, work.gate);
    const verdict = judge(delivery, before, gateTerms(profile, schedule.rateLimit), now);
    switch (verdict.kind) {
      case 'gone':
        this.#queue.release(due);
        return;
      case 'not_yet':
        this.#queue.release(due);
        this.#queue.due(seen);
        return;
      case 'end':
        into.ends.push({ due, epoch, write: this.#ended(work, verdict.why, now), hasTurn: false });
        return;
      case 'put_off': {
        const write = putOff(delivery, verdict.until, verdict.booked);
        into.putOffs.push({ due, epoch, write, hasTurn: this.#gates.decided(due, before, verdict.gate) });
        return;
      }
      case 'send': {
        const { gate, probe } = verdict;
        const probeOf = probe ? gate.breaker.openUntil : null;
        const write = this.#claimed(work, now);
        const hasTurn = this.#gates.decided(due, before, gate);
        into.claims.push({ due, work, epoch, probeOf, write, hasTurn });
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
    for (const claiming of claims) this.#sending.prepare(claiming);
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
      ({ write }) => {
        metrics.unsent(write.delivery.status === 'expired' ? 'expired' : 'dead_letter');
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
   * slot is somebody else's by now.
   */
  #lookAtAgain(one: Decided<unknown>): void {
    const { due } = one;
    this.#turnEnds(one, false);
    this.#queue.release(due);
    this.#territory.doubt();
    this.#queue.due({ ...due, dueAt: instant(this.#world.clock.now() + STALE_MS) });
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
        const answers = await store.putOff(forward, this.#territory.tenure);
        for (const [index, delivery] of forward.entries()) {
          if (answers[index] === 'done') this.#queue.due(dueOf(delivery));
        }
      }
    } catch (error) {
      this.#world.log.warn({ error: String(error) }, 'deliveries held back wait for the end of the window');
    }
  }
}

interface Asked {
  readonly due: Due;
  /** In which its slot is held. */
  readonly epoch: number;
}

interface Read extends Asked {
  readonly work: Work;
}

interface Decided<W> {
  readonly due: Due;
  readonly epoch: number;
  readonly write: W;
  readonly hasTurn: boolean;
}

interface Decisions {
  readonly claims: Claiming[];
  readonly ends: Decided<EndWrite>[];
  readonly putOffs: Decided<Delivery>[];
}
