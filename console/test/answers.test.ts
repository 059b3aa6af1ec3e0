import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, tool } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';

test(
  'of two pages that answer a call one is first, the call runs once, and the other page says so',
  { skip: noBrowser },
  async () => {
    let runs = 0;
    const payer = agent({
      name: 'payer',
      model: new ScriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid.' }]),
      tools: [
        tool({ name: 'pay', description: 'Pays.', needsApproval: true, execute: () => ++runs }),
      ],
    });
    await using server = await openConsoleServer({ agents: [payer] });
    // The id has a dot, as the name of a file has.
    const session = await server.runtime.session('invoice.1', { user: 'default' });
    await session.ask('Pay').catch(() => undefined);
    const browser = await openBrowser();
    try {
      const [first, second] = await Promise.all([openPage(browser), openPage(browser)]);
      await second.goto(`${server.url}/console/sessions`);
      await second.getByRole('link', { name: 'invoice.1' }).click();
      await second.getByRole('button', { name: 'Deny' }).waitFor();
      // The address can be opened again.
      assert.equal((await second.reload())?.status(), 200);
      const firstIsDone = Promise.withResolvers<undefined>();
      // The decision of the second page reaches the server after that of the first.
      await second.route('**/v1/sessions/invoice.1/events', async (route) => {
        await firstIsDone.promise;
        await route.continue();
      });
      await second.getByRole('button', { name: 'Deny' }).click();
      await second.getByRole('button', { name: 'Deny it' }).click();
      await first.goto(`${server.url}/console/inbox`);
      await first.getByRole('button', { name: 'Approve' }).click();
      await second.getByRole('log').getByText('Paid.').waitFor();
      firstIsDone.resolve(undefined);
      await second
        .getByText(/^Already approved by local at .* The first answer counts\.$/)
        .waitFor();
      await second.getByText(/^Approved at/).waitFor();
      assert.equal(runs, 1);
    } finally {
      await browser.close();
    }
  },
);
