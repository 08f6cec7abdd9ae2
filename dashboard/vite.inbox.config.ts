/**
 * Builds the page of the inbox into `dist/inbox`, which `sched dev` serves under `/inbox`. It uses the components of the
 * dashboard, but it is a build of its own: a script that both share would make the dashboard's larger.
 */
import { join } from 'node:path';
import { defineConfig } from 'vite';
import { pageConfig } from './vite.config.ts';

export default defineConfig({
  ...pageConfig(join(import.meta.dirname, 'src/inbox'), 'inbox'),
  server: {
    port: 5174,
    proxy: Object.fromEntries(
      ['/inbox/events', '/inbox/arrivals', '/inbox/answer', '/inbox/clear', '/v1'].map((path) => [
        path,
        'http://127.0.0.1:8080',
      ]),
    ),
  },
});
