import type { LogEventByType } from '../../core/index.ts';

/**
 * True for a call that clients see as one of their own tools: a custom tool of a definition, or an external tool of an
 * agent from code. The calls of definitions have an origin.
 */
export function isCustomCall({
  origin,
  needs,
}: Pick<LogEventByType<'tool.call'>, 'origin' | 'needs'>): boolean {
  return origin === undefined ? needs === 'result' : origin.kind === 'custom';
}
