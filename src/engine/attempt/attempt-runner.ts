/** The attempts under way: made ready while they are being claimed, sent, settled, told of. */
import type { Evidence } from '#src/domain/breaker.ts';
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import { type DueDelivery, dueOf } from '#src/domain/due.ts';
import { gateTerms } from '#src/domain/gate.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { Claiming, Sending } from '#src/engine/delivery-stages.ts';
import { type EngineDependencies, pause } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import type { StatsRecorder } from '#src/engine/upkeep/stats-recorder.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { SettleWrite } from '#src/ports/store.ts';
import { AttemptTimer } from './attempt-timer.ts';
import { type Outcome, outcomeOf, unsent } from './outcome.ts';
import { type RequestBuilder, type Sendable, UNREADABLE, type Unsendable } from './request-builder.ts';
import { Sender } from './sender.ts';
import type { Settler } from './settler.ts';

/** AttemptRunner that may be claimed and not settled yet, requests under way included. */
const UNSETTLED_MAX = 4_096;
const MS_PER_SECOND = 1_000;
const READ_AGAIN_MS = 250;
/** Together a minute. */
const READ_ATTEMPTS_MAX = 240;

type Request = Sendable | Unsendable;

/** What the attempts ask of the dispatcher. */
export interface AfterAttempt extends Hints {
  release(due: DueDelivery): void;
  turnSoon(): void;
  releaseDeferred(deferred: readonly DueDelivery[]): Promise<void>;
  /** A claim may have been made that nobody works on. */
  lostTrack(): void;
}

export interface AttemptRunnerDependencies {
  readonly builder: RequestBuilder;
  readonly gates: Gates;
  readonly settler: Settler;
  readonly stats: StatsRecorder;
}

/** A claim without its draft, which would hold on to the body. */
type Begun = Omit<Claiming, 'draft'>;

interface Made {
  readonly outcome: Outcome;
  /** Null where nothing was sent. */
  readonly progress: AttemptTimer | null;
}

export class AttemptRunner implements Sending {
  readonly #dependencies: EngineDependencies;
  readonly #ownership: SlotOwnership;
  readonly #gates: Gates;
  readonly #settler: Settler;
  readonly #stats: StatsRecorder;
  readonly #after: AfterAttempt;
  readonly #builder: RequestBuilder;
  readonly #sender: Sender;
  /** The requests of attempts that are not settled, by the token of their claim; null once it was taken out to be sent. */
  readonly #underWay = new Map<string, Request | Promise<Request> | null>();
  readonly #whenIdle: (() => void)[] = [];
  #isInterrupted = false;

  constructor(
    dependencies: EngineDependencies,
    ownership: SlotOwnership,
    parts: AttemptRunnerDependencies,
    after: AfterAttempt,
  ) {
    this.#dependencies = dependencies;
    this.#ownership = ownership;
    this.#gates = parts.gates;
    this.#settler = parts.settler;
    this.#stats = parts.stats;
    this.#after = after;
    this.#builder = parts.builder;
    this.#sender = new Sender(dependencies);
  }

  get isSaturated(): boolean {
    return this.#underWay.size >= UNSETTLED_MAX;
  }

  isUnderWay(token: string): boolean {
    return this.#underWay.has(token);
  }

