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
    rolldownOptions: {
      output: {
        // One file for the first screen and one for a session: a page that loads many small files waits for each.
        codeSplitting: {
          groups: [
            { name: 'first-screen', test: /src\/main\.tsx$/, priority: 2 },
            { name: 'session', test: /src\/session\/session-screen\.tsx$/, priority: 1 },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 2000,
  },
  worker: { format: 'es' },
});
