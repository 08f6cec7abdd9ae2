/**
 * Builds the page of the dashboard into `dist/dashboard`, which the service serves under `/dashboard`. Its content security
 * policy allows only scripts and styles from its own origin, so the page contains none itself.
 */
import { join } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import { defineConfig, type Plugin, type UserConfig } from 'vite';

/** The oldest versions that have `light-dark()` and `<dialog>`. */
export const BROWSERS = ['chrome123', 'edge123', 'firefox121', 'safari17.5'];

/** The first paint waits for the script, which sets the theme of the user. */
const waitForTheme: Plugin = {
  name: 'wait-for-theme',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
};

/** The configuration of a page. `folder` has its `index.html`, and `name` is its folder in `dist`. */
export function pageConfig(folder: string, name: string): UserConfig {
  return {
    root: folder,
    base: `/${name}/`,
    plugins: [tailwindcss(), waitForTheme],
    // The classic runtime passes children as arguments, which takes fewer bytes.
    oxc: {
      jsx: { runtime: 'classic', pragma: 'h', pragmaFrag: 'Fragment' },
      jsxInject: `import { h, Fragment } from 'preact'`,
    },
    // The page does not need the developer tools of signals.
    define: { 'window.__PREACT_SIGNALS_DEVTOOLS__': 'undefined' },
    build: {
      outDir: join(import.meta.dirname, 'dist', name),
      emptyOutDir: true,
      target: BROWSERS,
      cssTarget: BROWSERS,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      license: { fileName: 'licenses.md' },
      rolldownOptions: { treeshake: { propertyReadSideEffects: false } },
      reportCompressedSize: true,
    },
  };
}

export default defineConfig({
  ...pageConfig(import.meta.dirname, 'dashboard'),
  server: {
    port: 5173,
    proxy: { '/dashboard/api': 'http://127.0.0.1:8080' },
  },
});
