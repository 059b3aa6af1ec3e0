import { isFunctionCallPart, isFunctionResponsePart } from '../../core/index.ts';
import type { Content } from '../../core/index.ts';

/** Messages that are shown together or not at all: what was said, or an answer with calls and all that came until the last result. */
export interface ContextUnit {
  /** The first of its messages, counted from the beginning of the conversation, and the first that is not its own any more. */
  readonly from: number;
  readonly to: number;
  /** A person speaks: a turn begins. */
  readonly isUser: boolean;
}

/**
 * Divides a conversation so that no call is divided from its result, whatever stands between them: `to` of each is
 * `from` of the next.
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
