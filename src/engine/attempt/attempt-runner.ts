/**
 * Runs attempts: their requests are built while they are being claimed, sent once they are claimed, and their outcomes
 * are settled, logged and counted.
 */

import { type Evidence, isAgainstEndpoint } from '#src/domain/breaker.ts';
import type { Attempt, Delivery, InFlightDelivery } from '#src/domain/delivery.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { gateTerms } from '#src/domain/gate.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { ClaimedDelivery } from '#src/engine/delivery-stages.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import { releaseDeferred } from '#src/engine/gate/release-deferred.ts';
import type { NotificationHints } from '#src/engine/queue/notification-hints.ts';
import type { WorkQueue } from '#src/engine/queue/work-queue.ts';
import type { AttemptRecovery } from '#src/engine/upkeep/attempt-recovery.ts';
import type { StatsRecorder } from '#src/engine/upkeep/stats-recorder.ts';
import type { SendResult } from '#src/ports/egress.ts';
import { dueDeliveryOf, hostOfOrigin } from '#src/ports/endpoint-cache.ts';
import type { KeptResponse } from '#src/ports/kept-response.ts';
import type { SettleWrite, UnsettledAttempt } from '#src/ports/store.ts';
import { pause } from '#src/ports/system.ts';
import { AttemptStopwatch } from './attempt-stopwatch.ts';
import type { AttemptRequest, AttemptsInFlight } from './attempts-in-flight.ts';
import { type JudgedAttempt, judgeSent, judgeUnsent } from './judged-attempt.ts';
import { keptResponse } from './kept-response.ts';
import { type Draft, type RequestBuilder, UNREADABLE, type Unsendable } from './request-builder.ts';
import { Sender } from './sender.ts';
import type { Settler } from './settler.ts';

const MS_PER_SECOND = 1_000;
const READ_AGAIN_MS = 250;
/** With the pauses between them, these reads take a minute. */
const READS_MAX = 240;

export interface AttemptRunnerDependencies
  extends Pick<EngineDependencies, 'store' | 'egress' | 'vault' | 'clock' | 'timers' | 'log' | 'metrics'> {
  readonly ownership: SlotOwnership;
  readonly queue: WorkQueue;
  readonly notifications: NotificationHints;
  readonly gates: Gates;
  readonly attempts: AttemptsInFlight;
  readonly builder: RequestBuilder;
  readonly settler: Settler;
  readonly stats: StatsRecorder;
  readonly recovery: Pick<AttemptRecovery, 'recoverOwnClaims'>;
}

interface SentAttempt {
  readonly stopwatch: AttemptStopwatch;
  readonly result: Promise<SendResult>;
}

/** Nothing was sent. */
interface UnsentAttempt {
  readonly stopwatch: null;
  readonly judged: JudgedAttempt;
}

export class AttemptRunner {
  readonly #dependencies: AttemptRunnerDependencies;
  readonly #sender: Sender;
  #isInterrupted = false;

  constructor(dependencies: AttemptRunnerDependencies) {
    this.#dependencies = dependencies;
    this.#sender = new Sender(dependencies);
  }

  /** Counts the attempts as in flight and builds their requests, while their claims are being written. */
  prepare(claims: readonly ClaimedDelivery[], drafts: ReadonlyMap<DeliveryId, Draft | Unsendable>): void {
    const { gates, attempts, builder } = this.#dependencies;
    const undrafted = claims.map(({ write }) => write.delivery).filter(({ id }) => !drafts.has(id));
    const loading = builder.drafts(undrafted);
    const indexes = new Map(undrafted.map(({ id }, index) => [id, index]));
    for (const { due, write, attempt } of claims) {
      const { delivery } = write;
      gates.beginAttempt(due);
      const draft = drafts.get(delivery.id);
      const index = indexes.get(delivery.id) ?? 0;
      const request =
        draft === undefined
          ? loading.then((loaded) => builder.finish(loaded[index] ?? UNREADABLE, delivery, attempt))
          : builder.finish(draft, delivery, attempt);
      // A failure counts only once the attempt is claimed; then the request is built again.
      if (request instanceof Promise) request.catch(() => {});
      attempts.add(attempt.id, request);
    }
  }

