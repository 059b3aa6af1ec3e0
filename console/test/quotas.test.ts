import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Quota } from '../../src/client/index.ts';
import { describeUse, groupQuotas, usedPart } from '../src/quotas/quota-rows.ts';
import { travel } from './agents.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';

const quota = (used: number, limit: number, workspace?: string): Quota => ({
  type: 'quota',
  quota: 'storage_bytes',
  scope: workspace === undefined ? 'all_workspaces' : 'workspace',
  ...(workspace !== undefined && { workspace }),
  limit,
  used,
  renews_at: null,
});

test('quotas are grouped by workspace: all together first, then the fullest', () => {
  const groups = groupQuotas([
    quota(1, 10, 'blue'),
    quota(9, 10, 'red'),
    quota(2, 10),
    quota(1, 10, 'amber'),
  ]);
  assert.deepEqual(
    groups.map(({ workspace }) => workspace),
    [undefined, 'red', 'amber', 'blue'],
  );
  assert.deepEqual([quota(8, 10), quota(9, 10), quota(12, 10), quota(0, 0)].map(describeUse), [
    undefined,
    'nearly used up',
    'used up',
    'used up',
  ]);
  assert.equal(usedPart(quota(12, 10)), 1);
});

test(
  'the quotas screen shows what the workspace and all workspaces have used',
  { skip: noBrowser },
  async () => {
    const quotas = {
      app: { sessions: 1000 },
      user: { tokensPerDay: 380, storageBytes: 1_000_000_000 },
    };
    await using server = await openConsoleServer({ agents: [travel], quotas });
    const session = await server.runtime.session('demo', { user: 'default' });
    await session.ask('hello');
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      await page.goto(`${server.url}/console/usage`);
      await page.getByRole('link', { name: 'quotas' }).click();
      await page.getByRole('heading', { name: 'Quotas' }).waitFor();
      // 320 tokens in, and 24 out.
      await page
        .getByRole('row', { name: /Tokens today 344 380 90 % nearly used up in/ })
        .waitFor();
      await page.getByRole('row', { name: /Storage [\d.]+ kB 1\.0 GB 0 %/ }).waitFor();
      assert.equal(await page.getByRole('row', { name: /Open sessions/ }).count(), 0);
      await page.getByLabel('Whose quotas').selectOption('all');
      await page.getByRole('row', { name: /Open sessions 1 1,000 0 %/ }).waitFor();
      await page.getByRole('heading', { name: 'Workspace default' }).waitFor();
    } finally {
      await browser.close();
    }
  },
);
