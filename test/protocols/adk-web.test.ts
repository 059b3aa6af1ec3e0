/** The stock web interface of ADK in a browser: apps, a session, a turn, an approval, the graph, traces, and a reload. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import { LiveHub, liveAgent, ScriptedLive } from '../../src/live/index.ts';
import { encodeWave } from '../../src/live/models/cascaded/wave-file.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { tool } from '../../src/tools/index.ts';
import { temporaryFolder } from '../server/temporary-folder.ts';
import { openTestServer } from './test-server.ts';
import type { TestServerOptions } from './test-server.ts';

const CHROMIUM = '/usr/bin/chromium';
const BUNDLE = join(import.meta.dirname, 'node_modules/@google/adk-devtools/dist/browser');
const IMAGES = join(import.meta.dirname, '../../docs/images');
const skip = [CHROMIUM, BUNDLE].filter((path) => !existsSync(path)).join(', ');

interface Locator {
  readonly first: () => Locator;
  readonly nth: (index: number) => Locator;
  readonly waitFor: () => Promise<void>;
  readonly fill: (text: string) => Promise<void>;
  readonly press: (key: string) => Promise<void>;
  readonly check: () => Promise<void>;
  readonly click: () => Promise<void>;
  readonly count: () => Promise<number>;
}

interface Page {
  readonly setDefaultTimeout: (ms: number) => void;
  readonly goto: (url: string) => Promise<void>;
  readonly reload: () => Promise<void>;
  readonly route: (
    pattern: RegExp,
    handle: (route: { abort(): Promise<void> }) => void,
  ) => Promise<void>;
  readonly locator: (selector: string) => Locator;
  readonly getByText: (text: string | RegExp) => Locator;
  readonly getByRole: (role: string, options: { readonly name: string }) => Locator;
  readonly screenshot: (options: { readonly path: string }) => Promise<void>;
  readonly waitForFunction: (expression: string) => Promise<void>;
}

interface Playwright {
  readonly chromium: {
    launch(
      options: object,
    ): Promise<{ newPage(options: object): Promise<Page>; close(): Promise<void> }>;
  };
}

const PLAYWRIGHT = 'playwright-core';

/** A page of a browser, and the server with ADK Web. */
interface OpenedWeb extends AsyncDisposable {
  readonly page: Page;
  readonly url: string;
}

/** @param args more arguments of the browser */
async function openWeb(
  options: Pick<TestServerOptions, 'agents' | 'live'>,
  args: readonly string[] = [],
): Promise<OpenedWeb> {
  const server = await openTestServer({ ...options, protocols: ['adk'], adkWeb: BUNDLE });
  const { chromium } = (await import(PLAYWRIGHT)) as Playwright;
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    timeout: 300_000,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...args],
  });
  const page = await browser.newPage({ viewport: { width: 1400, height: 720 } });
  // What is waited for comes, but a busy machine takes long.
  page.setDefaultTimeout(300_000);
  await page.route(/googleapis|gstatic|googletagmanager/, (route) => void route.abort());
  return {
    page,
    url: server.url,
    [Symbol.asyncDispose]: async () => {
      await browser.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

function createTravelAgent(booked: string[]): ReturnType<typeof agent> {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } } as const;
  const lookUp = tool({
    name: 'look_up',
    description: 'Looks up flights.',
    parameters,
    readOnly: true,
    execute: () => ({ flights: ['09:15'] }),
  });
  const book = tool({
    name: 'book_flight',
    description: 'Books a flight.',
    parameters,
    needsApproval: true,
    execute: (_, { state }) => {
      booked.push('Rome');
      state.set('booked', 'Rome');
      return { seat: '12A' };
    },
  });
  const model = new ScriptedModel(({ contents }) => {
    const result = (contents.at(-1)?.parts ?? []).find(isFunctionResponsePart);
    const name = result?.functionResponse.name;
    if (name === 'look_up') return { toolCalls: [{ name: 'book_flight', args: { city: 'Rome' } }] };
    if (name === 'book_flight')
      return { deltas: ['Your flight ', 'is booked.'], text: 'Your flight is booked.' };
    return {
      text: 'I look for a flight.',
      toolCalls: [{ name: 'look_up', args: { city: 'Rome' } }],
    };
  });
  return agent({ name: 'travel', description: 'Plans trips.', model, tools: [lookUp, book] });
}

test(
  'ADK Web lists the app, streams a turn, approves a call, and shows it after a reload',
  { skip: skip !== '' && `absent: ${skip}` },
  async () => {
    const booked: string[] = [];
    await using web = await openWeb({ agents: [createTravelAgent(booked)] });
    const { page, url } = web;
    const shoot = async (name: string): Promise<void> => {
      if (process.env['ADK_WEB_IMAGES'] === '1')
        await page.screenshot({ path: join(IMAGES, `adk-web-${name}.png`) });
    };
    await page.goto(`${url}/`);
    await page.getByText('travel').first().waitFor();
    await page.goto(`${url}/dev-ui/?app=travel`);
    await page.locator('textarea').first().fill('Book a flight');
    await page.locator('textarea').first().press('Enter');
    await page.getByText('Please approve or reject the tool call book_flight()').waitFor();
    assert.deepEqual(booked, []);
    await page.locator('svg g.node').first().waitFor();
    await shoot('approval');
    await page.locator('input[type=checkbox]').check();
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByText('Your flight is booked.').first().waitFor();
    assert.deepEqual(booked, ['Rome']);
    await page.reload();
    await page.getByText('Your flight is booked.').first().waitFor();
    assert.equal(await page.getByText('Your flight is booked.').count(), 1);
    await page.getByText('Traces').first().click();
    await page.getByText('call_llm').nth(2).waitFor();
    assert.equal(await page.getByText('call_llm').count(), 3);
    await shoot('traces');
  },
);

/** A sound file with a tone of a second, and a second of silence. Chromium repeats it. */
function toneAndSilence(): Uint8Array {
  const rate = 16_000;
  const samples = Int16Array.from({ length: 2 * rate }, (_, index) =>
    index < rate ? Math.round(12_000 * Math.sin((2 * Math.PI * 440 * index) / rate)) : 0,
  );
  const pcm = new Uint8Array(samples.buffer);
  return encodeWave({ pcm, format: { encoding: 'pcm16', sampleRate: rate } });
}

test(
  'ADK Web speaks with a live agent over run_live',
  { skip: skip !== '' && `absent: ${skip}` },
  async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'microphone.wav');
    writeFileSync(file, toneAndSilence());
    const hub = new LiveHub();
    const turns = Array.from({ length: 50 }, () => ({
      heard: 'Are you there?',
      text: 'I am here.',
    }));
    const speaker = liveAgent({ name: 'speaker', model: new ScriptedLive({ turns }) });
    await using web = await openWeb({ agents: [speaker], live: hub }, [
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${file}`,
      '--autoplay-policy=no-user-gesture-required',
    ]);
    const { page, url } = web;
    await page.goto(`${url}/dev-ui/?app=speaker`);
    await page.locator('.audio-rec-btn').first().click();
    await page.getByText('Are you there?').first().waitFor();
    await page.getByText('I am here.').first().waitFor();
  },
);
