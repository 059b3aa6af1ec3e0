import { defineConfig } from 'vite';

/** The standalone page of live sessions: `dist/live-page/`. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: {
    outDir: '../../dist/live-page',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // The content security policy allows no data URLs.
    assetsInlineLimit: 0,
  },
  worker: { format: 'es' },
});
