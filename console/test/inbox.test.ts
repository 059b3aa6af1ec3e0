import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, tool } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import type { ScriptedTurn } from '../../src/testing/index.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';

test(
  'a call that waits shows what changed since the previous one, and sessions are found by what they wait for',
  { skip: noBrowser },
  async () => {
    const pay = (amount: number, to: string): ScriptedTurn => ({
      toolCalls: [{ name: 'pay', args: { amount, to, currency: 'EUR' } }],
    });
    const payer = agent({
      name: 'payer',
      model: new ScriptedModel([pay(5, 'Ann'), pay(700, 'Ann')]),
      tools: [
        tool({
          name: 'pay',
          description: 'Pays.',
          needsApproval: true,
          parameters: { type: 'object' },
          execute: () => 'paid',
        }),
      ],
    });
    await using server = await openConsoleServer({ agents: [payer] });
    const session = await server.runtime.session('invoice', { user: 'default' });
    await session.ask('Pay').catch(() => undefined);
    const browser = await openBrowser();
    try {
      const page = await openPage(browser);
      await page.goto(`${server.url}/console/inbox`);
      await page.getByText('Changes since the previous call').click();
      await page.getByText('The session has no earlier call of pay.').waitFor();
      await page.getByRole('button', { name: 'Approve' }).click();
      // The first call may still be there, with what was decided about it.
      const second = page.getByRole('article').filter({ hasText: '700' });
      await second.getByText('Changes since the previous call').click();
      const changes = second.locator('.previous-call .move');
      await changes.first().waitFor();
      assert.deepEqual(await changes.allInnerTexts(), ['amount changed\nbefore5\nnow700']);

      const state = page.getByRole('combobox', { name: 'State' });
      const row = page.getByRole('link', { name: 'invoice' });
      await page.goto(`${server.url}/console/sessions`);
      await row.waitFor();
      await state.selectOption('waiting for a result');
      await page.getByText('No session matches').waitFor();
      await state.selectOption('waiting for an approval');
      await row.waitFor();
    } finally {
      await browser.close();
    }
  },
);
