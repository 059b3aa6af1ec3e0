import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { travel } from './agents.ts';
import { noBrowser, openBrowser, openContext } from './browser.ts';
import { openConsoleServer } from './console-server.ts';
import { demoQuotas } from './quotas.ts';
import { openScreen, prepareScreens, SCREENS } from './screens.ts';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** How the screens are looked at. A narrow page leaves out words that a wide one shows. */
const VIEWS = [
  { theme: 'light', width: 1440, height: 900 },
  { theme: 'dark', width: 1440, height: 900 },
  { theme: 'light', width: 390, height: 844 },
] as const;

/** What the pictures do not show. */
const MORE = [
  ['log', 's/SESSION?tab=log'],
  ['prompt', 's/SESSION?tab=prompt'],
  ['no such screen', 'nowhere'],
] as const;

test(
  'axe finds no violation on any screen, in either theme and on a phone',
  { skip: noBrowser },
  async () => {
    await using server = await openConsoleServer({ agents: [travel], quotas: demoQuotas });
    const toPath = await prepareScreens(server, 'demo');
    const browser = await openBrowser();
    try {
      // The policy of the page allows no script of the test.
      const context = await openContext(browser, { bypassCSP: true, reducedMotion: 'reduce' });
      const page = await context.newPage();
      const found: string[] = [];
      for (const { theme, width, height } of VIEWS) {
        await page.emulateMedia({ colorScheme: theme });
        await page.setViewportSize({ width, height });
        for (const [name, path] of [...SCREENS, ...MORE]) {
          await openScreen(page, server.url, toPath(path));
          await page.addScriptTag({ path: axePath });
          const violations: readonly Violation[] = await page.evaluate(
            'axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))',
          );
          for (const { id, nodes } of violations)
            found.push(
              `${name}, ${theme}, ${width} px: ${id}: ${nodes.map(({ html }) => html).join(' ')}`,
            );
        }
      }
      assert.deepEqual(found, []);
    } finally {
      await browser.close();
    }
  },
);
