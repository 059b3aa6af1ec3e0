import { isFunctionCallPart, isFunctionResponsePart } from '../../core/index.ts';
import type { Content } from '../../core/index.ts';

/**
 * Messages that are shown together or not at all: one message, or an answer with calls and all messages up to its last
 * result.
 */
export interface ContextUnit {
  /** Index of the unit's first message in the conversation; `to` is the index after its last message. */
  readonly from: number;
  readonly to: number;
  /** True for a user message, which begins a turn. */
  readonly isUser: boolean;
}

/**
 * Divides a conversation into units without separating a call from its result, whatever messages are between them. The
 * `to` of each unit is the `from` of the next.
 */
export function contextUnits(contents: readonly Content[]): readonly ContextUnit[] {
  const lastResultAt = new Map<string, number>();
  for (const [i, { parts }] of contents.entries()) {
    for (const { functionResponse } of parts.filter(isFunctionResponsePart))
      lastResultAt.set(functionResponse.id, i);
  }
  const units: { from: number; to: number; isUser: boolean }[] = [];
  let openUntil = -1;
  for (const [i, { role, parts }] of contents.entries()) {
    const current = units.at(-1);
    if (current === undefined || (i > openUntil && role !== 'tool'))
      units.push({ from: i, to: i + 1, isUser: role === 'user' });
    else current.to = i + 1;
    for (const { functionCall } of parts.filter(isFunctionCallPart))
      openUntil = Math.max(openUntil, lastResultAt.get(functionCall.id) ?? i);
  }
  return units;
}
