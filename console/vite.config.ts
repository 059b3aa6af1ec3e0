import { defineConfig } from 'vite';

// The server mounts the files under any path, so every address in them is relative.
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // The content security policy allows no data URLs for scripts and fonts.
    assetsInlineLimit: 0,
    reportCompressedSize: true,
    chunkSizeWarningLimit: 2000,
  },
  worker: { format: 'es' },
});