  /** The claim is stored: the attempt begins. */
  begin(claimed: ClaimedDelivery): void {
    const { dueAt, firedAt } = claimed.attempt;
    this.#dependencies.stats.countFired(claimed.due, firedAt - dueAt);
    void this.#run(claimed);
  }

  /** The claim was refused, or it is unknown whether it is stored because its answer was lost. */
  drop(claimed: ClaimedDelivery, why: 'refused' | 'unknown'): void {
    const { attempts, clock, recovery } = this.#dependencies;
    attempts.remove(claimed.attempt.id);
    this.#teachGate(claimed, 'nothing', clock.now());
    if (why === 'unknown') recovery.recoverOwnClaims();
  }

  /** Interrupts the requests in flight, and sends no more. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#sender.interrupt();
  }

  /**
   * Never rejects. A request that is ready is sent without any wait. The steps are in one function, because every
   * further asynchronous function allocates half a kilobyte for each attempt.
   */
  async #run(claimed: ClaimedDelivery): Promise<void> {
    const { clock, vault, attempts, settler, log, recovery } = this.#dependencies;
    const { write, attempt } = claimed;
    try {
      // Its permits are given back with the answer, so nothing may keep the body in memory after that.
      let request = this.#requestNow(claimed) ?? (await this.#requestLater(claimed));
      attempts.dropRequest(attempt.id);
      const sent = this.#send(claimed, this.#isInterrupted ? null : request);
      request = null;
      const judged = 'judged' in sent ? sent.judged : judgeSent(await sent.result);
      const endedAt = clock.now();
      let released = this.#release(claimed, judged, endedAt);
      const timing = sent.stopwatch?.timing(endedAt, judged.result.statusCode !== null) ?? null;
      let response: KeptResponse | null = null;
      if (judged.excerpt !== undefined) {
        // The body may take a while, and no other delivery waits for it.
        await releaseDeferred(this.#dependencies, released);
        released = [];
        response = keptResponse(vault, attempt, judged.result, await judged.excerpt);
      }
      const unsettled = unsettledAttempt(claimed);
      const settled = await settler.settle(unsettled, judged.result, endedAt, timing, response);
      this.#settled(claimed, judged, settled, endedAt);
      if (released.length > 0) await releaseDeferred(this.#dependencies, released);
    } catch (error) {
      log.error({ delivery: write.delivery.id, error: String(error) }, 'an attempt was left unsettled');
      recovery.recoverOwnClaims();
    } finally {
      attempts.remove(attempt.id);
    }
  }

  /** Null where the request is still being built, or the slot may have moved. */
  #requestNow({ due, epoch, attempt }: ClaimedDelivery): AttemptRequest | null {
    const { attempts, ownership } = this.#dependencies;
    const request = attempts.requestOf(attempt.id);
    if (request === null || request instanceof Promise) return null;
    return ownership.epochOf(due) === epoch ? request : null;
  }

  /**
   * Null when the claim belongs to another node by now, which happens after a node was cut off from the store for
   * longer than its lease. A store that is away is waited for: the attempt is claimed, so no other node will make it.
   */
  async #requestLater({ due, epoch, write, attempt }: ClaimedDelivery): Promise<AttemptRequest | null> {
    const { timers, ownership, attempts } = this.#dependencies;
    const { delivery } = write;
    let building = attempts.requestOf(attempt.id);
    for (let reads = 0; reads < READS_MAX && !this.#isInterrupted; reads++) {
      try {
        const request = await (building ?? this.#build(delivery, attempt));
        if (ownership.epochOf(due) === epoch) return request;
        const isAlive = ownership.watchLease();
        const isOurs = await this.#isClaimed(delivery);
        if (!isOurs || isAlive()) return isOurs ? request : null;
        // This process may have stood still since the read, so the answer may be outdated.
      } catch {
        building = null;
      }
      await pause(timers, READ_AGAIN_MS);
    }
    return UNREADABLE;
  }

