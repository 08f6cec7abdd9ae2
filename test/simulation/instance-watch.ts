/** Reports the store calls of one process or node to the checkers. */
import { attemptInFlight, type Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import type { CheckerRunner } from './checker-runner.ts';
import type { Checker, InstanceFacts, RequestedClaim } from './checkers/checker.ts';
import type { Watch } from './watched-store.ts';

/** The writes of one process that the store has not answered yet, by delivery. */
export class PendingWrites {
  readonly #counts = new Map<DeliveryId, number>();

  has(id: DeliveryId): boolean {
    return this.#counts.has(id);
  }

  add(deliveries: readonly Delivery[]): void {
    for (const { id } of deliveries) this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  remove(deliveries: readonly Delivery[]): void {
    for (const { id } of deliveries) {
      const count = (this.#counts.get(id) ?? 0) - 1;
      if (count > 0) this.#counts.set(id, count);
      else this.#counts.delete(id);
    }
  }

  clear(): void {
    this.#counts.clear();
  }
}

export interface WatchDependencies {
  readonly instance: InstanceFacts;
  readonly runner: CheckerRunner<Checker>;
  readonly pendingWrites: PendingWrites;
  /** Tokens of claims whose answers were lost. */
  readonly lostClaims: Set<string>;
  elapsedMs(): number;
  readsFail(): boolean;
  /** Called after the checkers, before the claim reaches the store. */
  claimRequested(): void;
}

export function watchInstance(dependencies: WatchDependencies): Watch {
  const { instance, runner, pendingWrites, lostClaims } = dependencies;
  return {
    readsFail: () => dependencies.readsFail(),
    writesStarted: (deliveries) => pendingWrites.add(deliveries),
    writesEnded: (deliveries) => {
      pendingWrites.remove(deliveries);
      runner.notify((checker) => checker.writesEnded?.(deliveries));
    },
    claimRequested: (write) => {
      const claim = requestedClaim(write);
      runner.notify((checker) => checker.claimRequested?.(claim, instance));
      dependencies.claimRequested();
    },
    claimAnswered: (write, answer) => {
      const claim = requestedClaim(write);
      if (answer === 'failed') lostClaims.add(claim.attempt.id);
      runner.notify((checker) => checker.claimAnswered?.(claim, answer));
    },
    settleRequested: (write) => runner.notify((checker) => checker.settleRequested?.(write, instance)),
    endRequested: (write) => runner.notify((checker) => checker.endRequested?.(write, instance)),
    deferRequested: (delivery) => runner.notify((checker) => checker.deferRequested?.(delivery, instance)),
    loadStarted: () => {
      const sinceMs = dependencies.elapsedMs();
      return (loaded) => runner.notify((checker) => checker.loaded?.(loaded, sinceMs, instance));
    },
    learned: (deliveries) => runner.notify((checker) => checker.learned?.(deliveries)),
  };
}

function requestedClaim(write: ClaimWrite): RequestedClaim {
  return { ...write, attempt: attemptInFlight(write.delivery) };
}
