/** One seed, from beginning to end. */
import { rmSync } from 'node:fs';
import type { Bug } from './bugs.ts';
import { Violation } from './checkers/checker.ts';
import type { Place } from './coverage.ts';
import { type Plan, planOf } from './plan.ts';
import { makeTemplate, type Template } from './template.ts';
import { type Tally, World } from './world.ts';

export interface RunResult {
  readonly seed: number;
  readonly failure: { readonly checker: string; readonly message: string } | null;
  /** Tells two runs apart that differ in anything. */
  readonly digest: string;
  readonly events: number;
  readonly simulatedMs: number;
  readonly tally: Tally;
  readonly seen: Readonly<Partial<Record<Place, number>>>;
  readonly trace: readonly string[];
}

export interface RunOptions {
  readonly seed: number;
  readonly calls?: number | null;
  readonly bug?: Bug | null;
  readonly plan?: (plan: Plan) => Plan;
}

let template: Promise<Template> | null = null;

/** Removes what the runs of this process left behind. */
export async function tidyUp(): Promise<void> {
  (await template)?.remove();
  template = null;
}

export async function runSeed({ seed, calls = null, bug = null, plan }: RunOptions): Promise<RunResult> {
  template ??= makeTemplate();
  const planned = planOf(seed, calls);
  const world = new World(plan?.(planned) ?? planned, await template, bug);
  const onStray = (error: unknown) => world.fail(error);
  process.on('unhandledRejection', onStray);
  let failure: RunResult['failure'] = null;
  try {
    await world.run();
  } catch (error) {
    failure = told(error);
  } finally {
    process.off('unhandledRejection', onStray);
    rmSync(world.directory, { recursive: true, force: true });
  }
  return {
    seed,
    failure,
    digest: world.trace.digest(),
    events: world.trace.count,
    simulatedMs: world.time.elapsedMs,
    tally: { ...world.tally },
    seen: Object.fromEntries(world.seen),
    trace: world.trace.last(),
  };
}

function told(error: unknown): RunResult['failure'] {
  if (error instanceof Violation) return { checker: error.checker, message: error.message };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { checker: 'error', message };
}
