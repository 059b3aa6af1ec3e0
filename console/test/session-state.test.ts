import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { agent, tool } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { travel } from './agents.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';
import { openScreen } from './screens.ts';

test(
  'a response that arrives late does not bring back an earlier state of the session',
  { skip: noBrowser },
  async () => {
    // The turn ends after the console has read that it runs.
    const heldBack = Promise.withResolvers<undefined>();
    const wait = tool({
      name: 'wait',
      description: 'Waits until the response is held back.',
      execute: async () => heldBack.promise.then(() => 'waited'),
    });
    const model = new ScriptedModel([{ toolCalls: [{ name: 'wait' }] }, { text: 'Here I am.' }]);
    await using server = await openConsoleServer({
      agents: [agent({ name: 'greeter', instruction: 'Greet.', model, tools: [wait] })],
    });
    const { id } = await server.runtime.session('late', { user: 'default' });
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      await openScreen(page, server.url, `s/${id}`);
      const turnIsOver = Promise.withResolvers<undefined>();
      const states: unknown[] = [];
      await page.route(`**/v1/sessions/${id}`, async (route) => {
        const response = await route.fetch();
        const { state }: { readonly state?: unknown } = Object(await response.json());
        states.push(state);
        // The network keeps the first response that says so until the turn is over.
        if (states.filter((known) => known === 'running').length === 1 && state === 'running') {
          heldBack.resolve(undefined);
          await turnIsOver.promise;
        }
        await route.fulfill({ response });
      });
      await page.getByRole('textbox', { name: 'Message' }).fill('hello');
      await page.getByRole('textbox', { name: 'Message' }).press('Enter');
      await page.getByRole('log').getByText('Here I am.').waitFor();
      await page
        .locator('.composer')
        .getByRole('button', { name: 'Stop' })
        .waitFor({ state: 'detached' });
      turnIsOver.resolve(undefined);
      await page.locator('.session-head').getByText('idle').waitFor();
      assert.equal(await page.locator('.session-head').getByText('running').count(), 0);
      assert.equal(states.at(-1), 'idle', `the state was read again: ${states.join(', ')}`);
      // A read that is still under way ends with the page.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    } finally {
      await browser.close();
    }
  },
);

test(
  'a session whose agent is not known here shows its messages and records, and why it has no net',
  { skip: noBrowser },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'petrichor-console-test-'));
    const store = join(folder, 'sessions.db');
    {
      await using server = await openConsoleServer({ agents: [travel], store });
      await (await server.runtime.session('trip', { user: 'default' })).ask('hello');
    }
    await using server = await openConsoleServer({ agents: [], store });
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      const errors: unknown[] = [];
      page.on('pageerror', (error) => errors.push(error));
      await page.goto(`${server.url}/console/s/trip`);
      await page.getByText('Hello! Where would you like to fly?').waitFor();
      await page.getByText('There is no net to show').waitFor();
      await page
        .locator('.net-box')
        .getByText(/travel/)
        .waitFor();
      // Its records are read without the agent, and each of them is shown.
      const slider = page.getByRole('slider', { name: 'Record that is shown' });
      await page.locator('[role="slider"]:not([aria-valuemax="0"])').waitFor();
      await page.getByRole('heading', { name: 'turn.end fired' }).waitFor();
      await slider.press('Home');
      await page.getByText('As of record 0').waitFor();
      for (const tab of ['State', 'Prompt', 'Log', 'Raw', 'Record'])
        await page.getByRole('tab', { name: tab }).click();
      await slider.press('ArrowRight');
      await page.getByText('As of record 1').waitFor();
      await page.getByRole('button', { name: 'Table' }).click();
      // The journal can be saved: the net is what it lacks.
      const file = await fetch(`${server.url}/v1/sessions/trip/journal`);
      assert.match(await file.text(), /^\{"type":"journal",.*"net":null\}\n\{"type":"session",/);
      // The screens that need the agent say so.
      await page.goto(`${server.url}/console/traces/trip`);
      await page.getByText('model.call').first().waitFor();
      assert.deepEqual(errors, []);
    } finally {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
