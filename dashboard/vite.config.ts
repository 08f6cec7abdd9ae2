/**
 * Builds the dashboard's page into `dist`, which the service serves under `/dashboard`. Its policy allows scripts and
 * styles of its own origin only, so nothing is written into the page itself.
 */
import tailwindcss from '@tailwindcss/vite';
import { defineConfig, type Plugin } from 'vite';

/** All of them have `light-dark()` and `<dialog>`. */
const BROWSERS = ['chrome123', 'edge123', 'firefox121', 'safari17.5'];

/** The first paint waits for the script: it knows the theme that was chosen. */
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
  // Children as arguments, not as a property: the same elements in fewer bytes.
  oxc: {
    jsx: { runtime: 'classic', pragma: 'h', pragmaFrag: 'Fragment' },
    jsxInject: `import { h, Fragment } from 'preact'`,
  },
  // Nobody who looks at schedules looks into signals.
  define: { 'window.__PREACT_SIGNALS_DEVTOOLS__': 'undefined' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: BROWSERS,
    cssTarget: BROWSERS,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: {
    port: 5173,
    proxy: { '/dashboard/api': 'http://127.0.0.1:8080' },
  },
});
