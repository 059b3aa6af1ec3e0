import {
  isModelCallLimit,
  ROOT_INVOCATION_KEY,
  rootInvocationIn,
} from '../../agents/model/model-call-limit.ts';
import { TRACE_CONTEXT_KEY } from '../../agents/vocabulary/intercept-call.ts';
import type { ChildAgentOutcome, ChildAgentRequest } from '../../agents/index.ts';
import { deriveInvocationId, getStateScope, contentText } from '../../core/index.ts';
import type { CalledAgentWait, Json, LogEvent, StateDelta } from '../../core/index.ts';
import type { SessionRow } from '../../store/index.ts';
import type { Session } from '../session/session.ts';

/** A called agent's session, and the name under which that agent speaks. */
export interface ChildSession {
  readonly session: Session;
  readonly authorName: string;
}

/**
 * Runs one request in a child session until it is done, or waits for someone. The firing's id is the message's id, so
 * a request that is made again after a crash, or after an answer, finds its turn where it stands. Aborting interrupts
 * the child.
 * @throws Error when the child's turn ended before it was done
 */
export async function runInChildSession(
  { session: child, authorName }: ChildSession,
  call: ChildAgentRequest,
): Promise<ChildAgentOutcome> {
  const { request, firingId, signal, parks } = call;
  const invocationId = deriveInvocationId(firingId);
  const interrupt = (): void => void child.interrupt().catch(() => {});
  if (!signal.aborted)
    await child.send(request, { messageId: firingId, stateDelta: toChildState(call) }).accepted;
  // It may have been cancelled meanwhile: then nobody tells of it any more.
  if (signal.aborted) {
    interrupt();
    throw new Error('The call was cancelled.');
  }
  signal.addEventListener('abort', interrupt, { once: true });
  const done = new ChildOutcomeReader();
  try {
    for await (const event of child.events(0, { signal })) {
      if (!('seq' in event) || !('invocationId' in event) || event.invocationId !== invocationId)
        continue;
      if (event.type === 'turn.waiting' && parks) {
        // The log is read from its beginning: this wait may be over, and another one may have begun.
        const row = await child.status();
        if (row.status === 'waiting')
          return { kind: 'waiting', waits: toCalledAgentWaits(row, authorName) };
      }
      const outcome = done.take(event);
      if (outcome !== undefined) return outcome;
    }
    throw new Error('The call was cancelled.');
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

/** What a child's turn comes to, of the events of its log. */
class ChildOutcomeReader {
  readonly #delta = new Map<string, Json>();
  readonly #removed = new Set<string>();
  readonly #artifacts: Record<string, number> = {};
  #lastMessage = '';
  #isLimited = false;

  /** The outcome, once the turn has ended. @throws Error when it ended before it was done */
  take(event: LogEvent): ChildAgentOutcome | undefined {
    // What came with the request is the caller's own.
    if (event.type === 'state.changed' && event.author !== 'user') {
      for (const key of event.removed ?? []) {
        this.#delta.delete(key);
        this.#removed.add(key);
      }
      this.#set(event.delta);
    }
    if (event.type === 'agent.message' || event.type === 'tool.result') {
      this.#set(event.actions?.stateDelta ?? {});
      Object.assign(this.#artifacts, event.actions?.artifactDelta);
    }
    if (event.type === 'agent.message' && event.content.parts.length > 0)
      this.#lastMessage = contentText(event.content);
    if (event.type === 'error') this.#isLimited ||= isModelCallLimit(event.code);
    if (event.type !== 'turn.ended') return undefined;
    const { stopReason } = event;
    if (stopReason !== 'end_turn' && (stopReason !== 'budget_reached' || this.#isLimited))
      throw new Error(
        `The agent stopped before it was done (${stopReason}). It had said: ${this.#lastMessage}`,
      );
    return {
      kind: 'done',
      response: { result: this.#lastMessage },
      stateDelta: Object.fromEntries(this.#delta),
      removed: [...this.#removed],
      artifactDelta: this.#artifacts,
    };
  }

  #set(delta: StateDelta): void {
    for (const [key, value] of Object.entries(delta)) {
      if (getStateScope(key) === 'temp') continue;
      this.#removed.delete(key);
      this.#delta.set(key, value);
    }
  }
}

/** What the agent begins with: the caller's state. State of the user and of the app is shared as it is. */
function toChildState({ invocationId, state }: ChildAgentRequest): StateDelta {
  const own = Object.entries(state).filter(
    ([key]) => key !== TRACE_CONTEXT_KEY && !['user', 'app'].includes(getStateScope(key)),
  );
  return {
    ...Object.fromEntries(own),
    [ROOT_INVOCATION_KEY]: rootInvocationIn(state) ?? invocationId,
  };
}

/** The calls that a child waits for, as its caller shows them. */
function toCalledAgentWaits(
  { key, pending }: SessionRow,
  authorName: string,
): readonly CalledAgentWait[] {
  return pending.map(({ via: _via, invocationId: _invocationId, ...call }) => ({
    ...call,
    session: call.session ?? key.sessionId,
    path: [authorName, ...(call.path ?? [])],
  }));
}
