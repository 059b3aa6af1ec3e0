import type { LogEntry } from '../core/index.ts';
import type { CallResult } from './places.ts';

/** A result as the log shows it. */
export function resultEvent(author: string, result: CallResult): LogEntry {
  const { invocationId, callId, name, outcome, response, actions } = result;
  const acted = actions !== undefined && { actions };
  return { type: 'tool.result', invocationId, author, callId, name, outcome, response, ...acted };
}
