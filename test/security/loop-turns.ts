/** Number of event loop turns since the start. It reads no clock. */
export interface LoopTurns {
  readonly count: () => number;
  readonly stop: () => void;
}

export function countLoopTurns(): LoopTurns {
  let turns = 0;
  let next = setImmediate(again);
  function again(): void {
    turns += 1;
    next = setImmediate(again);
  }
  return { count: () => turns, stop: () => clearImmediate(next) };
}
