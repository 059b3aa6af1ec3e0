import assert from 'node:assert/strict';
import { test } from 'node:test';
import { travel } from './agents.ts';
import { noBrowser, openBrowser } from './browser.ts';
import { openConsoleServer } from './console-server.ts';
import { openScreen } from './screens.ts';

test(
  'a response that arrives late does not bring back an earlier state of the session',
  { skip: noBrowser },
  async () => {
    await using server = await openConsoleServer({ agents: [travel] });
    const created = await fetch(`${server.url}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agent: 'agent_travel' }),
    });
    const { id }: { readonly id: string } = Object(await created.json());
    const browser = await openBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      page.setDefaultTimeout(20_000);
      await openScreen(page, server.url, `s/${id}`);
      const answered = Promise.withResolvers<undefined>();
      let held = 0;
      // The server has written the state of the running turn, and the network keeps it until the turn is over.
      await page.route(`**/v1/sessions/${id}`, async (route) => {
        if (held++ > 0) return route.continue();
        const response = await route.fetch();
        const session: object = Object(await response.json());
        await answered.promise;
        await route.fulfill({ response, json: { ...session, state: 'running' } });
      });
      await page.getByRole('textbox', { name: 'Message' }).fill('hello');
      await page.getByRole('textbox', { name: 'Message' }).press('Enter');
      await page.getByText('Where would you like to fly?').waitFor();
      await page
        .locator('.composer')
        .getByRole('button', { name: 'Stop' })
        .waitFor({ state: 'detached' });
      answered.resolve(undefined);
      await page.locator('.session-head').getByText('idle').waitFor();
      assert.equal(await page.locator('.session-head').getByText('running').count(), 0);
      assert.ok(held >= 2, 'the state was read again');
    } finally {
      await browser.close();
    }
  },
);
