/**
 * Builds the script and the style of the reference into `dist/docs`. The service renders the page itself, and names these
 * two files. They share nothing with the dashboard, so they are a build of their own.
 */
import tailwindcss from '@tailwindcss/vite';
import { defineConfig } from 'vite';
import { BROWSERS } from './vite.config.ts';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss()],
  build: {
    outDir: 'dist/docs',
    emptyOutDir: true,
    target: BROWSERS,
    cssTarget: BROWSERS,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: 'src/docs/main.ts',
      output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]' },
    },
  },
});