  async #build(delivery: Delivery, attempt: Attempt): Promise<AttemptRequest> {
    const { builder } = this.#dependencies;
    return builder.finish(await builder.draft(delivery), delivery, attempt);
  }

  async #isClaimed(delivery: InFlightDelivery): Promise<boolean> {
    const [loaded] = await this.#dependencies.store.loadDeliveries([delivery]);
    return loaded?.delivery.claim?.attemptId === delivery.claim.attemptId;
  }

  #send(claimed: ClaimedDelivery, request: AttemptRequest | null): SentAttempt | UnsentAttempt {
    if (request?.kind !== 'request') return { judged: judgeUnsent(request), stopwatch: null };
    const { clock, metrics } = this.#dependencies;
    const { dueAt, firedAt } = claimed.attempt;
    const now = clock.now();
    metrics.lateness('send', Math.max(now - dueAt, 0) / MS_PER_SECOND);
    const stopwatch = new AttemptStopwatch(clock, firedAt, now);
    const onConnected = (wasOpen: boolean) => stopwatch.connected(wasOpen);
    return { stopwatch, result: this.#sender.send(request.request, request.timeoutMs, onConnected) };
  }

  /** The permits are free before the store answers. Returns the deliveries that need not wait any longer. */
  #release(claimed: ClaimedDelivery, { evidence }: JudgedAttempt, endedAt: Instant): readonly DueDelivery[] {
    this.#dependencies.queue.release(claimed.due);
    return this.#teachGate(claimed, evidence, endedAt);
  }

  #settled(
    claimed: ClaimedDelivery,
    judged: JudgedAttempt,
    settled: SettleWrite | null,
    endedAt: Instant,
  ): void {
    const { queue, notifications, stats } = this.#dependencies;
    this.#report(claimed, judged, settled, endedAt);
    if (settled === null) return;
    stats.countEnded(claimed.due, settled.delivery.status);
    queue.due(dueDeliveryOf(settled.delivery));
    notifications.due(settled.notification);
  }

  /**
   * Hands the evidence of the attempt to the gate. Returns the deliveries that need not wait any longer. An attempt
   * that ends after its slot has moved teaches nothing here, because the gate belongs to another node.
   */
  #teachGate(claimed: ClaimedDelivery, evidence: Evidence, now: Instant): readonly DueDelivery[] {
    const { ownership, gates } = this.#dependencies;
    const { due, loaded, epoch, probeOf, attempt } = claimed;
    const isOurs = ownership.isOwnedSince(due, epoch);
    const isCounted = !isAgainstEndpoint(evidence) || gates.isFailureCounted(due, attempt.firedAt, now);
    const { breaker } = gateTerms(loaded.endpointProfile, null);
    const taught = isOurs && isCounted ? evidence : 'nothing';
    return gates.endAttempt(due, breaker, taught, isOurs ? probeOf : null, now);
  }

  /** Writes one wide line for each attempt. It shows the host alone, because the rest of a URL may hold secrets. */
  #report(
    claimed: ClaimedDelivery,
    { result }: JudgedAttempt,
    settled: SettleWrite | null,
    at: Instant,
  ): void {
    const { log, metrics } = this.#dependencies;
    const { due, write, attempt, probeOf } = claimed;
    const { delivery } = write;
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
        host: hostOfOrigin(due.origin),
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
}

/** The schedule is as the claim left it. */
function unsettledAttempt({ loaded, write: { delivery, advanced } }: ClaimedDelivery): UnsettledAttempt {
  return { delivery, schedule: advanced?.schedule ?? loaded.schedule };
}
