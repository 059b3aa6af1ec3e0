import * as v from 'valibot';
import type { Seq } from '../../../core/index.ts';

const parts = v.tuple([v.string(), v.pipe(v.number(), v.safeInteger(), v.minValue(1))]);

/** The id of an event names its session and its log entry, because ADK asks for an event without its session. */
export function formatAdkEventId(sessionId: string, seq: Seq): string {
  return Buffer.from(JSON.stringify([sessionId, seq])).toString('base64url');
}

/** Undefined for an id that is not from here. */
export function parseAdkEventId(
  id: string,
): { readonly sessionId: string; readonly seq: Seq } | undefined {
  try {
    const text = Buffer.from(id, 'base64url').toString('utf8');
    const parsed = v.safeParse(parts, JSON.parse(text));
    return parsed.success ? { sessionId: parsed.output[0], seq: parsed.output[1] } : undefined;
  } catch {
    return undefined;
  }
}
