import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { freePort } from '../../test/free-port.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';

interface Served {
  readonly url: string;
  readonly process: ChildProcess;
}

/** @param invoiceMs how long the last tool of the turn takes, in milliseconds */
async function serve(store: string, port: number, invoiceMs: number): Promise<Served> {
  const file = join(import.meta.dirname, 'serve-travel.ts');
  const child = spawn(process.execPath, [file, store, String(port)], {
    env: { ...process.env, INVOICE_MS: String(invoiceMs) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'exit').then(([code]) => assert.fail(`the server ended with ${code}`));
  const [url] = await Promise.race([once(lines, 'line'), ended]);
  // It is killed at the end.
  ended.catch(() => undefined);
  return { url: String(url), process: child };
}

async function kill({ process: child }: Served): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** The number of the record that the timeline shows. */
async function recordOn(page: Page): Promise<number> {
  return Number(await page.getByRole('slider').getAttribute('aria-valuenow'));
}

/** The number of the last record that the server has. */
async function lastRecord(page: Page): Promise<number> {
  const { origin, pathname } = new URL(page.url());
  const id = pathname.split('/').at(-1) ?? '';
  const response = await fetch(`${origin}/v1/sessions/${id}/records?limit=1000`);
  const { data }: { readonly data: readonly { readonly record: number }[] } = Object(
    await response.json(),
  );
  return data.at(-1)?.record ?? 0;
}

async function until(locator: Locator): Promise<void> {
  await locator.first().waitFor();
}

test(
  'a newcomer chats, approves, survives a kill of the server, goes back in time and forks there',
  { skip: noBrowser },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'petrichor-console-'));
    const store = `sqlite:${join(folder, 'sessions.db')}`;
    const port = await freePort();
    let served = await serve(store, port, 86_400_000);
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      const failures: string[] = [];
      page.on('pageerror', (error) => failures.push(error.message));
      await page.goto(`${served.url}/console/`);
      await page.getByRole('button', { name: 'New session' }).first().click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /create|start/i })
        .click();
      await page.waitForURL(/\/console\/s\//);

      const composer = page.getByRole('textbox', { name: /message/i });
      await composer.fill('Book a flight to Berlin');
      await composer.press('Enter');
      await until(page.getByText('LH 2042').first());
      await page.getByRole('button', { name: 'Approve' }).click();
      await until(page.getByText('I print the invoice.'));
      await until(page.getByText('running').first());

      await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
      await kill(served);
      await until(page.getByText(/Reconnecting/));
      served = await serve(store, port, 1);
      await until(page.getByText('Be at the gate by 13:10.'));
      // The inspector may show the same text, as the value of a token.
      const chat = page.getByRole('log');
      assert.equal(await chat.getByText('I print the invoice.').count(), 1, 'nothing twice');
      assert.equal(await page.evaluate('isSamePage'), true, 'the page was not loaded again');

      await until(page.locator('.session-head').getByText('idle'));
      // Records come by a stream of their own: the last ones may arrive after the state of the session.
      const live = await lastRecord(page);
      await until(page.locator(`[role="slider"][aria-valuenow="${live}"]`));
      await page.getByRole('slider').focus();
      for (let count = 0; count < 3; count++) await page.keyboard.press('ArrowLeft');
      await until(page.getByText(`As of record ${live - 3}`));
      assert.equal(await recordOn(page), live - 3);
      await page.waitForURL(new RegExp(`at=${live - 3}`));

      await page.getByRole('slider').press('Home');
      for (let count = 0; count < 5; count++) await page.getByRole('slider').press('ArrowRight');
      const before = new URL(page.url()).pathname;
      await page.getByRole('textbox', { name: /fork/i }).fill('I want a refund instead');
      await page.getByRole('button', { name: 'Fork here' }).click();
      await page.waitForURL((url) => url.pathname !== before);
      await until(page.getByText('three days'));
      assert.equal(await page.getByText('Be at the gate by 13:10.').count(), 0);

      await page.getByRole('link', { name: 'Compare' }).click();
      const [first, second] = ['First session', 'Second session'].map((name) =>
        page.getByRole('region', { name }),
      );
      assert.ok(first !== undefined && second !== undefined);
      await until(first.getByText('Be at the gate by 13:10.'));
      await until(second.getByText('three days'));
      await until(page.getByText(/^records 1 to \d+ are the same$/));
      // At the fork both sides are the same.
      await page.getByRole('button', { name: 'At the fork' }).click();
      await until(first.getByText(/^record (\d+) of/));
      const readMarking = async (side: Locator): Promise<readonly string[]> =>
        side
          .locator('.net-place')
          .evaluateAll((nodes) =>
            nodes.map(({ dataset: { node, count } }) => `${node}: ${count}`).toSorted(),
          );
      const markings = [await readMarking(first), await readMarking(second)];
      assert.ok((markings[0]?.length ?? 0) > 5);
      assert.deepEqual(markings[0], markings[1]);
      assert.deepEqual(failures, []);
    } finally {
      await browser.close();
      await kill(served);
      await rm(folder, { recursive: true, force: true });
    }
  },
);
