import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import type { ConsoleServer } from '../test/console-server.ts';
import { noted, percentile, upTo } from './figure.ts';
import type { Figure } from './figure.ts';
import { describeMainThread, openMainThread, readMainThread } from './main-thread.ts';
import type { MainThreadTime } from './main-thread.ts';

const OPENINGS = 5;

/** The size of what the first screen loads, and how long it takes to open. */
export async function measureFiles(
  browser: Browser,
  { url, runtime }: ConsoleServer,
  folder: string,
): Promise<readonly Figure[]> {
  const session = await runtime.session('first', { user: 'default' });
  await session.ask('hello');
  const loaded = new Set<string>();
  const openings: number[] = [];
  const times: MainThreadTime[] = [];
  for (let count = 0; count < OPENINGS; count++) {
    // A context of its own has an empty cache.
    const page = await browser.newPage();
    const cdp = await openMainThread(page);
    page.on('response', (response) => {
      if (response.url().endsWith('.js')) loaded.add(response.url().split('/').at(-1) ?? '');
    });
    const start = performance.now();
    await page.goto(`${url}/console/sessions`);
    await page.getByRole('link', { name: 'first' }).waitFor();
    openings.push(performance.now() - start);
    times.push(await readMainThread(cdp));
    await page.close();
  }
  const time = times.toSorted((a, b) => a.task - b.task)[Math.floor(OPENINGS / 2)];
  const assets = join(folder, 'assets');
  const all = (await readdir(assets)).filter((name) => name.endsWith('.js'));
  const kilobytes = async (names: readonly string[]): Promise<number> => {
    const sizes = names.map(async (name) => gzipSync(await readFile(join(assets, name))).length);
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1024;
  };
  const app = all.filter((name) => !name.startsWith('layout-worker'));
  return [
    upTo('JavaScript of the first screen, gzip', await kilobytes([...loaded]), 90, 'KB'),
    upTo('JavaScript without the layout engine, gzip', await kilobytes(app), 250, 'KB'),
    upTo('cold open to the list of sessions, median', percentile(openings, 0.5), 500, 'ms'),
    ...(time === undefined ? [] : [noted('the same: main thread', describeMainThread(time))]),
  ];
}
