/** The part of a simulated cluster that its checkers may read, and the events that only they get. */
import type { Fence } from '#src/domain/slot.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import type { Checker } from '#test/simulation/checkers/checker.ts';
import type { SimulationView } from '#test/simulation/checkers/simulation-view.ts';
import type { ClusterNode } from './node.ts';
import type { SlotChange, SlotTable } from './slot-table.ts';

/** A verb that is being applied for a node. */
export interface VerbInProgress {
  readonly node: string;
  readonly verb: string;
  /** The fence under which the node decided. */
  readonly fence: Fence | undefined;
}

export interface ClusterSimulationView extends SimulationView {
  readonly instances: readonly ClusterNode[];
  findInstance(node: string | undefined): ClusterNode | null;
  readonly slots: SlotTable;
  readonly verbInProgress: VerbInProgress | null;
  /** Whether hints between nodes arrive soon. */
  readonly areHintsReliable: boolean;
  /** When a node last started, ended, or began to stop. */
  readonly changedMs: number;
  /** When a node last ended while it still had a lease. Other nodes wait until the lease runs out. */
  readonly diedMs: number;
  /** When the node ended. */
  endedMs(node: string): number;
}

export interface ClusterChecker extends Checker {
  slotChanged?(change: SlotChange): void;
  /** The store refused this claim. */
  claimRefused?(write: ClaimWrite): void;
}

export type ClusterCheckerFactory = (simulation: ClusterSimulationView) => ClusterChecker;
