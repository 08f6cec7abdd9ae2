/** The part of the simulation that a checker may read. */
import type { Delivery } from '#src/domain/delivery.ts';
import type { Partition } from '#src/domain/project.ts';
import type { DurableRows } from '#test/simulation/durable-rows.ts';
import type { LimitsModel } from '#test/simulation/limits-model.ts';
import type { NotifyModel } from '#test/simulation/notify-model.ts';
import type { Observer } from '#test/simulation/observer.ts';
import type { PayloadModel } from '#test/simulation/payload-model.ts';
import type { VirtualTime } from '#test/simulation/virtual-time.ts';
import type { Checker, InstanceFacts } from './checker.ts';

export interface SimulationView {
  readonly time: VirtualTime;
  readonly observer: Observer;
  /** What each delivery is made with. */
  readonly payloads: PayloadModel;
  /** Who is notified of the end of each delivery. */
  readonly notifies: NotifyModel;
  readonly limits: LimitsModel;
  readonly rows: Pick<DurableRows, 'payloadVersions' | 'names' | 'response'>;
  /** Processes that have not ended. */
  readonly instances: readonly InstanceFacts[];
  findInstance(node: string | undefined): InstanceFacts | null;
  /** The node whose verb is being applied. */
  readonly writer: string | null;
  /** When the store last failed a read or a write, or the clock was set. */
  readonly disturbedMs: number;
  readonly clockSetMs: number;
  /** Until when the disk was busy with a slow batch. */
  readonly slowUntilMs: number;
  readonly retentionMs: number;
  /**
   * What a gate learns within this time before a hand-over may be lost, because the gate is saved before it
   * is given back.
   */
  readonly handOverMs: number;
  /** Whether a write for this delivery has not been answered yet. */
  hasPendingWrite(deliveryId: Delivery['id']): boolean;
  isLostClaim(token: string): boolean;
  /** The number of permits of a process. */
  readonly permitsMax: number;
  /** The signing secret of each customer. */
  readonly secrets: ReadonlyMap<Partition, string>;
  /** Since when the delivery's dispatcher has worked undisturbed, or null while there is none. */
  undisturbedSinceMs(delivery: Delivery): number | null;
  /**
   * Whether this process dispatches the delivery according to the store. The store refuses the decisions of
   * others.
   */
  holds(instance: InstanceFacts, delivery: Delivery): boolean;
}

export type CheckerFactory = (simulation: SimulationView) => Checker;
