/** A small part of `npm run fuzz`. It always sends the same requests, and some new ones. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { integrityOf } from './audit.ts';
import { runFuzz } from './run.ts';
import { startService } from './service.ts';

const REQUESTS = 1_000;
const SEEDS = [1, Math.floor(Math.random() * 2 ** 31)];

test.each(SEEDS)(
  `hostile input breaks nothing: npm run fuzz -- --requests ${REQUESTS} --seed %i`,
  async (seed) => {
    const dataDir = temporaryDirectory();
    try {
      await using sched = await startService(dataDir);
      const report = await runFuzz({ sched, seed, requests: REQUESTS });
      expect(report.violations).toEqual([]);
      expect(report.stored?.schedules).toBeGreaterThan(0);
      expect(await sched.stop()).toEqual({ code: 0, signal: null });
      expect(integrityOf(dataDir)).toBe('ok');
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
);
