import { answerIn } from '../../agents/vocabulary/messages.ts';
import { directChildSessionId, parentSessionId, isDescendantSession } from '../../core/index.ts';
import type { Seq, SessionKey } from '../../core/index.ts';
import { SessionNotFoundError } from '../../store/store-errors.ts';
import type {
  InjectReceipt,
  InboxInput,
  StoredPendingCall,
  SessionRow,
  Store,
} from '../../store/index.ts';

export interface CalledAgentsOptions {
  readonly store: Store;
  readonly inject: (
    key: SessionKey,
    input: InboxInput,
    dedupeKey: string,
  ) => Promise<InjectReceipt>;
  readonly interrupt: (key: SessionKey) => Promise<void>;
  readonly onError: (error: unknown, key: SessionKey) => void;
}

/**
 * Keeps calls of agents and the sessions of these agents together. A call waits as a token of its session while its agent
 * waits for someone. It goes on when the agent does, whoever made the agent go on, in whichever process; and the agent
 * is interrupted when the call is over.
 */
export class CalledAgents {
  readonly #options: CalledAgentsOptions;

  constructor(options: CalledAgentsOptions) {
    this.#options = options;
  }

  /** A called agent's turn goes on, or is over: the call that waits for it goes on. */
  async resumeCaller(child: SessionKey, seq: Seq): Promise<void> {
    const parent = parentSessionId(child.sessionId);
    if (parent === undefined) return;
    await this.#reportingErrors(child, async () => {
      const row = await this.#options.store.find({ ...child, sessionId: parent });
      const call = row?.pending.find(({ session = '' }) =>
        isSameOrDescendant(session, child.sessionId),
      );
      if (row !== undefined && call?.via !== undefined)
        await this.#resumeCall(row.key, call.via, `${child.sessionId}:${seq}`);
    });
  }

  /** A session's calls wait for agents that may have gone on by now: before this was committed, or before a crash. */
  async resumeSettledCalls({ key, pending }: Pick<SessionRow, 'key' | 'pending'>): Promise<void> {
    for (const [child, via] of listCalledSessions(key, pending)) {
      await this.#reportingErrors(child, async () => {
        const row = await this.#options.store.find(child);
        if (row?.status !== 'waiting')
          await this.#resumeCall(key, via, `${child.sessionId}:${row?.lastSeq ?? 0}`);
      });
    }
  }

  /** A session's turn is over: the agents that its calls waited for stop. */
  async interruptCalled({ key, pending }: Pick<SessionRow, 'key' | 'pending'>): Promise<void> {
    for (const [child] of listCalledSessions(key, pending)) {
      await this.#reportingErrors(child, async () => {
        const row = await this.#options.store.find(child);
        if (row !== undefined && row.status !== 'idle') await this.#options.interrupt(child);
      });
    }
  }

  /** A session at rest was brought back: the agents that it called stop, if a crash kept it from telling them. */
  async interruptOrphans(key: SessionKey): Promise<void> {
    await this.#reportingErrors(key, async () => {
      const rows = await this.#options.store.list({ ...key, parent: key.sessionId });
      const busy = rows.filter(
        ({ status, inboxPending }) =>
          status === 'running' || status === 'waiting' || (status === 'idle' && inboxPending),
      );
      if (busy.length === 0) return;
      // After the list: what a new turn has called meanwhile is not left over.
      if ((await this.#options.store.find(key))?.status !== 'idle') return;
      for (const child of busy) await this.#options.interrupt(child.key);
    });
  }

  async #resumeCall(key: SessionKey, callId: string, dedupe: string): Promise<void> {
    const value = { callId, decision: 'answered', response: {} };
    await this.#options.inject(key, { place: answerIn.name, value }, `wake:${callId}:${dedupe}`);
  }

  /** What cannot be done now is done when the session is opened again. */
  async #reportingErrors(key: SessionKey, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) this.#options.onError(error, key);
    }
  }
}

/** The sessions of the agents that a session's waiting calls called, each with the call. */
function listCalledSessions(
  key: SessionKey,
  pending: readonly StoredPendingCall[],
): readonly (readonly [SessionKey, string])[] {
  const calls = new Map(
    pending.flatMap(({ session, via }) =>
      session === undefined || via === undefined
        ? []
        : [[directChildSessionId(key.sessionId, session), via] as const],
    ),
  );
  return [...calls].map(([sessionId, via]) => [{ ...key, sessionId }, via] as const);
}

function isSameOrDescendant(session: string, child: string): boolean {
  return session === child || isDescendantSession(session, child);
}
