/** The tests of generated clients. They install packages, so they are not a part of `npm test`. */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  test: {
    include: ['test/clients/**/*.suite.ts'],
    globalSetup: ['test/clients/setup.ts'],
    testTimeout: 120_000,
  },
});
