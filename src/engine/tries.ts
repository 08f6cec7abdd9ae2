/** The tries under way: made ready while they are being claimed, sent, settled, told of. */
import type { Evidence } from '#src/domain/breaker.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import { type Due, dueOf } from '#src/domain/due.ts';
import { gateTerms } from '#src/domain/gate.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { SettleWrite } from '#src/ports/store.ts';
import { type Composed, Composer, type Sendable } from './composer.ts';
import type { Claiming, Sending } from './firing.ts';
import type { Gates } from './gates.ts';
import { type Letter, UNREADABLE, type Unsendable } from './letters.ts';
import { type Outcome, outcomeOf, unsent } from './outcome.ts';
import { Progress } from './progress.ts';
import { Sender } from './sender.ts';
import type { Settler } from './settler.ts';
import type { Tallies } from './tallies.ts';
import type { Territory } from './territory.ts';
import { type EngineWorld, pause } from './world.ts';

/** Tries that may be claimed and not settled yet, requests under way included. */
const UNSETTLED_MAX = 4_096;
/** Of the requests under way. */
const BODY_BYTES_MAX = 256 * 1_048_576;
const MS_PER_SECOND = 1_000;
const READ_AGAIN_MS = 250;
/** Together a minute. */
const READ_TRIES_MAX = 240;
const NOTHING_READ: Promise<readonly (Letter | Unsendable)[]> = Promise.resolve([]);

/** What the tries ask of the dispatcher. */
export interface AfterTry extends Hints {
  release(due: Due): void;
  turnSoon(): void;
  bringForward(heldBack: readonly Due[]): Promise<void>;
  /** A claim may have been made that nobody works on. */
  lostTrack(): void;
}

export interface TryParts {
  readonly gates: Gates;
  readonly settler: Settler;
  readonly tallies: Tallies;
}

export class Tries implements Sending {
  readonly #world: EngineWorld;
  readonly #territory: Territory;
  readonly #gates: Gates;
  readonly #settler: Settler;
  readonly #tallies: Tallies;
  readonly #after: AfterTry;
  readonly #composer: Composer;
  readonly #sender: Sender;
  /** By the token of their claim. */
  readonly #underWay = new Map<string, Composed | Promise<Composed>>();
  readonly #whenIdle: (() => void)[] = [];
  #isInterrupted = false;

  constructor(world: EngineWorld, territory: Territory, parts: TryParts, after: AfterTry) {
    this.#world = world;
    this.#territory = territory;
    this.#gates = parts.gates;
    this.#settler = parts.settler;
    this.#tallies = parts.tallies;
    this.#after = after;
    this.#composer = new Composer(world);
    this.#sender = new Sender(world);
  }

  get isSaturated(): boolean {
    return this.#underWay.size >= UNSETTLED_MAX || this.#sender.bodyBytes >= BODY_BYTES_MAX;
  }

  isUnderWay(token: string): boolean {
    return this.#underWay.has(token);
  }

  prepare(claims: readonly Claiming[]): void {
    const isReady = claims.every(({ letter }) => letter !== null);
    const read = isReady ? NOTHING_READ : this.#composer.read(claims.map(({ write }) => write.delivery));
    for (const [index, { due, write, letter }] of claims.entries()) {
      const { delivery, attempt } = write;
      this.#gates.tryBegins(due);
      const composed =
        letter === null
          ? read.then((letters) => this.#composer.finish(letters[index] ?? UNREADABLE, delivery, attempt))
          : this.#composer.finish(letter, delivery, attempt);
      // Whether it can be made ready counts only once it is claimed.
      if (composed instanceof Promise) composed.catch(() => {});
      this.#underWay.set(attempt.id, composed);
    }
  }

  begin(claiming: Claiming): void {
    const { dueAt, firedAt } = claiming.write.attempt;
    this.#tallies.fired(claiming.due, firedAt - dueAt);
    void this.#run(claiming);
  }

  drop(claiming: Claiming, unsure: boolean): void {
    this.#forget(claiming.write.attempt.id);
    this.#teach(claiming, 'nothing', this.#world.clock.now());
    if (unsure) this.#after.lostTrack();
  }

  /** Never rejects. Where everything is ready, nothing is waited for before it is sent. */
  async #run(claiming: Claiming): Promise<void> {
    const { delivery, attempt } = claiming.write;
    try {
      const composed = this.#composedNow(claiming) ?? (await this.#ready(claiming));
      const given = this.#isInterrupted ? null : composed;
      if (given?.kind === 'request') await this.#make(claiming, given);
      else await this.#end(claiming, unsent(given), null);
    } catch (error) {
      this.#world.log.error({ delivery: delivery.id, error: String(error) }, 'a try was left unsettled');
      this.#after.lostTrack();
    } finally {
      this.#forget(attempt.id);
    }
  }

