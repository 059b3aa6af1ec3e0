import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { travel } from './agents.ts';
import { noBrowser, openBrowser, openContext } from './browser.ts';
import { openConsoleServer } from './console-server.ts';

/** A headless browser says of every page that it is seen. */
async function hide(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
     document.dispatchEvent(new Event('visibilitychange'));`,
  );
}

test(
  'a page that nobody sees leaves its connections to others, and misses nothing',
  { skip: noBrowser },
  async () => {
    await using server = await openConsoleServer({ agents: [travel] });
    const session = await server.runtime.session('demo', { user: 'default' });
    await session.ask('hello');
    const browser = await openBrowser();
    try {
      // Pages of one context share the connections of the browser: six to a server.
      const context = await openContext(browser, { viewport: { width: 1440, height: 900 } });
      const first = await context.newPage();
      await first.clock.install();
      await first.goto(`${server.url}/console/s/demo`);
      await first.getByText('Where would you like to fly?').first().waitFor();
      await hide(first, true);
      await first.clock.fastForward(11_000);
      const second = await context.newPage();
      await second.goto(`${server.url}/console/s/demo`);
      await second.getByText('Where would you like to fly?').first().waitFor();
      await second.getByRole('textbox', { name: 'Message' }).fill('I want a refund');
      await second.getByRole('textbox', { name: 'Message' }).press('Enter');
      await second.getByText('three days').first().waitFor();
      assert.equal(await first.getByText('three days').count(), 0);
      assert.equal(await first.getByText(/Reconnecting/).count(), 0);
      await hide(second, true);
      await second.close();
      await hide(first, false);
      await first.clock.fastForward(5000);
      await first.getByRole('log').getByText('three days').waitFor();
      assert.equal(await first.getByRole('log').getByText('three days').count(), 1);
    } finally {
      await browser.close();
    }
  },
);
