import type { CDPSession, Page } from 'playwright-core';

/** Milliseconds of processor time of a page's main thread. */
export interface MainThreadTime {
  readonly task: number;
  readonly script: number;
  readonly layout: number;
  /** When it was read, by the clock of this process. */
  readonly at: number;
}

/** Reads what the main thread of a page has spent. Other programs delay a page, and change these figures little. */
export async function readMainThread(cdp: CDPSession): Promise<MainThreadTime> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  const read = (wanted: string): number =>
    (metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN) * 1000;
  return {
    task: read('TaskDuration'),
    script: read('ScriptDuration'),
    layout: read('LayoutDuration') + read('RecalcStyleDuration'),
    at: performance.now(),
  };
}

/** Starts to count. The time of the thread does not go on while another program has the processor. */
export async function openMainThread(page: Page): Promise<CDPSession> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  return cdp;
}

const NOTHING: MainThreadTime = { task: 0, script: 0, layout: 0, at: 0 };

/** Says what was spent, by default since the page was opened. @param times how often what is measured was done */
export function describeMainThread(
  after: MainThreadTime,
  before: MainThreadTime = NOTHING,
  times = 1,
): string {
  const spent = (part: 'task' | 'script' | 'layout'): string => {
    const ms = (after[part] - before[part]) / times;
    return ms.toFixed(ms < 20 ? 1 : 0);
  };
  return `${spent('task')} ms (script ${spent('script')}, layout ${spent('layout')})`;
}
