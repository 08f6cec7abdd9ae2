/** Runs one seed from beginning to end. */
import { rmSync } from 'node:fs';
import { BUGS } from './bugs.ts';
import { Violation } from './checkers/checker.ts';
import { CLUSTER_BUGS } from './cluster/bugs.ts';
import { clusterPlanOf } from './cluster/plan.ts';
import { SimulatedCluster } from './cluster/simulated-cluster.ts';
import { planOf } from './plan.ts';
import { SimulatedService, type Stats } from './simulated-service.ts';
import type { Template } from './template.ts';

export interface RunResult {
  readonly seed: number;
  readonly failure: { readonly checker: string; readonly message: string } | null;
  /** Differs between two runs that differ in any line of their traces. */
  readonly digest: string;
  readonly events: number;
  readonly simulatedMs: number;
  readonly stats: Stats;
  /** How often the run reached each situation. */
  readonly covered: Readonly<Record<string, number>>;
  readonly trace: readonly string[];
}

export interface RunOptions {
  readonly seed: number;
  /** One node has its store to itself. Several nodes share one. */
  readonly nodes?: number;
  readonly calls?: number | null;
  /** The longest span of a run. */
  readonly spanMsMax?: number | null;
  /** The name of a deliberate bug. */
  readonly bug?: string | null;
}

function simulationOf(template: Template, options: RunOptions): SimulatedService | SimulatedCluster {
  const { seed, nodes = 1, calls = null, spanMsMax = null, bug = null } = options;
  const cut = <P extends { readonly spanMs: number }>(plan: P): P => ({
    ...plan,
    spanMs: Math.min(plan.spanMs, spanMsMax ?? plan.spanMs),
  });
  if (nodes === 1) return new SimulatedService(cut(planOf(seed, calls)), template, BUGS[bug ?? ''] ?? null);
  const plan = cut(clusterPlanOf(seed, nodes, calls));
  return new SimulatedCluster(plan, template, CLUSTER_BUGS[bug ?? ''] ?? null);
}

export async function runSeed(template: Template, options: RunOptions): Promise<RunResult> {
  const simulation = simulationOf(template, options);
  const onStray = (error: unknown) => simulation.fail(error);
  process.on('unhandledRejection', onStray);
  let failure: RunResult['failure'] = null;
  try {
    await simulation.run();
  } catch (error) {
    failure = failureOf(error);
  } finally {
    process.off('unhandledRejection', onStray);
    rmSync(simulation.directory, { recursive: true, force: true });
  }
  return {
    seed: options.seed,
    failure,
    digest: simulation.trace.digest(),
    events: simulation.trace.count,
    simulatedMs: simulation.time.elapsedMs,
    stats: { ...simulation.stats },
    covered: Object.fromEntries(simulation.covered),
    trace: simulation.trace.last(),
  };
}

function failureOf(error: unknown): RunResult['failure'] {
  if (error instanceof Violation) return { checker: error.checker, message: error.message };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { checker: 'error', message };
}
