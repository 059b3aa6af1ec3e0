import type { LogEntry } from '../../core/index.ts';

/** Says that a turn goes on, if it had said that it waits: `waiting` is how many tokens of that were taken. */
export function turnResumed(invocationId: string, waiting: number): readonly LogEntry[] {
  return waiting > 0 ? [{ type: 'turn.resumed', invocationId }] : [];
}
