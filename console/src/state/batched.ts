/**
 * Returns a function that runs `run` once per frame, however often it is called. With `ms`, once in that time: the first
 * call runs it at the next frame, as always.
 */
export function batched(run: () => void, ms: number | (() => number) = 0): () => void {
  let planned = false;
  let last = -Infinity;
  return () => {
    if (planned) return;
    planned = true;
    const start = (): void => {
      planned = false;
      last = performance.now();
      run();
    };
    const wait = last + (typeof ms === 'number' ? ms : ms()) - performance.now();
    if (wait > 0) setTimeout(start, wait);
    else nextFrame(start);
  };
}

/** Runs `run` when the browser has painted what is shown now. */
export function afterPaint(run: () => void): void {
  nextFrame(() => setTimeout(run));
}

/** A hidden page has no frames, and neither has a program without a page: a timer takes their place. */
function nextFrame(run: () => void): void {
  if (typeof requestAnimationFrame === 'undefined' || document.hidden) setTimeout(run, 50);
  else requestAnimationFrame(run);
}
