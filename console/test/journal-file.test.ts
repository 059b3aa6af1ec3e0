import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { travel } from './agents.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';
import { openScreen } from './screens.ts';
import { toChat } from '../src/session/chat-items.ts';
import { readJournalFile } from '../src/journal-file/read-journal-file.ts';

const TOLD = 'Fly me to Berlin, my code is Zanzibar';

async function download(redact: '0' | '1'): Promise<string> {
  await using server = await openConsoleServer({ agents: [travel] });
  const session = await server.runtime.session('trip', { user: 'default' });
  await session.ask(TOLD).catch(() => undefined);
  const response = await fetch(`${server.url}/v1/sessions/trip/journal?redact=${redact}`);
  return response.text();
}

const toFile = (text: string): File => new File([text], 'trip.journal.jsonl');

test('a journal file is read as a session: its messages, its net and every marking', async () => {
  const { history, events, net, isRedacted, session } = await readJournalFile(
    toFile(await download('0')),
  );
  assert.equal(isRedacted, false);
  assert.equal(session.id, 'trip');
  const { items, waiting } = toChat(events);
  assert.match(JSON.stringify(items), /Zanzibar/);
  assert.equal(waiting.size, 1);
  assert.ok((net?.transitions.length ?? 0) > 10);
  assert.equal(history.markingAt(history.last).tokens.get('tool.parked')?.length, 1);
});

test('a redacted journal file is read too', async () => {
  const text = await download('1');
  assert.doesNotMatch(text, /Zanzibar/);
  const { history, events, isRedacted } = await readJournalFile(toFile(text));
  assert.equal(isRedacted, true);
  const { items, waiting } = toChat(events);
  assert.match(JSON.stringify(items), /text\(37\) #/);
  assert.match(JSON.stringify(items), /book_flight/);
  assert.equal(waiting.size, 1);
  assert.equal(history.markingAt(history.last).tokens.get('tool.parked')?.length, 1);
});

test('a file that is no journal, of another version, damaged or cut off is refused with the reason', async () => {
  const whole = await download('0');
  const lines = whole.trimEnd().split('\n');
  const step = lines.findIndex((line) => line.startsWith('{"type":"step"'));
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ['', /is empty/],
    ['hello', /is not a journal file/],
    ['{"type":"other"}', /is not a journal file/],
    [whole.replace('"version":2', '"version":3'), /version 3/],
    [lines.slice(0, -1).join('\n'), /was cut off/],
    [lines.toSpliced(step, 1).join('\n'), new RegExp(`damaged: line ${step + 1} `)],
    [lines.toSpliced(3, 1, '{').join('\n'), /line 4 is not a JSON object/],
    [lines.toSpliced(2, 0, '{"type":"later"}', '').join('\n'), /line 4 is not/],
    [`${whole}{"type":"event"}\n`, /comes after the end/],
  ];
  for (const [text, message] of cases) await assert.rejects(readJournalFile(toFile(text)), message);
  const later = lines.toSpliced(2, 0, '{"type":"later"}').join('\n');
  assert.ok((await readJournalFile(toFile(later))).history.last > 5);
});

test(
  'a session is saved as a file, and the file is opened without a request',
  { skip: noBrowser },
  async () => {
    await using server = await openConsoleServer({ agents: [travel] });
    const session = await server.runtime.session('trip', { user: 'default' });
    await session.ask(TOLD).catch(() => undefined);
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      await openScreen(page, server.url, 's/trip');
      await page.locator('summary[aria-label="Save the journal"]').click();
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Journal', exact: true }).click();
      const path = await (await saving).path();
      assert.match(await readFile(path, 'utf8'), /Zanzibar/);

      await page.goto(`${server.url}/console/file`);
      const asked: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/v1/sessions/')) asked.push(request.url());
      });
      await page.locator('input[type=file]').setInputFiles(path);
      await page.getByText('Zanzibar').first().waitFor();
      await page.locator('.net-box svg').first().waitFor();
      await page.getByText('A journal file can only be read.').waitFor();
      assert.equal(await page.getByRole('button', { name: /approve|archive|pause/i }).count(), 0);
      await page.getByRole('slider').focus();
      await page.keyboard.press('ArrowLeft');
      await page.getByText(/As of record/).waitFor();
      assert.deepEqual(asked, []);
    } finally {
      await browser.close();
    }
  },
);
