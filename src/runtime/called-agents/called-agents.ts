import { answerIn } from '../../agents/internal.ts';
import { directChildSessionId, parentSessionId, isDescendantSession } from '../../core/index.ts';
import type { Seq, SessionKey } from '../../core/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import { IllegalTransitionError } from '../session/illegal-transition-error.ts';
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
 * Keeps calls of agents and the sessions of the called agents in step. While a called agent waits for an answer, the
 * call is parked in the calling session. When the agent resumes, in any process, the call resumes. When the call
 * ends, the agent is interrupted.
 */
export class CalledAgents {
  readonly #options: CalledAgentsOptions;

  constructor(options: CalledAgentsOptions) {
    this.#options = options;
  }

  /** Resumes the call that waits for a called agent whose turn resumed or ended. */
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

  /**
   * Resumes the session's calls whose agents do not wait any more. The agent may have resumed before the call was
   * parked, or a crash may have lost the notification.
   */
  async resumeSettledCalls({ key, pending }: Pick<SessionRow, 'key' | 'pending'>): Promise<void> {
    for (const [child, via] of listCalledSessions(key, pending)) {
      await this.#reportingErrors(child, async () => {
        const row = await this.#options.store.find(child);
        if (row?.activity !== 'waiting' || row.status === 'quarantined')
          await this.#resumeCall(key, via, `${child.sessionId}:${row?.lastSeq ?? 0}`);
      });
    }
  }

  /** Interrupts the agents that the session's calls waited for, when its turn has ended. */
  async interruptCalled({ key, pending }: Pick<SessionRow, 'key' | 'pending'>): Promise<void> {
    for (const [child] of listCalledSessions(key, pending)) {
      await this.#reportingErrors(child, async () => {
        const row = await this.#options.store.find(child);
        if (row !== undefined && row.activity !== 'idle') await this.#options.interrupt(child);
      });
    }
  }

  /** Interrupts the busy agents of an idle session, in case a crash lost the interrupt. */
  async interruptOrphans(key: SessionKey): Promise<void> {
    await this.#reportingErrors(key, async () => {
      const rows = await this.#options.store.list({ ...key, parent: key.sessionId });
      const busy = rows.filter(
        ({ status, activity, inboxPending }) =>
          status !== 'quarantined' && (activity !== 'idle' || inboxPending),
      );
      if (busy.length === 0) return;
      // Check after the list: agents that a new turn has called meanwhile must not be interrupted.
      if ((await this.#options.store.find(key))?.activity !== 'idle') return;
      for (const child of busy) await this.#options.interrupt(child.key);
    });
  }

  async #resumeCall(key: SessionKey, callId: string, dedupe: string): Promise<void> {
    const value = { callId, decision: 'answered', response: {} };
    await this.#options.inject(key, { place: answerIn.name, value }, `wake:${callId}:${dedupe}`);
  }

  /** Reports an error instead of throwing it: the work is repeated when the session is opened again. */
  async #reportingErrors(key: SessionKey, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // A session that was deleted or closed runs nothing.
      const isGone =
        error instanceof SessionNotFoundError || error instanceof IllegalTransitionError;
      if (!isGone) this.#options.onError(error, key);
    }
  }
}

/** Lists the sessions of the agents that pending calls wait for, each with the id of the call. */
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