  prepare(claims: readonly Claiming[]): void {
    const unread = claims.filter(({ draft }) => draft === null).map(({ write }) => write.delivery);
    const read = this.#builder.drafts(unread);
    let place = 0;
    for (const { due, write, draft } of claims) {
      const { delivery, attempt } = write;
      this.#gates.beginAttempt(due);
      const readAt = draft === null ? place++ : 0;
      const request =
        draft === null
          ? read.then((drafts) => this.#builder.finish(drafts[readAt] ?? UNREADABLE, delivery, attempt))
          : this.#builder.finish(draft, delivery, attempt);
      // Whether it can be made ready counts only once it is claimed.
      if (request instanceof Promise) request.catch(() => {});
      this.#underWay.set(attempt.id, request);
    }
  }

  begin(claiming: Claiming): void {
    const { dueAt, firedAt } = claiming.write.attempt;
    this.#stats.fired(claiming.due, firedAt - dueAt);
    const { draft: _, ...begun } = claiming;
    void this.#run(begun);
  }

  drop(claiming: Claiming, unsure: boolean): void {
    this.#forget(claiming.write.attempt.id);
    this.#teach(claiming, 'nothing', this.#dependencies.clock.now());
    if (unsure) this.#after.lostTrack();
  }

  /** Never rejects. Where everything is ready, nothing is waited for before it is sent. */
  async #run(claiming: Begun): Promise<void> {
    const { delivery, attempt } = claiming.write;
    try {
      // Nothing holds on to the body of a request that was answered: its permits are given back then.
      let request = this.#requestNow(claiming) ?? (await this.#ready(claiming));
      this.#underWay.set(attempt.id, null);
      const making = this.#make(claiming, this.#isInterrupted ? null : request);
      request = null;
      const { outcome, progress } = await making;
      await this.#end(claiming, outcome, progress);
    } catch (error) {
      this.#dependencies.log.error(
        { delivery: delivery.id, error: String(error) },
        'an attempt was left unsettled',
      );
      this.#after.lostTrack();
    } finally {
      this.#forget(attempt.id);
    }
  }

  /** An attempt that ends after its slot has moved teaches nothing here: the gate is somebody else's. */
  #teach(claiming: Begun, evidence: Evidence, now: Instant): readonly DueDelivery[] {
    const { due, work, epoch, probeOf, write } = claiming;
    const isOurs = this.#ownership.isOwnedSince(due, epoch);
    const isCounted = evidence !== 'failure' || this.#gates.isFailureCounted(due, write.attempt.firedAt, now);
    const { breaker } = gateTerms(work.profile, null);
    const taught = isOurs && isCounted ? evidence : 'nothing';
    return this.#gates.endAttempt(due, breaker, taught, isOurs ? probeOf : null, now);
  }

  async #make(claiming: Begun, given: Request | null): Promise<Made> {
    if (given?.kind !== 'request') return { outcome: unsent(given), progress: null };
    const { clock, metrics } = this.#dependencies;
    const { dueAt, firedAt } = claiming.write.attempt;
    const now = clock.now();
    metrics.lateness('send', Math.max(now - dueAt, 0) / MS_PER_SECOND);
    const progress = new AttemptTimer(clock, firedAt, now);
    const connected = (wasOpen: boolean) => progress.connected(wasOpen);
    const exchange = await this.#sender.send(given.request, given.timeoutMs, connected);
    return { outcome: outcomeOf(exchange), progress };
  }

  async #end(claiming: Begun, outcome: Outcome, progress: AttemptTimer | null): Promise<void> {
    const { due, work, write } = claiming;
    const endedAt = this.#dependencies.clock.now();
    // The permits go to whoever waits.
    this.#after.release(due);
    const freed = this.#teach(claiming, outcome.evidence, endedAt);
    const { delivery, advanced } = write;
    const timing = progress?.timing(endedAt, outcome.result.statusCode !== null) ?? null;
    const attempt = { ...write.attempt, timing };
    const schedule = advanced?.schedule ?? work.schedule;
    const settled = await this.#settler.settle({ delivery, attempt, schedule }, outcome.result, endedAt);
    this.#report(claiming, outcome, settled, endedAt);
    if (settled !== null) {
      this.#stats.ended(due, settled.delivery.status);
      this.#after.due(dueOf(settled.delivery));
    }
    if (freed.length > 0) await this.#after.releaseDeferred(freed);
  }

  /** The request, where it is known and the claim is as sure as it was. */
  #requestNow({ due, epoch, write }: Begun): Request | null {
    const request = this.#underWay.get(write.attempt.id);
    if (request === undefined || request instanceof Promise) return null;
    return this.#ownership.epochOf(due) === epoch ? request : null;
  }

  /**
   * What to send; null when the claim is somebody else's by now, as after being cut off from the store for longer
   * than others wait. A store that is away is waited for: the attempt is claimed, and nobody else will make it.
   */
  async #ready({ due, epoch, write }: Begun): Promise<Request | null> {
    const { timers } = this.#dependencies;
    const { delivery, attempt } = write;
    let building = this.#underWay.get(attempt.id) ?? null;
    for (let attempts = 0; attempts < READ_ATTEMPTS_MAX && !this.#isInterrupted; attempts++) {
      try {
        const request = await (building ?? this.#build(delivery, attempt));
        if (this.#ownership.epochOf(due) === epoch) return request;
        const isAlive = this.#ownership.watchLease();
        const isOurs = await this.#isClaimed(delivery);
        if (!isOurs || isAlive()) return isOurs ? request : null;
        // What was read may be over: this process may have stood still since.
      } catch {
        building = null;
      }
      await pause(timers, READ_AGAIN_MS);
    }
    return UNREADABLE;
  }

  async #build(delivery: Delivery, attempt: Attempt): Promise<Request> {
    return this.#builder.finish(await this.#builder.draft(delivery), delivery, attempt);
  }

  async #isClaimed(delivery: Delivery): Promise<boolean> {
    const [work] = await this.#dependencies.store.loadDeliveries([delivery]);
    return work?.delivery.claim?.token === delivery.claim?.token;
  }

  /** One wide line for each attempt. Of the URL only the host: the rest may hold what is secret. */
  #report(claiming: Begun, { result }: Outcome, settled: SettleWrite | null, at: Instant): void {
    const { log, metrics } = this.#dependencies;
    const { due, write, probeOf } = claiming;
    const { delivery, attempt } = write;
    const status = settled?.delivery.status ?? 'claimed';
    const egressMs = Math.max(at - attempt.firedAt, 0);
    metrics.attemptFinished({ outcome: result.outcome, status, seconds: egressMs / MS_PER_SECOND });
    log.info(
      {
        partition: delivery.partition,
        schedule: delivery.scheduleId,
        delivery: delivery.id,
        attempt: attempt.id,
        attempt_no: attempt.attemptNo,
        method: delivery.target.method,
        host: hostOf(due.origin),
        endpoint: delivery.target.endpointId,
        due_at: attempt.dueAt,
        lateness_ms: attempt.firedAt - attempt.dueAt,
        egress_ms: egressMs,
        outcome: result.outcome,
        status_code: result.statusCode,
        error: result.outcome === 'success' ? null : result.error,
        probe: probeOf !== null,
        delivery_status: settled === null ? 'taken over' : status,
        next_at: settled?.delivery.dueAt ?? null,
      },
      'attempt',
    );
  }

  #forget(token: string): void {
    const wasSaturated = this.isSaturated;
    this.#underWay.delete(token);
    if (wasSaturated) this.#after.turnSoon();
    if (this.#underWay.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** When nothing is under way. */
  idle(): Promise<void> {
    if (this.#underWay.size === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#whenIdle.push(resolve));
  }

  /** Breaks off the requests under way, and lets none begin. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#sender.interrupt();
  }
}

/** The host of an origin; null where the origin is no more than the text of a URL that cannot be read. */
function hostOf(origin: string): string | null {
  return URL.parse(origin)?.host ?? null;
}
