import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/postgres/global-setup.ts'],
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Most of the time is spent waiting: for instants, for processes, for the disk.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
