/**
 * Runs the longest test files first. A long file that starts last keeps one worker busy while the others have nothing
 * to do. Vitest remembers durations, but a fresh clone has none yet.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Beginnings of paths, the longest files first. */
const LONGEST = [
  'test/simulation/simulation',
  'src/store/postgres/postgres-store',
  'test/process/cli',
  'test/docs/commands',
  'test/dashboard',
  'test/faults',
  'test/delivery',
  'test/process',
  'src/store/move',
  'src/store/sqlite/sqlite-store',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const path = relative(this.ctx.config.root, moduleId);
      const index = LONGEST.findIndex((beginning) => path.startsWith(beginning));
      return index === -1 ? LONGEST.length : index;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
