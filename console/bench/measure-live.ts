import type { Browser } from 'playwright-core';
import { createClient } from '../../src/client/index.ts';
import type { ConsoleServer } from '../test/console-server.ts';
import { noted, percentile, upTo } from './figure.ts';
import type { Figure } from './figure.ts';
import { describeMainThread, openMainThread, readMainThread } from './main-thread.ts';

const MESSAGES = 100;
const WINDOW_MS = 4000;

/** From the time that the log has of a message to its pixel. Server and page share a clock. */
export async function measureLatency(
  browser: Browser,
  { url }: ConsoleServer,
): Promise<readonly Figure[]> {
  const client = createClient({ baseUrl: url });
  const { id } = await client.sessions.create({ agent: 'agent_chatter' });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${url}/console/s/${id}`);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  await page.evaluate(`(() => {
    globalThis.seen = {};
    const look = () => {
      for (const { textContent } of document.querySelectorAll('.message-user .plain')) {
        if (textContent.startsWith('mark')) globalThis.seen[textContent] ??= Date.now();
      }
    };
    new MutationObserver(() => requestAnimationFrame(look)).observe(document.querySelector('.chat-log'), { childList: true, subtree: true });
  })()`);
  for (let count = 0; count < MESSAGES; count++) await client.sessions.ask(id, `mark ${count}`);
  await page.getByText(`mark ${MESSAGES - 1}`, { exact: true }).waitFor();
  const seen: Readonly<Record<string, number>> = await page.evaluate('globalThis.seen');
  await page.close();
  const delays: number[] = [];
  for await (const event of client.sessions.listEvents(id, { limit: 1000 })) {
    if (event.type !== 'user.message' || event.processed_at === null) continue;
    const [block] = event.content;
    const at = block?.type === 'text' ? seen[block.text] : undefined;
    if (at !== undefined) delays.push(at - Date.parse(event.processed_at));
  }
  return [
    upTo('committed event to pixel, median', percentile(delays, 0.5), 60, 'ms'),
    upTo('the same, 99 of 100', percentile(delays, 0.99), 250, 'ms'),
  ];
}

/** The main thread while three sessions stream 200 deltas a second each. One of them is shown. */
export async function measureStreaming(
  browser: Browser,
  { url }: ConsoleServer,
  words: number,
): Promise<readonly Figure[]> {
  const client = createClient({ baseUrl: url });
  const ids: string[] = [];
  for (let count = 0; count < 3; count++)
    ids.push((await client.sessions.create({ agent: 'agent_chatter' })).id);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const cdp = await openMainThread(page);
  await page.goto(`${url}/console/s/${ids[0]}`);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  await page.locator('.net-box svg').first().waitFor();
  await Promise.all(ids.map(async (id) => client.sessions.send(id, 'talk')));
  await page.locator('.streaming').waitFor();
  const before = await readMainThread(cdp);
  await page.waitForTimeout(WINDOW_MS);
  const after = await readMainThread(cdp);
  await page.close();
  const share = ((after.task - before.task) / (after.at - before.at)) * 100;
  return [
    upTo(`main thread, three answers of ${words} words at 200 words/s`, share, 40, '%'),
    noted('the same: in 4 seconds', describeMainThread(after, before)),
  ];
}
