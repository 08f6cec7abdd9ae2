/**
 * Builds the page of the dashboard into `dist`, which the service serves under `/dashboard`. Its content security policy
 * allows only scripts and styles from its own origin, so the page contains none itself.
 */
import tailwindcss from '@tailwindcss/vite';
import { defineConfig, type Plugin } from 'vite';

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

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [tailwindcss(), waitForTheme],
  // The classic runtime passes children as arguments, which takes fewer bytes.
  oxc: {
    jsx: { runtime: 'classic', pragma: 'h', pragmaFrag: 'Fragment' },
    jsxInject: `import { h, Fragment } from 'preact'`,
  },
  // The page does not need the developer tools of signals.
  define: { 'window.__PREACT_SIGNALS_DEVTOOLS__': 'undefined' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: BROWSERS,
    cssTarget: BROWSERS,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
    reportCompressedSize: true,
  },
  server: {
    port: 5173,
    proxy: { '/dashboard/api': 'http://127.0.0.1:8080' },
  },
});
