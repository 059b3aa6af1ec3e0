/** Writes pictures of the screens to `docs/images`: `npm run images`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { travel } from './agents.ts';
import { openBrowser } from './browser.ts';
import { openConsoleServer } from './console-server.ts';
import { demoQuotas } from './quotas.ts';
import { drawSheet } from './contact-sheet.ts';
import { openScreen, prepareScreens, SCREENS } from './screens.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '..', '..', 'docs', 'images');
/** With a folder, each screen is also a picture of its own, in all sizes and themes. */
const isComplete = process.argv[2] !== undefined;
const SIZES = [
  { name: 'desktop', width: 1440, height: 900, sheet: { columns: 3, width: 620 } },
  { name: 'tablet', width: 768, height: 1024, sheet: { columns: 4, width: 400 } },
  { name: 'phone', width: 390, height: 844, sheet: { columns: 6, width: 270 } },
] as const;
/** The screens that the documentation shows alone. */
const SHOWN = new Set(['session', 'session-in-the-past', 'compare', 'traces', 'proof']);

await mkdir(folder, { recursive: true });
await using server = await openConsoleServer({ agents: [travel], quotas: demoQuotas });
const toPath = await prepareScreens(server, 'trip-to-berlin');
const browser = await openBrowser();
try {
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    for (const { name: size, width, height, sheet } of SIZES) {
      await page.setViewportSize({ width, height });
      const pictures: Buffer[] = [];
      for (const [name, path] of SCREENS) {
        await openScreen(page, server.url, toPath(path));
        const png = await page.screenshot();
        pictures.push(png);
        if (isComplete) await writeFile(join(folder, `console-${name}-${size}-${theme}.png`), png);
        else if (theme === 'light' && size === 'desktop' && SHOWN.has(name))
          await writeFile(join(folder, `console-${name}.png`), png);
      }
      const file = join(folder, `console-screens-${size}-${theme}.jpg`);
      await writeFile(file, await drawSheet(browser, pictures, sheet));
    }
  }
} finally {
  await browser.close();
}
