import { PetrichorError } from '../../core/index.ts';
import { nearestName } from '../../core/internal.ts';

/**
 * The runtime has no agent with this name, or several agents and none was named.
 * @remedy Use one of the names in the message, or add the agent to `agents`.
 */
export class UnknownAgentError extends PetrichorError {
  override readonly code = 'unknown_agent' as const;
  readonly agent: string;

  /** @param agent the unknown name. Undefined: no agent was chosen. */
  constructor(agent: string | undefined, known: readonly string[]) {
    super(agent === undefined ? formatNoneChosen(known) : formatUnknown(agent, known));
    this.agent = agent ?? '(none named)';
  }
}

function formatNoneChosen(known: readonly string[]): string {
  const [first] = known;
  return first === undefined
    ? 'The runtime has no agents. Add one to `agents`.'
    : `The runtime has several agents: ${known.join(', ')}. Choose one: { agent: '${first}' }.`;
}

function formatUnknown(agent: string, known: readonly string[]): string {
  const nearest = nearestName(agent, known);
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return `Unknown agent "${agent}".${hint} The runtime has: ${known.join(', ') || 'none'}. Use one of them, or add the agent to \`agents\`.`;
}

/**
 * A session was opened with an agent that it does not belong to.
 * @remedy Open the session with its own agent, or use another id.
 */
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

/**
 * No call with this id waits for an answer. Nothing was changed.
 * @remedy Answer one of the calls of `session.pending()`.
 */
export class CallNotPendingError extends PetrichorError {
  override readonly code = 'call_not_pending' as const;
  readonly callId: string;

  constructor(callId: string, pending: readonly string[]) {
    super(`Call "${callId}" is not pending. Pending calls: ${pending.join(', ') || 'none'}.`);
    this.callId = callId;
  }
}

/**
 * A session is quarantined because it failed to load three times. Its log can still be read.
 * @remedy Remove the reason, then release the session with `petrichor unquarantine` or the operator route. Or fork it
 * before its last turn, or delete it.
 */
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

/**
 * A source of agents, or a toolset, did not close within `closeTimeoutMs`. The runtime no longer waits for it and closes.
 * It goes to `onError`.
 * @remedy Let the `close` of the named part end, or give it more time with `closeTimeoutMs`.
 */
export class CloseTimeoutError extends PetrichorError {
  override readonly code = 'close_timeout' as const;
  /** The option that the part was passed in, with its position, such as `agents[0]`. */
  readonly part: string;

  constructor(part: string, description: string, timeoutMs: number) {
    super(
      `${part} (${description}) did not close within ${timeoutMs} ms. The runtime no longer waits for it. Let its close end, or raise \`closeTimeoutMs\`.`,
    );
    this.part = part;
  }
}

/**
 * A runtime was used after `close`.
 * @remedy Open a new runtime, or close it later.
 */
export class RuntimeClosedError extends PetrichorError {
  override readonly code = 'runtime_closed' as const;

  constructor() {
    super('The runtime is closed. Open a new one.');
  }
}
