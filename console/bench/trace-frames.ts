import type { Browser, Page } from 'playwright-core';

/** The part of a trace event of Chromium that is read here. Times are in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** Processor time of the thread. */
  readonly tdur?: number;
}

/** A frame between two marks of a page. */
export interface TracedFrame {
  /** From one frame to the next. */
  readonly wallMs: number;
  /** Processor time of the main thread. Other programs do not add to it. */
  readonly mainThreadMs: number;
}

/** The name with which a page marks its frames: `performance.mark('frame')`. */
const MARK = 'frame';

/** Runs something in a page that marks its frames, and returns what each of them took. */
export async function traceFrames(
  browser: Browser,
  page: Page,
  run: () => Promise<void>,
): Promise<readonly TracedFrame[]> {
  await browser.startTracing(page, { categories: ['toplevel', 'blink.user_timing'] });
  await run();
  const trace = await browser.stopTracing();
  const { traceEvents }: { readonly traceEvents: readonly TraceEvent[] } = Object(
    JSON.parse(trace.toString()),
  );
  const marks = traceEvents.filter(({ name }) => name === MARK).toSorted((a, b) => a.ts - b.ts);
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) =>
      ph === 'X' &&
      name === 'ThreadControllerImpl::RunTask' &&
      pid === marks[0]?.pid &&
      tid === marks[0].tid,
  );
  return marks.slice(1).map(({ ts: end }, index) => {
    const start = marks[index]?.ts ?? end;
    const ms = tasks
      .filter(({ ts }) => ts >= start && ts < end)
      .reduce((sum, { tdur, dur = 0 }) => sum + (tdur ?? dur) / 1000, 0);
    return { wallMs: (end - start) / 1000, mainThreadMs: ms };
  });
}
