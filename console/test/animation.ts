/** Writes the animation of the documentation, `docs/images/console.png`: `npm run images`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { travel } from './agents.ts';
import { joinFrames } from './apng.ts';
import type { Frame } from './apng.ts';
import { openBrowser } from './browser.ts';
import { openConsoleServer } from './console-server.ts';

process.env['INVOICE_MS'] = '4000';
const file = process.argv[2] ?? join(import.meta.dirname, '../../docs/images/console.png');
const frames: Frame[] = [];
await using server = await openConsoleServer({ agents: [travel] });
const session = await server.runtime.session('trip-to-berlin', { user: 'default' });
await session.ask('hello');
const browser = await openBrowser();
try {
  const page = await browser.newPage({
    viewport: { width: 1120, height: 620 },
    reducedMotion: 'reduce',
  });
  const show = async (ms: number): Promise<void> => {
    await page.waitForTimeout(250);
    frames.push({ png: await page.screenshot({ caret: 'hide' }), ms });
  };
  await page.goto(`${server.url}/console/s/trip-to-berlin`);
  await page.locator('.net-box svg').first().waitFor();
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.fill('Book a flight to Berlin');
  await show(1200);
  await composer.press('Enter');
  const approve = page.getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  await show(2200);
  await approve.click();
  await page.getByText('I print the invoice.').first().waitFor();
  await show(1400);
  await page.getByText('Be at the gate by 13:10.').first().waitFor();
  await page.locator('.session-head').getByText('idle').waitFor();
  await show(1400);
  const slider = page.getByRole('slider');
  await slider.focus();
  for (let step = 0; step < 5; step++) {
    await slider.press('Shift+ArrowLeft');
    await show(step === 4 ? 1200 : 400);
  }
  await page.getByRole('textbox', { name: /fork/i }).fill('I want a refund instead');
  await show(1400);
  await page.getByRole('button', { name: 'Fork here' }).click();
  await page.getByText('three days').first().waitFor();
  await page.locator('.session-head').getByText('idle').waitFor();
  await show(2000);
  await page.getByRole('link', { name: 'Compare' }).click();
  await page.getByText(/are the same$/).waitFor();
  await page.locator('.net-box svg').nth(1).waitFor();
  await show(3000);
} finally {
  await browser.close();
}
await writeFile(file, joinFrames(frames));
