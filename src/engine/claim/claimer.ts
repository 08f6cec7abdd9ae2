/**
 * From a batch of due deliveries to attempts: read, unless that was done ahead, judged by the gate, claimed or deferred
 * or ended, each kind in one step. Whoever changed a delivery in the meantime wins: every write is conditional on
 * the revision that was read, and in a cluster on the hold on its slot, which must not have changed since.
 *
 * A small payload is read while its claim is being written. A large one is read before it is claimed, by itself, and
 * the batch does not wait for it: nothing is claimed whose request would not be at hand.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import { defer, endUnsent } from '#src/domain/delivery-life.ts';
import { judge } from '#src/domain/dispatch.ts';
import { type DueDelivery, dueOf } from '#src/domain/due.ts';
import { gateTerms } from '#src/domain/gate.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import * as scheduleLife from '#src/domain/schedule-life.ts';
import { SMALL_PAYLOAD_BYTES_MAX } from '#src/engine/attempt/request-builder.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type {
  Asked,
  Claiming,
  Decided,
  Decisions,
  Queue,
  Read,
  Sending,
  Unread,
} from '#src/engine/delivery-stages.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import { releaseDeferred } from '#src/engine/gate/release-deferred.ts';
import type { Prefetcher } from '#src/engine/prefetch/prefetcher.ts';
import type { StatsRecorder } from '#src/engine/upkeep/stats-recorder.ts';
import type { ClaimWrite, EndWrite, LoadedDelivery } from '#src/ports/store.ts';
import { LargeDeliveries } from './large-deliveries.ts';
import type { PayloadLoader } from './payload-loader.ts';

/** Somebody else changed a delivery as it was to be claimed: so long it is left alone. */
const STALE_MS = 10;
/** Read and written together. */
export const BATCH_MAX = 64;
const MS_PER_SECOND = 1_000;

export interface ClaimerDependencies {
  readonly ownership: SlotOwnership;
  readonly gates: Gates;
  readonly sending: Sending;
  readonly queue: Queue;
  readonly ahead: Prefetcher;
  readonly bodies: PayloadLoader;
  readonly stats: Pick<StatsRecorder, 'ended'>;
}

export class Claimer {
  readonly #dependencies: EngineDependencies;
  readonly #ownership: SlotOwnership;
  readonly #gates: Gates;
  readonly #sending: Sending;
  readonly #queue: Queue;
  readonly #ahead: Prefetcher;
  readonly #large: LargeDeliveries;
  readonly #stats: ClaimerDependencies['stats'];

