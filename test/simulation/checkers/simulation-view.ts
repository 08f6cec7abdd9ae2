/** What a checker may read of the simulation. */
import type { Delivery } from '#src/domain/delivery.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Observer } from '#test/simulation/observer.ts';
import type { VirtualTime } from '#test/simulation/virtual-time.ts';
import type { Checker, InstanceFacts } from './checker.ts';

export interface SimulationView {
  readonly time: VirtualTime;
  readonly observer: Observer;
  /** Those that have not ended. */
  readonly instances: readonly InstanceFacts[];
  findInstance(node: string | undefined): InstanceFacts | null;
  /** Whose verb is being carried out. */
  readonly writer: string | null;
  /** When the store last failed a read or a write, or the clock was set. */
  readonly disturbedMs: number;
  readonly clockSetMs: number;
  /** Until when the disk was at a batch that took it long. */
  readonly slowUntilMs: number;
  readonly retentionMs: number;
  /** What a gate learns in so long before it is handed over may be lost: it is saved before it is given back. */
  readonly handOverMs: number;
  /** The verbs asked of the store and not answered, by delivery. */
  hasPendingWrite(deliveryId: Delivery['id']): boolean;
  isLostClaim(token: string): boolean;
  /** The permits to send that a process has. */
  readonly permitsMax: number;
  /** The signing secret of each customer. */
  readonly secrets: ReadonlyMap<Partition, string>;
  /** Since when whoever dispatches it has been at work undisturbed; null while nobody is. */
  undisturbedSinceMs(delivery: Delivery): number | null;
  /** Whether it is this one's to dispatch, as the store has it: what others decide about it is refused. */
  holds(instance: InstanceFacts, delivery: Delivery): boolean;
}

export type CheckerFactory = (simulation: SimulationView) => Checker;
