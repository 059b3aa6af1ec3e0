import type { Caller } from './api-keys.ts';

/** How many answers are remembered. */
const KEPT = 1000;

/**
 * Which keys gave the latest answers that this process accepted. The journal says when a call was answered, and not by
 * whom.
 */
export class AnswerAuthors {
  readonly #keyIds = new Map<string, string>();

  add(sessionId: string, callId: string, { keyId }: Caller): void {
    this.#keyIds.set(toKey(sessionId, callId), keyId);
    for (const oldest of this.#keyIds.keys()) {
      if (this.#keyIds.size <= KEPT) break;
      this.#keyIds.delete(oldest);
    }
  }

  find(sessionId: string, callId: string): string | undefined {
    return this.#keyIds.get(toKey(sessionId, callId));
  }
}

function toKey(sessionId: string, callId: string): string {
  return JSON.stringify([sessionId, callId]);
}
