/** What the checkers of a cluster may look at beyond what all may, and what else they are told of. */
import type { Fence } from '#src/domain/slot.ts';
import type { ClaimWrite } from '#src/ports/store.ts';
import type { Checker } from '#test/simulation/checkers/checker.ts';
import type { SimulationView } from '#test/simulation/checkers/simulation-view.ts';
import type { ClusterNode } from './node.ts';
import type { SlotChange, SlotTable } from './slot-table.ts';

/** A verb as a node asked for it, while it is carried out. */
export interface VerbInProgress {
  readonly node: string;
  readonly verb: string;
  /** What it was decided under. */
  readonly fence: Fence | undefined;
}

export interface ClusterSimulationView extends SimulationView {
  readonly instances: readonly ClusterNode[];
  findInstance(node: string | undefined): ClusterNode | null;
  readonly slots: SlotTable;
  readonly verbInProgress: VerbInProgress | null;
  /** Whether what nodes tell each other arrives, and soon. */
  readonly areHintsReliable: boolean;
  /** When a node last began, ended or was on its way to either. */
  readonly changedMs: number;
  /** When a node last ended without having said so: the others go by its lease. */
  readonly diedMs: number;
  /** When it ended. */
  endedMs(node: string): number;
}

export interface ClusterChecker extends Checker {
  slotChanged?(change: SlotChange): void;
  /** The store did not make this claim. */
  claimRefused?(write: ClaimWrite): void;
}

export type ClusterCheckerFactory = (simulation: ClusterSimulationView) => ClusterChecker;
