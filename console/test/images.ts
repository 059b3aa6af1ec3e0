/** Writes pictures of the screens to `docs/images`: `npm run images`. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { travel } from './agents.ts';
import { openBrowser } from './browser.ts';
import { openConsoleServer } from './console-server.ts';
import { openScreen, prepareScreens, SCREENS } from './screens.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '..', '..', 'docs', 'images');
const SIZES = [
  ['', 1440, 900],
  ['-tablet', 768, 1024],
  ['-phone', 390, 844],
] as const;
/** The pictures that the documentation shows. With a folder, all screens are written in all sizes and themes. */
const SHOWN = new Set([
  'session',
  'session-in-the-past',
  'inbox',
  'session-phone',
  'compare',
  'traces',
  'proof',
]);

await mkdir(folder, { recursive: true });
await using server = await openConsoleServer({ agents: [travel] });
const toPath = await prepareScreens(server, 'trip-to-berlin');
const browser = await openBrowser();
try {
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    for (const [size, width, height] of SIZES)
      for (const [name, path] of SCREENS) {
        const isShown = theme === 'light' && SHOWN.has(`${name}${size}`);
        if (!isShown && process.argv[2] === undefined) continue;
        await page.setViewportSize({ width, height });
        await openScreen(page, server.url, toPath(path));
        const suffix = process.argv[2] === undefined ? '' : `-${theme}`;
        await page.screenshot({ path: join(folder, `console-${name}${size}${suffix}.png`) });
      }
  }
} finally {
  await browser.close();
}
