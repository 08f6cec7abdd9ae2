import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { HAS_BROWSER } from './test/browser/executable.ts';
import { LongestFirst } from './test/longest-first.ts';
import { IS_CITUS, NODES } from './test/process/store-in-use.ts';

/**
 * Every store opens a thread of its own. A thread that finds its modules compiled takes a fifth of the processor time.
 * The service does the same: see `bin/sched.js`.
 */
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/sched');

const SHARED_OPTIONS = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A worker keeps its process and its modules for the next file. Starting them anew costs more than most files.
  isolate: false,
  // Concurrent tests mostly wait for instants. The first file of a worker sets this for all its files.
  maxConcurrency: 100,
};
const IN_A_BROWSER = [
  'dashboard/every-page',
  'dashboard/forms',
  'dashboard/journey',
  'dashboard/layout',
  'dashboard/reference',
  'dashboard/restart',
  'inbox/dev-pages',
  'inbox/page',
  'inbox/page-bounds',
];
const LEFT_OUT = HAS_BROWSER ? [] : IN_A_BROWSER.map((file) => `test/${file}.test.ts`);
const SHARED = ['breaker', 'retries'];
const DROP_DATABASES = 'test/process/drop-databases.ts';

export default defineConfig({
  test: {
    reporters: ['default', './test/longest-reporter.ts'],
    sequence: { sequencer: LongestFirst },
    // In the root alone: all projects share its servers and its browser.
    globalSetup: [
      'test/temporary-folder.ts',
      'test/postgres/global-setup.ts',
      'test/browser/global-setup.ts',
    ],
    // Files wait for instants, for processes and for the disk. More workers than processors use that time. On Citus a node
    // opens many connections for each file. Every new one plans slowly, on two servers, until it is warm.
    maxWorkers: IS_CITUS ? (NODES > 1 ? 1 : 3) : 4,
    projects: [
      {
        // On SQLite, unless SCHED_TEST_STORE says otherwise: see `test/process/store-in-use.ts`.
        test: {
          ...SHARED_OPTIONS,
          name: 'all',
          include: [
            'src/**/*.test.ts',
            'sdk/src/**/*.test.ts',
            'dashboard/src/**/*.test.ts',
            'test/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, ...LEFT_OUT],
          setupFiles: [DROP_DATABASES],
        },
      },
      {
        // What every file of the interface rests on, and the dashboard's calls, again on one node. The rest of it and
        // the pages: `npm run test:postgres`.
        test: {
          ...SHARED_OPTIONS,
          name: 'postgres',
          include: [
            ...['deliveries', 'idempotency', 'restart', 'schedule-states'].map(
              (file) => `test/e2e/${file}.test.ts`,
            ),
            'test/control/service.test.ts',
          ],
          exclude: [...configDefaults.exclude, ...LEFT_OUT],
          setupFiles: [DROP_DATABASES],
          env: { SCHED_TEST_STORE: 'postgres', SCHED_TEST_NODES: '1' },
        },
      },
      {
        // Where it matters who sends, again by three nodes; everything, the interface too: `npm run test:cluster`.
        test: {
          ...SHARED_OPTIONS,
          name: 'cluster',
          include: SHARED.map((file) => `test/delivery/${file}.test.ts`),
          setupFiles: [DROP_DATABASES],
          env: { SCHED_TEST_STORE: 'postgres', SCHED_TEST_NODES: '3' },
        },
      },
    ],
  },
});
