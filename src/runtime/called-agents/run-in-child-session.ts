import {
  CALLERS_LIMIT_KEY,
  isCallRefusal,
  isTempMetadataKey,
  lowestLimitIn,
  ROOT_INVOCATION_KEY,
  rootInvocationIn,
} from '../../agents/internal.ts';
import type { ChildAgentOutcome, ChildAgentRequest, MessageMetadata } from '../../agents/index.ts';
import { isSharedKey, omitUndefined } from '../../core/internal.ts';
import { deriveInvocationId, getStateScope, contentText } from '../../core/index.ts';
import type { CalledAgentWait, Json, LogEvent, StateDelta } from '../../core/index.ts';
import type { SessionRow } from '../../store/index.ts';
import type { Session } from '../session/session.ts';

/** A request to a called agent, with the metadata of the caller's message. */
export interface ChildCall extends ChildAgentRequest {
  /** The called agent gets its run config and custom metadata. */
  readonly metadata: MessageMetadata;
}

/** A called agent's session, and the author of the agent's messages. */
export interface ChildSession {
  readonly session: Session;
  readonly authorName: string;
}

/**
 * Runs one request in a child session until the turn ends, or waits for an answer. The firing id is the message id,
 * so a request that is repeated after a crash or an answer continues the same turn. Aborting the signal interrupts
 * the child.
 * @throws Error when the call was aborted, the child's turn ended without completing, or its session was closed
 */
export async function runInChildSession(
  { session: child, authorName }: ChildSession,
  call: ChildCall,
): Promise<ChildAgentOutcome> {
  const { request, firingId, signal, parks, metadata } = call;
  const invocationId = deriveInvocationId(firingId);
  const interrupt = (): void => void child.interrupt().catch(() => {});
  if (!signal.aborted)
    await child.send(request, {
      messageId: firingId,
      stateDelta: toChildState(call),
      ...omitUndefined({ runConfig: metadata.runConfig, metadata: metadata.custom }),
    }).accepted;
  // If the call was aborted during `send`, no abort event follows.
  if (signal.aborted) {
    interrupt();
    throw new Error('The call was cancelled.');
  }
  signal.addEventListener('abort', interrupt, { once: true });
  const reader = new ChildOutcomeReader();
  try {
    for await (const event of child.events(0, { signal })) {
      if (event.type === 'session.archived' || event.type === 'session.completed')
        throw new Error('The session of the called agent was closed before it answered.');
      if (!('seq' in event) || !('invocationId' in event) || event.invocationId !== invocationId)
        continue;
      if (event.type === 'turn.waiting' && parks) {
        // The log is read from its start, so this wait may be over. The row has the current one.
        const row = await child.status();
        if (row.activity === 'waiting')
          return { kind: 'waiting', waits: toCalledAgentWaits(row, authorName) };
      }
      const outcome = reader.take(event);
      if (outcome !== undefined) return outcome;
    }
    throw new Error('The call was cancelled.');
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

/** Collects the outcome of a child's turn from its log events. */
class ChildOutcomeReader {
  readonly #delta = new Map<string, Json>();
  readonly #removed = new Set<string>();
  readonly #artifacts: Record<string, number> = {};
  #lastMessage = '';
  #isLimited = false;

  /** Returns the outcome when the event ends the turn. @throws Error when the turn ended without completing */
  take(event: LogEvent): ChildAgentOutcome | undefined {
    // State that came with the request is the caller's state already.
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
    if (event.type === 'error') this.#isLimited ||= isCallRefusal(event.code);
    if (event.type !== 'turn.ended') return undefined;
    const { stopReason } = event;
    if (stopReason !== 'end_turn' && (stopReason !== 'budget_reached' || this.#isLimited))
      throw new Error(
        `The agent stopped early (${stopReason}). Its last message: ${this.#lastMessage}`,
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

/** The child's initial state: a copy of the caller's state, without user and app state, which all sessions share. */
function toChildState({ invocationId, state, maxModelCalls }: ChildAgentRequest): StateDelta {
  const copied = Object.entries(state).filter(
    ([key]) => !isTempMetadataKey(key) && !isSharedKey(key),
  );
  return {
    ...Object.fromEntries(copied),
    [ROOT_INVOCATION_KEY]: rootInvocationIn(state) ?? invocationId,
    ...omitUndefined({ [CALLERS_LIMIT_KEY]: lowestLimitIn(state, maxModelCalls) }),
  };
}

/** Converts the child's pending calls to the form in which the calling session lists them. */
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
