import {
  isModelCallLimit,
  ROOT_INVOCATION_KEY,
  rootInvocationIn,
} from '../agents/model-call-limit.ts';
import { CARRIED_KEY } from '../agents/watched-call.ts';
import type { ChildOutcome, ChildRequest } from '../agents/index.ts';
import { invocationIdOf, stateScopeOf, textOf } from '../core/index.ts';
import type { CalledAgentWait, Json, LogEvent, StateDelta } from '../core/index.ts';
import type { SessionRow } from '../store/index.ts';
import type { Session } from './session.ts';

/** A called agent's session, and the name under which that agent speaks. */
export interface ChildSession {
  readonly session: Session;
  readonly speaker: string;
}

/**
 * Runs one request in a child session until it is done, or waits for someone. The firing's id is the message's id, so
 * a request that is made again after a crash, or after an answer, finds its turn where it stands. Aborting interrupts
 * the child.
 * @throws Error when the child's turn ended before it was done
 */
export async function runInChild(
  { session: child, speaker }: ChildSession,
  called: ChildRequest,
): Promise<ChildOutcome> {
  const { request, firingId, signal, parks } = called;
  const invocationId = invocationIdOf(firingId);
  const interrupt = (): void => void child.interrupt().catch(() => {});
  if (!signal.aborted)
    await child.send(request, { messageId: firingId, stateDelta: stateFor(called) }).accepted;
  // It may have been cancelled meanwhile: then nobody tells of it any more.
  if (signal.aborted) {
    interrupt();
    throw new Error('The call was cancelled.');
  }
  signal.addEventListener('abort', interrupt, { once: true });
  const done = new ChildDone();
  try {
    for await (const event of child.events(0, { signal })) {
      if (!('seq' in event) || !('invocationId' in event) || event.invocationId !== invocationId)
        continue;
      if (event.type === 'turn.waiting' && parks) {
        // The log is read from its beginning: this wait may be over, and another one may have begun.
        const row = await child.status();
        if (row.status === 'waiting') return { kind: 'waiting', waits: waitsOf(row, speaker) };
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
class ChildDone {
  readonly #delta = new Map<string, Json>();
  readonly #removed = new Set<string>();
  readonly #artifacts: Record<string, number> = {};
  #said = '';
  #isLimited = false;

  /** The outcome, once the turn has ended. @throws Error when it ended before it was done */
  take(event: LogEvent): ChildOutcome | undefined {
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
      this.#said = textOf(event.content);
    if (event.type === 'error') this.#isLimited ||= isModelCallLimit(event.code);
    if (event.type !== 'turn.ended') return undefined;
    const { stopReason } = event;
    if (stopReason !== 'end_turn' && (stopReason !== 'budget_reached' || this.#isLimited))
      throw new Error(
        `The agent stopped before it was done (${stopReason}). It had said: ${this.#said}`,
      );
    return {
      kind: 'done',
      response: { result: this.#said },
      stateDelta: Object.fromEntries(this.#delta),
      removed: [...this.#removed],
      artifactDelta: this.#artifacts,
    };
  }

  #set(delta: StateDelta): void {
    for (const [key, value] of Object.entries(delta)) {
      if (stateScopeOf(key) === 'temp') continue;
      this.#removed.delete(key);
      this.#delta.set(key, value);
    }
  }
}

/** What the agent begins with: the caller's state. State of the user and of the app is shared as it is. */
function stateFor({ invocationId, state }: ChildRequest): StateDelta {
  const own = Object.entries(state).filter(
    ([key]) => key !== CARRIED_KEY && !['user', 'app'].includes(stateScopeOf(key)),
  );
  return {
    ...Object.fromEntries(own),
    [ROOT_INVOCATION_KEY]: rootInvocationIn(state) ?? invocationId,
  };
}

/** The calls that a child waits for, as its caller shows them. */
function waitsOf({ key, pending }: SessionRow, speaker: string): readonly CalledAgentWait[] {
  return pending.map(({ via: _via, invocationId: _invocationId, ...call }) => ({
    ...call,
    session: call.session ?? key.sessionId,
    path: [speaker, ...(call.path ?? [])],
  }));
}
