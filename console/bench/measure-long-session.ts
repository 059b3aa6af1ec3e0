import type { Browser } from 'playwright-core';
import type { ConsoleServer } from '../test/console-server.ts';
import { noted, percentile, round, upTo } from './figure.ts';
import type { Figure } from './figure.ts';
import { describeMainThread, openMainThread, readMainThread } from './main-thread.ts';
import { traceFrames } from './trace-frames.ts';

const DRAG_MS = 4000;
/** A frame of 60 a second, and a little. */
const FRAME_MS = 20;
/** What the main thread may use of a frame. */
const WORK_MS = 16;

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
  const frames = await traceFrames(browser, page, async () => {
    await page.evaluate(`(async () => {
      const canvas = document.querySelector('.timeline-canvas');
      const { left, width, top } = canvas.getBoundingClientRect();
      const at = (x) => ({ clientX: left + 8 + x * (width - 16), clientY: top + 30, bubbles: true, button: 0 });
      canvas.dispatchEvent(new PointerEvent('pointerdown', at(1)));
      const start = performance.now();
      for (let now = start; now - start < ${DRAG_MS}; now = await new Promise(requestAnimationFrame)) {
        performance.mark('frame');
        const part = (now - start) / ${DRAG_MS};
        dispatchEvent(new PointerEvent('pointermove', at(0.5 + 0.5 * Math.cos(part * 14))));
      }
      dispatchEvent(new PointerEvent('pointerup', at(0)));
    })()`);
  });
  const after = await readMainThread(cdp);
  await page.close();
  const walls = frames.map(({ wallMs }) => wallMs);
  const perSecond = (frames.length / walls.reduce((sum, ms) => sum + ms, 0)) * 1000;
  const late = frames.filter(({ wallMs }) => wallMs > FRAME_MS);
  const busy = late.filter(({ mainThreadMs }) => mainThreadMs > WORK_MS);
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
    upTo('the same: frame time, 95 of 100', percentile(walls, 0.95), FRAME_MS, 'ms'),
    noted('the same: late frames', `${late.length}, ${busy.length} of them by the page`),
    upTo(
      'the same: main thread per frame, 95 of 100',
      percentile(
        frames.map(({ mainThreadMs }) => mainThreadMs),
        0.95,
      ),
      WORK_MS,
      'ms',
    ),
    noted('the same, in parts', describeMainThread(after, before, frames.length)),
  ];
}
