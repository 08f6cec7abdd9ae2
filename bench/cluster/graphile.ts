/**
 * Graphile Worker, one process, as its documentation advises: plain, and with what it calls batching, by which
 * it fetches and completes jobs together. It is no dependency of the project: the first run installs it where
 * caches are kept.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cpuMsOf } from '../processes.ts';
import { endChild, messageFrom, startChild } from './child.ts';
import type { Contender } from './contender.ts';

export type Fetching = 'one by one' | 'in batches';

const VERSION = '0.18.0';
const FOLDER = join(import.meta.dirname, `../../node_modules/.cache/graphile-worker-${VERSION}`);
const INSTALL_MS_MAX = 180_000;
const START_MS_MAX = 30_000;
const STORE_MS_MAX = 120_000;

export function graphile(fetching: Fetching): Contender {
  return {
    name: `graphile-worker, ${fetching}`,
    start: async (databaseUrl) => {
      const child = startChild('graphile-process.ts', [await installed(), databaseUrl, fetching]);
      await messageFrom(child, START_MS_MAX);
      return {
        store: async (orders) => {
          child.send(orders);
          await messageFrom(child, STORE_MS_MAX);
        },
        cpuMs: () => cpuMsOf(child.pid ?? -1),
        [Symbol.asyncDispose]: () => endChild(child),
      };
    },
  };
}

/** The folder of the package. */
async function installed(): Promise<string> {
  const folder = join(FOLDER, 'node_modules/graphile-worker');
  if (existsSync(join(folder, 'package.json'))) return folder;
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', FOLDER];
  await promisify(execFile)('npm', ['install', ...flags, `graphile-worker@${VERSION}`], {
    timeout: INSTALL_MS_MAX,
  });
  return folder;
}
