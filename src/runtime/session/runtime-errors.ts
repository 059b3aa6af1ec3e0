import { PetrichorError } from '../../core/index.ts';

/** The runtime has no agent of this name. */
export class UnknownAgentError extends PetrichorError {
  override readonly code = 'unknown_agent' as const;
  readonly agent: string;

  constructor(agent: string, known: readonly string[]) {
    super(
      `There is no agent "${agent}" here: the runtime was opened with ${known.join(', ') || 'none'}. Add it to \`agents\`.`,
    );
    this.agent = agent;
  }
}

/** The session was begun with another agent, and keeps it. */
export class AgentMismatchError extends PetrichorError {
  override readonly code = 'agent_mismatch' as const;
  readonly sessionId: string;

  constructor(sessionId: string, has: string, requested: string) {
    super(
      `Session "${sessionId}" belongs to agent "${has}", not "${requested}": open it with that one, or take another id.`,
    );
    this.sessionId = sessionId;
  }
}

/** No call of this id waits for an answer. Nothing was changed. */
export class CallNotPendingError extends PetrichorError {
  override readonly code = 'call_not_pending' as const;
  readonly callId: string;

  constructor(callId: string, pending: readonly string[]) {
    super(`No call "${callId}" waits for an answer. Waiting: ${pending.join(', ') || 'none'}.`);
    this.callId = callId;
  }
}

/** The session could not be brought back three times, and is left alone. Its log can be read. */
export class SessionQuarantinedError extends PetrichorError {
  override readonly code = 'session_quarantined' as const;
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(
      `Session "${sessionId}" could not be brought back three times and is left alone: read its log, fork it before the last turn, or delete it.`,
    );
    this.sessionId = sessionId;
  }
}

/** The runtime is closed. */
export class RuntimeClosedError extends PetrichorError {
  override readonly code = 'runtime_closed' as const;

  constructor() {
    super('The runtime is closed: open another one.');
  }
}
