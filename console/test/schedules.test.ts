import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createClient } from '../../src/client/index.ts';
import { EMPTY_FORM, toParams } from '../src/schedules/schedule-form.ts';
import { travel } from './agents.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';

const WIDTHS = [1440, 768, 390];

test('the form asks for an agent, a message and times, and leaves out what has its default', () => {
  const form = { ...EMPTY_FORM, message: ' Report ', timeZone: 'Europe/Berlin' };
  assert.equal(toParams(form, 'agent_travel'), undefined);
  assert.equal(toParams({ ...form, cron: '0 9 * * *' }, ''), undefined);
  assert.equal(toParams({ ...form, cron: '0 9 * * *', message: ' ' }, 'agent_travel'), undefined);
  assert.deepEqual(toParams({ ...form, cron: ' 0 9 * * * ' }, 'agent_travel'), {
    agent: 'agent_travel',
    message: 'Report',
    cron: '0 9 * * *',
    time_zone: 'Europe/Berlin',
    overlap: 'skip',
    backfill: 'none',
  });
  const interval = { ...form, times: 'every', every: 1.5, unit: 'hours' } as const;
  const more = { id: 'hourly', session: 'log', overlap: 'queue', backfill: 'all' } as const;
  assert.deepEqual(toParams({ ...interval, ...more, jitterSeconds: 2 }, 'agent_travel'), {
    id: 'hourly',
    agent: 'agent_travel',
    message: 'Report',
    every_ms: 5_400_000,
    session_id: 'log',
    overlap: 'queue',
    backfill: 'all',
    max_backfill: 10,
    jitter_ms: 2000,
  });
  assert.equal(toParams({ ...interval, every: Number.NaN }, 'agent_travel'), undefined);
});

test(
  'a schedule is created in a form, run, paused, resumed and deleted, and its page follows it',
  { skip: noBrowser },
  async () => {
    await using server = await openConsoleServer({ agents: [travel] });
    const { schedules } = createClient({ baseUrl: server.url });
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      page.on('dialog', (dialog) => void dialog.accept());
      await page.goto(`${server.url}/console/schedules`);
      await page.getByText('No schedule yet').waitFor();
      await page.getByRole('button', { name: 'New schedule' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('daily');
      await form.getByLabel('Message').fill('Hello!');
      await form.getByRole('textbox', { name: 'Pattern' }).fill('0 9 31 2 *');
      await form.getByLabel('Time zone').fill('Europe/Berlin');
      await form.getByText('More').click();
      await form.getByLabel('A run that is due').selectOption('queue');
      await form.getByRole('button', { name: 'Create' }).click();
      await page.getByText(/cron: is never due/).waitFor();
      await form.getByRole('textbox', { name: 'Pattern' }).fill('0 9 1 1 *');
      await form.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('heading', { name: 'daily' }).waitFor();
      assert.match(page.url(), /\/console\/schedules\/daily$/);
      const about = page.getByRole('region', { name: 'About the schedule' });
      await about.getByText('0 9 1 1 *, Europe/Berlin').waitFor();
      await about.getByText(/^Next due in \d+ d/).waitFor();
      const { overlap } = await schedules.get('daily');
      assert.equal(overlap, 'queue');

      await page.getByRole('button', { name: 'Run now' }).click();
      const session = page.getByRole('row').getByRole('link', { name: /^daily-manual-/ });
      await session.waitFor();
      // The schedule notices the end of the run, and the page follows.
      await page.getByRole('row', { name: /manual ended/ }).waitFor();

      // Somebody else pauses it.
      await schedules.pause('daily');
      await about.getByText('paused', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('button', { name: 'Pause' }).click();
      await about.getByText('paused', { exact: true }).waitFor();
      assert.equal((await schedules.get('daily')).status, 'paused');

      await checkSizes(page);
      await page.setViewportSize({ width: 1440, height: 900 });
      await session.click();
      await page.getByText('Where would you like to fly?').waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No schedule yet').waitFor();
      for await (const { id } of schedules.list()) assert.fail(`${id} is there`);
    } finally {
      await browser.close();
    }
  },
);

/** Nothing is wider than the page, and each verb is on it, in both themes. */
async function checkSizes(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const name of ['New schedule', 'Run now', 'Resume', 'Delete']) {
        const box = await page.getByRole('button', { name }).boundingBox();
        assert.ok(box !== null && box.x >= 0 && box.x + box.width <= width, `${name}, ${width} px`);
      }
      const scrolled = await page.evaluate('document.documentElement.scrollWidth');
      assert.equal(scrolled, width, `${colorScheme}, ${width} px`);
    }
  }
}
