/** Prints at the end of a test run which files and which tests took longest. */
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

interface Timed {
  readonly name: string;
  readonly ms: number;
}

export default class LongestReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({ name: nameOf(module), ms: durationOf(module) }));
    const tests = modules.flatMap(testsOf);
    console.log(`${table('Longest files', files)}\n${table('Longest tests', tests)}`);
  }
}

function nameOf({ project, relativeModuleId }: TestModule): string {
  return project.name === 'all' ? relativeModuleId : `${relativeModuleId} (${project.name})`;
}

/** Hooks are included, because they start the services. */
function durationOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return collectDuration + setupDuration + duration;
}

function testsOf(module: TestModule): readonly Timed[] {
  return [...module.children.allTests()].map((test) => ({
    name: `${nameOf(module)}: ${test.fullName}`,
    ms: test.diagnostic()?.duration ?? 0,
  }));
}

function table(title: string, timed: readonly Timed[]): string {
  const longest = timed.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN);
  const rows = longest.map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`);
  return [` ${title}`, ...rows].join('\n');
}
