import type { Browser } from 'playwright-core';
import type { ConsoleServer } from '../test/console-server.ts';
import { noted, percentile, round, upTo } from './figure.ts';
import type { Figure } from './figure.ts';
import { describeMainThread, openMainThread, readMainThread } from './main-thread.ts';

const DRAG_MS = 4000;

/** Opens a session with a long journal, and drags its timeline. */
export async function measureLongSession(
  browser: Browser,
  { url, runtime }: ConsoleServer,
  records: number,
): Promise<readonly Figure[]> {
  const session = await runtime.session('long', { user: 'default' });
  const count = async (): Promise<number> => {
    const response = await fetch(`${url}/v1/sessions/long/marking`);
    const { record }: { readonly record: number } = Object(await response.json());
    return record;
  };
  let last = 0;
  while (last < records) {
    for (let turn = 0; turn < 50; turn++) await session.ask('hello');
    last = await count();
  }

  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const cdp = await openMainThread(page);
  // The page itself looks: a driver that asks it waits for its main thread.
  await page.addInitScript(
    `new MutationObserver((_, observer) => {
      if (document.querySelector('.chat-log article') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => { globalThis.paintedAt = performance.now(); });
    }).observe(document, { subtree: true, childList: true })`,
  );
  const start = performance.now();
  await page.goto(`${url}/console/s/long`);
  await page.locator(`[role="slider"][aria-valuenow="${last}"]`).waitFor();
  const loaded = performance.now() - start;
  const painted: number = await page.evaluate('globalThis.paintedAt');
  await page.locator('.net-box svg').first().waitFor();
  const opened = await readMainThread(cdp);
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');

  // The page itself moves the pointer once per frame, so that no protocol is measured.
  const before = await readMainThread(cdp);
  const frames: readonly number[] = await page.evaluate(`(async () => {
    const canvas = document.querySelector('.timeline-canvas');
    const { left, width, top } = canvas.getBoundingClientRect();
    const at = (x) => ({ clientX: left + 8 + x * (width - 16), clientY: top + 30, bubbles: true, button: 0 });
    canvas.dispatchEvent(new PointerEvent('pointerdown', at(1)));
    const frames = [];
    const start = performance.now();
    let before = start;
    while (before - start < ${DRAG_MS}) {
      const part = (before - start) / ${DRAG_MS};
      dispatchEvent(new PointerEvent('pointermove', at(0.5 + 0.5 * Math.cos(part * 14))));
      const now = await new Promise(requestAnimationFrame);
      frames.push(now - before);
      before = now;
    }
    dispatchEvent(new PointerEvent('pointerup', at(0)));
    return frames.slice(1);
  })()`);
  const after = await readMainThread(cdp);
  await page.close();
  const perSecond = (frames.length / frames.reduce((sum, ms) => sum + ms, 0)) * 1000;
  return [
    upTo(`first paint of a session of ${last} records`, painted, 700, 'ms'),
    noted('the same: all records are there', `${round(loaded)} ms`),
    noted('the same: main thread until then', describeMainThread(opened)),
    upTo('the same: heap', usedSize / 2 ** 20, 120, 'MB'),
    {
      what: 'dragging its timeline',
      bar: '≥ 50 frames/s',
      value: `${round(perSecond)} frames/s`,
      isMet: perSecond >= 50,
    },
    upTo('the same: frame time, 95 of 100', percentile(frames, 0.95), 20, 'ms'),
    upTo('the same: main thread per frame', (after.task - before.task) / frames.length, 16, 'ms'),
    noted('the same, in parts', describeMainThread(after, before, frames.length)),
  ];
}
