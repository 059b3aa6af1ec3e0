import { PetrichorError } from '../../core/index.ts';

/** Thrown when the runtime has no agent with this name. */
export class UnknownAgentError extends PetrichorError {
  override readonly code = 'unknown_agent' as const;
  readonly agent: string;

  constructor(agent: string, known: readonly string[]) {
    super(
      `Unknown agent "${agent}". The runtime has: ${known.join(', ') || 'none'}. Add the agent to \`agents\`.`,
    );
    this.agent = agent;
  }
}

/** Thrown when a session is opened with an agent that it does not belong to. */
export class AgentMismatchError extends PetrichorError {
  override readonly code = 'agent_mismatch' as const;
  readonly sessionId: string;

  constructor(sessionId: string, has: string, requested: string) {
    super(
      `Session "${sessionId}" belongs to agent "${has}", not "${requested}". Open it with "${has}", or use another id.`,
    );
    this.sessionId = sessionId;
  }
}

/** Thrown when no call with this id waits for an answer. Nothing was changed. */
export class CallNotPendingError extends PetrichorError {
  override readonly code = 'call_not_pending' as const;
  readonly callId: string;

  constructor(callId: string, pending: readonly string[]) {
    super(`Call "${callId}" is not pending. Pending calls: ${pending.join(', ') || 'none'}.`);
    this.callId = callId;
  }
}

/** Thrown when a session is quarantined because it failed to load three times. Its log can still be read. */
export class SessionQuarantinedError extends PetrichorError {
  override readonly code = 'session_quarantined' as const;
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(
      `Session "${sessionId}" is quarantined: it failed to load three times. Read its log, fork it before the last turn, or delete it.`,
    );
    this.sessionId = sessionId;
  }
}

/** Thrown when a runtime is used after `close`. */
export class RuntimeClosedError extends PetrichorError {
  override readonly code = 'runtime_closed' as const;

  constructor() {
    super('The runtime is closed. Open a new one.');
  }
}