  constructor(dependencies: EngineDependencies, parts: ClaimerDependencies) {
    this.#dependencies = dependencies;
    this.#ownership = parts.ownership;
    this.#gates = parts.gates;
    this.#sending = parts.sending;
    this.#queue = parts.queue;
    this.#ahead = parts.ahead;
    this.#large = new LargeDeliveries({
      ...dependencies,
      ...parts,
      decide: (read) => this.#decideAll([read]),
    });
    this.#stats = parts.stats;
  }

  /**
   * Each of the batch holds permits, which are given back as soon as it is not to be sent. Resolves when all have been
   * decided on but those with large payloads.
   */
  async fire(batch: readonly DueDelivery[]): Promise<void> {
    const ready: Read[] = [];
    const unread: Unread[] = [];
    for (const { due, epoch } of this.#ours(batch)) {
      const made = this.#ahead.take(due);
      if (made?.work.profile === null) {
        ready.push({ due, epoch, work: made.work, draft: made.draft, isReadAhead: true });
        continue;
      }
      // The policies of a profile count as they are now.
      if (made !== null) this.#gates.unpin([due]);
      unread.push({ due, epoch, made });
    }
    await Promise.all([this.#go(ready), this.#readAll(unread)]);
  }

  /** Resolves when every delivery whose payload is being read now has been decided on. */
  loaded(): Promise<void> {
    return this.#large.loaded();
  }

  /** Decides on those that may be claimed at once, and has the payloads of the others read. */
  #go(read: readonly Read[]): Promise<void> {
    const now = this.#dependencies.clock.now();
    const decided: Read[] = [];
    for (const one of read) {
      if (this.#isToBeLoaded(one, now)) this.#large.begin(one);
      else decided.push(one);
    }
    return this.#decideAll(decided);
  }

  /** A large payload is read only for a delivery that would be sent as things are. */
  #isToBeLoaded({ due, work, draft, isReadAhead }: Read, now: Instant): boolean {
    if (draft !== null || due.payloadBytes <= SMALL_PAYLOAD_BYTES_MAX || this.#queue.isStopped) return false;
    const { delivery, schedule, profile } = work;
    if (!isReadAhead && dueOf(delivery)?.endpoint !== due.endpoint) return false;
    const terms = gateTerms(profile, schedule.rateLimit);
    return judge(delivery, this.#gates.get(due, work.gate), terms, now, work.sweep).kind === 'send';
  }

  async #readAll(asked: readonly Unread[]): Promise<void> {
    if (asked.length === 0) return;
    const dues = asked.map(({ due }) => due);
    let works: readonly (LoadedDelivery | null)[];
    this.#gates.pin(dues);
    try {
      works = await this.#dependencies.store.loadDeliveries(dues);
    } catch (error) {
      this.#gates.unpin(dues);
      for (const due of dues) this.#queue.release(due);
      this.#queue.rest(error);
      return;
    }
    const read: Read[] = [];
    for (const [index, { due, epoch, made }] of asked.entries()) {
      const work = works[index] ?? null;
      // The gate that was read is of the epoch in which it was asked for.
      if (work !== null && this.#ownership.epochOf(due) === epoch) {
        const isSame = made?.work.delivery.revision === work.delivery.revision;
        read.push({ due, epoch, work, draft: isSame ? (made?.draft ?? null) : null, isReadAhead: false });
        continue;
      }
      this.#gates.unpin([due]);
      this.#queue.release(due);
    }
    await this.#go(read);
  }

  /** The gates of all of them are being read until they are judged. */
  async #decideAll(read: readonly Read[]): Promise<void> {
    if (read.length === 0) return;
    const claims: Claiming[] = [];
    const ends: Decided<EndWrite>[] = [];
    const deferrals: Decided<Delivery>[] = [];
    const now = this.#dependencies.clock.now();
    for (const one of read) {
      if (this.#queue.isStopped) this.#queue.release(one.due);
      else this.#judge(one, now, { claims, ends, deferrals });
    }
    this.#gates.unpin(read.map(({ due }) => due));
    // In this order: a store carries out first what it was asked first.
    const withTokens = [...claims, ...deferrals].filter(({ hasToken }) => hasToken).map(({ due }) => due);
    const saved = withTokens.length === 0 ? null : this.#gates.saveTokens(withTokens);
    await Promise.all([saved, this.#claim(claims), this.#end(ends), this.#defer(deferrals)]);
  }

  /** What lies elsewhere by now is let go of, unread. */
  #ours(batch: readonly DueDelivery[]): readonly Asked[] {
    const asked: Asked[] = [];
    for (const due of batch) {
      const epoch = this.#ownership.epochOf(due);
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
      this.#dependencies.log.error(
        { delivery: due.id, error: String(error) },
        'a delivery could not be judged',
      );
      this.#queue.release(due);
    }
  }

  #decide({ due, work, epoch, draft, isReadAhead }: Read, now: Instant, into: Decisions): void {
    const { delivery, schedule, profile } = work;
    // What was read ahead was compared then.
    const seen = isReadAhead ? due : dueOf(delivery);
    if (seen !== null && seen.endpoint !== due.endpoint) {
      // Its endpoint was changed since it was seen: it belongs into another queue.
      this.#queue.release(due);
      this.#queue.due(seen);
      return;
    }
    this.#gates.forgetDeferred(due);
    const before = this.#gates.get(due, work.gate);
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
          hasToken: false,
        });
        return;
      case 'defer': {
        const write = defer(delivery, verdict.until, verdict.reserved);
        const hasToken = this.#gates.recordDecision(due, before, verdict.gate);
        into.deferrals.push({ due, epoch, isReadAhead, write, hasToken });
        return;
      }
      case 'send': {
        const { gate, probe } = verdict;
        const probeOf = probe ? gate.breaker.openUntil : null;
        const write = this.#claimed(work, now);
        const hasToken = this.#gates.recordDecision(due, before, gate);
        into.claims.push({ due, work, epoch, draft, isReadAhead, probeOf, write, hasToken });
      }
    }
  }

  #ended(
    { delivery, schedule, profile }: LoadedDelivery,
    why: 'expired' | 'exhausted',
    now: Instant,
  ): EndWrite {
    const ended = endUnsent(delivery, why, now);
    return {
      delivery: ended,
      completed: scheduleLife.completedBy(schedule, ended, now),
      advanced: scheduleLife.advance(
        schedule,
        profile,
        delivery,
        this.#dependencies.ids.mint('dlv', now),
        now,
      ),
    };
  }

  #claimed(work: LoadedDelivery, now: Instant): ClaimWrite {
    const { ids, node } = this.#dependencies;
    const attempt = ids.mint('att', now);
    const delivery = ids.mint('dlv', now);
    return scheduleLife.claim(work.delivery, work, { node, token: attempt }, { attempt, delivery }, now);
  }

  async #claim(claims: readonly Claiming[]): Promise<void> {
    if (claims.length === 0) return;
    const { store, metrics } = this.#dependencies;
    const writes = claims.map(({ write }) => write);
    const answered = store.claim(writes, this.#ownership.fence);
    // While the disk works, the requests are made ready.
    this.#sending.prepare(claims);
    try {
      const answers = await answered;
      for (const [index, claiming] of claims.entries()) {
        const { write, due } = claiming;
        this.#queue.forget(due);
        if (answers[index] === 'done') {
          this.#settleToken(claiming, true);
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
    const { store, metrics } = this.#dependencies;
    await this.#write(
      ends,
      (writes) => store.endUnsent(writes, this.#ownership.fence),
      ({ write }) => write.delivery,
      ({ due, write }) => {
        metrics.unsent(write.delivery.status === 'expired' ? 'expired' : 'dead_letter');
        this.#stats.ended(due, write.delivery.status);
        if (write.advanced !== null) this.#queue.due(dueOf(write.advanced.next));
      },
    );
  }

  async #defer(deferrals: readonly Decided<Delivery>[]): Promise<void> {
    if (deferrals.length === 0) return;
    const { store, metrics } = this.#dependencies;
    await this.#write(
      deferrals,
      (writes) => store.defer(writes, this.#ownership.fence),
      ({ write }) => write,
      ({ write, epoch }) => {
        metrics.unsent('deferred');
        const due = dueOf(write);
        this.#queue.due(due);
        if (due === null || !this.#ownership.isOwnedSince(due, epoch)) return;
        if (!write.reserved && !this.#gates.rememberDeferred(due)) void this.releaseDeferred([due]);
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
          this.#settleToken(one, true);
          this.#queue.release(one.due);
          done(one);
        } else this.#lookAtAgain(one);
      }
    } catch (error) {
      await this.#failed(decided, deliveryOf, error);
    }
  }

  /** A write failed, or only its answer got lost: what is stored tells which tokens are used. */
  async #failed<D extends Decided<unknown>>(
    decided: readonly D[],
    deliveryOf: (one: D) => Delivery,
    error: unknown,
  ): Promise<void> {
    this.#queue.rest(error);
    const stored = await this.#revisions(decided.filter(({ hasToken }) => hasToken));
    for (const one of decided) {
      const { id, revision } = deliveryOf(one);
      this.#settleToken(one, (stored.get(id) ?? revision) >= revision);
      this.#queue.release(one.due);
    }
  }

  /** Of what can be read. */
  async #revisions(decided: readonly Decided<unknown>[]): Promise<ReadonlyMap<string, number>> {
    try {
      const works = await this.#dependencies.store.loadDeliveries(decided.map(({ due }) => due));
      const deliveries = works.filter((work) => work !== null).map(({ delivery }) => delivery);
      return new Map(deliveries.map(({ id, revision }) => [id, revision]));
    } catch {
      return new Map();
    }
  }

  #settleToken({ due, epoch, hasToken }: Decided<unknown>, wasUsed: boolean): void {
    if (hasToken && this.#ownership.isOwnedSince(due, epoch)) this.#gates.settleToken(due, wasUsed);
  }

  /**
   * Somebody else changed it meanwhile. It may still be due, and a hint at it may have been passed over. Or its
   * slot is somebody else's by now. Of what was read ahead that says little: it is read anew, at once.
   */
  #lookAtAgain(one: Decided<unknown>): void {
    const { due, isReadAhead } = one;
    this.#settleToken(one, false);
    this.#queue.release(due);
    if (!isReadAhead) this.#ownership.reportRefusedWrite();
    this.#queue.due({
      ...due,
      dueAt: instant(this.#dependencies.clock.now() + (isReadAhead ? 0 : STALE_MS)),
    });
  }

  releaseDeferred(deferred: readonly DueDelivery[]): Promise<void> {
    return releaseDeferred(deferred, this.#dependencies, this.#ownership, this.#queue);
  }
}
