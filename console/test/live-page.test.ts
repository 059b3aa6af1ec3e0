import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { contentText } from '../../src/core/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { LiveHub, liveAgent, ScriptedLive } from '../../src/live/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { createServer, listen } from '../../src/server/index.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { noSpeech, writeSpeech } from './fake-speech.ts';

const words = Array.from({ length: 150 }, (_, index) => `word${index}`);
const story = words.join(' ');

test(
  'a person speaks with a live model through the page, and interrupts it',
  { skip: noBrowser === false ? noSpeech : noBrowser },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'petrichor-speech-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const speech = writeSpeech(folder, [
      1_000,
      'Tell me a long story.',
      8_000,
      'Stop, please.',
      60_000,
    ]);
    const model = new ScriptedLive({
      turns: [
        { heard: 'Tell me a long story.', text: story },
        { heard: 'Stop, please.', text: 'Very well.' },
      ],
    });
    const hub = new LiveHub();
    const agent = liveAgent({
      name: 'storyteller',
      model,
      // A person pauses between words, and a busy browser makes silence of what it cannot deliver.
      config: { realtimeInputConfig: { automaticActivityDetection: { silenceDurationMs: 3000 } } },
    });
    await using runtime = await openRuntime({ agents: [agent], live: hub, app: 'managed' });
    const server = await createServer({ runtime, keys: 'off', live: hub, livePage: true });
    await using listening = await listen(server, { port: 0, keysRequired: false });
    const browser = await openBrowser([
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${speech}%noloop`,
      '--autoplay-policy=no-user-gesture-required',
    ]);
    t.after(async () => browser.close());
    const page = await openPage(browser);
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.goto(`${listening.url}/live/`);
    await page.locator('#agent option').first().waitFor({ state: 'attached' });
    await page.locator('#call').click();
    const agentCaption = page.locator('[data-speaker=agent]');
    await agentCaption.nth(1).waitFor();
    await page.locator('[data-speaker=agent][data-interrupted]').waitFor();
    assert.deepEqual(await page.locator('[data-speaker=user]').allTextContents(), [
      'Tell me a long story.',
      'Stop, please.',
    ]);
    assert.equal(await page.locator('body').getAttribute('data-barged-in'), '');
    const session = (await page.locator('body').getAttribute('data-session')) ?? '';
    const found = await runtime.find(session, { user: 'default' });
    assert.ok(found !== undefined);
    const log: LogEvent[] = [];
    for await (const event of found.events(0)) {
      log.push(event as LogEvent);
      if (log.filter(({ type }) => type === 'turn.ended').length === 2) break;
    }
    const said = log.flatMap((event) =>
      event.type === 'user.message' || event.type === 'agent.message'
        ? [`${event.type} ${contentText(event.content)}`]
        : [],
    );
    const [first, cut = '', second, last] = said;
    assert.equal(first, 'user.message Tell me a long story.');
    assert.equal(second, 'user.message Stop, please.');
    assert.equal(last, 'agent.message Very well.');
    // What was heard is a beginning of what was generated.
    const heard = cut.replace('agent.message ', '');
    assert.ok(story.startsWith(heard) && heard.length < story.length && heard.length > 0, cut);
    t.diagnostic(`${heard.split(' ').length} of ${words.length} words were heard`);
    await page.locator('#hang-up').click();
    await page.getByText('The call is over.').waitFor();
    assert.deepEqual(problems, []);
  },
);
