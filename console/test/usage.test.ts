import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsageTotal } from '../../src/client/index.ts';
import { addUsage, groupUsage, listDays } from '../src/usage/total-usage.ts';
import { travel } from './agents.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';

const total = (model: string, day: string, tokens: number): UsageTotal => ({
  type: 'usage_total',
  model,
  day,
  calls: 1,
  input_tokens: tokens,
  output_tokens: tokens / 10,
  thinking_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
});
const totals = [
  total('small', '2026-02-27', 1_000_000),
  total('large', '2026-03-01', 3_000_000),
  total('small', '2026-03-01', 1_000_000),
];

test('usage is added up by model, the most first, and a sum without all prices says so', () => {
  const prices = [{ model: 'small', input: 1, output: 10 }];
  const rows = groupUsage(totals, ({ model }) => model ?? '', prices);
  assert.deepEqual(
    rows.map(({ name, calls, inputTokens, cost, isPartial }) => [
      name,
      calls,
      inputTokens,
      cost,
      isPartial,
    ]),
    [
      ['large', 1, 3_000_000, 0, true],
      ['small', 2, 2_000_000, 4, false],
    ],
  );
  assert.equal(addUsage('all', totals, prices).isPartial, true);
  assert.equal(addUsage('all', [], prices).isPartial, false);
  assert.deepEqual(listDays('2026-02-27', '2026-03-01'), [
    '2026-02-27',
    '2026-02-28',
    '2026-03-01',
  ]);
});

test(
  'the usage screen shows what sessions used, and its cost once a price is entered',
  { skip: noBrowser },
  async () => {
    await using server = await openConsoleServer({ agents: [travel] });
    const session = await server.runtime.session('demo', { user: 'default' });
    await session.ask('hello');
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      await page.goto(`${server.url}/console/usage`);
      const agents = page.getByRole('table').last();
      await agents.getByRole('row', { name: /agent_travel 1 320 24/ }).waitFor();
      const model = await page.getByRole('table').first().getByRole('rowheader').innerText();
      await page.getByRole('link', { name: 'Settings' }).first().click();
      await page.getByRole('button', { name: 'Add a price' }).click();
      await page.getByLabel('Model').fill(model);
      await page.getByLabel(/^Input price/).fill('1000');
      await page.getByLabel(/^Output price/).fill('10000');
      await page.getByLabel(/^Output price/).press('Tab');
      await page.getByRole('link', { name: 'usage' }).click();
      // 320 tokens at 1000 dollars a million, and 24 at 10,000.
      await agents.getByText('$0.5600').waitFor();
    } finally {
      await browser.close();
    }
  },
);
