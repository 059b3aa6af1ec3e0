import { sha256Hex } from '../../core/index.ts';
import type { SessionId } from '../../core/index.ts';

/** The wire's id of the thread in which a session works. */
export function toThreadId(session: SessionId): string {
  return `sthr_${sha256Hex(session).slice(0, 24)}`;
}