  /** A try that ends after its slot has moved teaches nothing here: the gate is somebody else's. */
  #teach(claiming: Claiming, evidence: Evidence, now: Instant): readonly Due[] {
    const { due, work, epoch, probeOf, write } = claiming;
    const isOurs = this.#territory.isStill(due, epoch);
    const isNews = evidence !== 'failure' || this.#gates.isNews(due, write.attempt.firedAt, now);
    const { breaker } = gateTerms(work.profile, null);
    const taught = isOurs && isNews ? evidence : 'nothing';
    return this.#gates.tryEnds(due, breaker, taught, isOurs ? probeOf : null, now);
  }

  async #make(claiming: Claiming, { request, timeoutMs }: Sendable): Promise<void> {
    const { clock, metrics } = this.#world;
    const { dueAt, firedAt } = claiming.write.attempt;
    const now = clock.now();
    metrics.lateness('send', Math.max(now - dueAt, 0) / MS_PER_SECOND);
    const progress = new Progress(clock, firedAt, now);
    const connected = (wasOpen: boolean) => progress.connected(wasOpen);
    const exchange = await this.#sender.send(request, timeoutMs, connected);
    await this.#end(claiming, outcomeOf(exchange), progress);
  }

  async #end(claiming: Claiming, outcome: Outcome, progress: Progress | null): Promise<void> {
    const { due, work, write } = claiming;
    const endedAt = this.#world.clock.now();
    // With the slot a turn is given to whoever waits.
    this.#after.release(due);
    const freed = this.#teach(claiming, outcome.evidence, endedAt);
    const { delivery, advanced } = write;
    const timing = progress?.timing(endedAt, outcome.result.statusCode !== null) ?? null;
    const attempt = { ...write.attempt, timing };
    const schedule = advanced?.schedule ?? work.schedule;
    const settled = await this.#settler.settle({ delivery, attempt, schedule }, outcome.result, endedAt);
    this.#report(claiming, outcome, settled, endedAt);
    if (settled !== null) {
      this.#tallies.ended(due, settled.delivery.status);
      this.#after.due(dueOf(settled.delivery));
    }
    if (freed.length > 0) await this.#after.bringForward(freed);
  }

  /** What to send, where that is known and the claim is as sure as it was. */
  #composedNow({ due, epoch, write }: Claiming): Composed | null {
    const composed = this.#underWay.get(write.attempt.id);
    if (composed === undefined || composed instanceof Promise) return null;
    return this.#territory.epochOf(due) === epoch ? composed : null;
  }

  /**
   * What to send; null when the claim is somebody else's by now, as after being cut off from the store for longer
   * than others wait. A store that is away is waited for: the try is claimed, and nobody else will make it.
   */
  async #ready({ due, epoch, write }: Claiming): Promise<Composed | null> {
    const { timers } = this.#world;
    const { delivery, attempt } = write;
    let composing = this.#underWay.get(attempt.id);
    for (let tries = 0; tries < READ_TRIES_MAX && !this.#isInterrupted; tries++) {
      try {
        const composed = await (composing ?? this.#composer.compose(delivery, attempt));
        if (this.#territory.epochOf(due) === epoch) return composed;
        const isAlive = this.#territory.life();
        const isOurs = await this.#isClaimed(delivery);
        if (!isOurs || isAlive()) return isOurs ? composed : null;
        // What was read may be over: this process may have stood still since.
      } catch {
        composing = undefined;
      }
      await pause(timers, READ_AGAIN_MS);
    }
    return UNREADABLE;
  }

  async #isClaimed(delivery: Delivery): Promise<boolean> {
    const [work] = await this.#world.store.findWork([delivery]);
    return work?.delivery.claim?.token === delivery.claim?.token;
  }

  /** One wide line for each try. Of the URL only the host: the rest may hold what is secret. */
  #report(claiming: Claiming, { result }: Outcome, settled: SettleWrite | null, at: Instant): void {
    const { log, metrics } = this.#world;
    const { write, letter, probeOf } = claiming;
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
        host: (letter?.url ?? URL.parse(delivery.target.url))?.host ?? null,
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
