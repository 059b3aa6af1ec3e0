import { InvalidInputError, isJsonObject, parseUserContent } from '../../../core/index.ts';
import type { Json, JsonObject } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import { findCurrentWait } from '../../../runtime/internal.ts';
import type { Caller } from '../../auth/api-keys.ts';
import { toSessionKey, toSessionRef } from '../../events/session-log.ts';
import { HttpError } from '../../http/http-error.ts';
import { getWorkspaceAgent } from '../../routes/workspace-agents.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { findCallerSession, openCallerSession } from '../caller-session.ts';
import { findOpenRun, findRun, toNewRun } from '../find-run.ts';
import { sendInputs } from '../send-inputs.ts';
import type { ClientInput } from '../send-inputs.ts';
import { readRun, toOpenCall } from '../session-run.ts';
import type { SessionRun } from '../session-run.ts';
import type { OpenCall, RunEnded } from '../session-update.ts';
import { toAnswerInput } from './agent-tool.ts';
import type { AgentArguments } from './agent-tool.ts';

/** A call of an agent's tool. */
export interface AgentToolCall {
  readonly caller: Caller;
  readonly agentId: string;
  readonly args: AgentArguments;
  /** The id of a message that has none of its own: the same when the client sends the request again. */
  readonly messageId: string;
  readonly clientTools: Extract<ClientInput, { readonly type: 'message' }>['clientTools'];
  /** What the client answered to the questions of an earlier result, and its state. */
  readonly answered?: { readonly state: string; readonly responses: JsonObject } | undefined;
  /** Aborts when the client cancels the call. */
  readonly signal: AbortSignal;
  /** Receives texts and calls while the agent works. */
  readonly onProgress?: ((text: string) => void) | undefined;
}

/** The outcome of a call. */
export interface AgentToolResult {
  readonly session: ManagedSession;
  readonly ended: RunEnded;
  readonly text: string;
  readonly toolResults: readonly JsonObject[];
}

/**
 * Sends a message or answers to an agent, and resolves when its turn has ended or waits. Cancelling the call interrupts
 * the turn.
 * @throws HttpError 503 when the server closes before; the errors of `sendInputs`
 */
export async function callAgentTool(
  context: ServerContext,
  call: AgentToolCall,
): Promise<AgentToolResult> {
  const { caller, signal, onProgress } = call;
  if (call.args.interrupt === true) return interruptSession(context, call);
  const inputs = toInputs(call);
  const session = await openSession(context, call);
  const [first, ...rest] = inputs;
  if (first === undefined) return readWait(context, session);
  const run = await sendInputs(context, caller, session, [first, ...rest]);
  const result = await followRun(context, run, { signal, onProgress });
  if (result !== undefined) return result;
  if (!context.closing.aborted) await interruptRun(context, run);
  throw notEnded();
}

/** Stops the turn of a session that runs or waits, for a client that cannot cancel a call. */
async function interruptSession(
  context: ServerContext,
  { caller, agentId, args: { session_id: id = '' }, signal }: AgentToolCall,
): Promise<AgentToolResult> {
  const session = await findCallerSession(context, caller, id);
  if (session === undefined || session.agentId !== agentId)
    throw new InvalidInputError('session_id', 'names no session of this agent.');
  const invocationId = await findCurrentTurn(context, session);
  if (invocationId === undefined) return readWait(context, session);
  await context.runtime.interrupt(toSessionRef(session), { invocationId });
  const run = (await findRun(context, session, invocationId)) ?? toNewRun(session, [invocationId]);
  // Its waits end by the interrupt.
  const ended = { ...run, waitsAfter: Number.MAX_SAFE_INTEGER };
  const result = await followRun(context, ended, { signal });
  if (result !== undefined) return result;
  throw notEnded();
}

function notEnded(): HttpError {
  return new HttpError(
    503,
    'The turn has not ended. Call again with the same session_id and message_id.',
    { retryAfterSeconds: 1 },
  );
}

/** Reads a run to its end. Undefined: the signal aborted, or the server closes. */
async function followRun(
  context: ServerContext,
  run: SessionRun,
  { signal, onProgress }: Pick<AgentToolCall, 'signal' | 'onProgress'>,
): Promise<AgentToolResult | undefined> {
  const { session } = run;
  const texts = new Map<string, string>();
  const toolResults: JsonObject[] = [];
  const signals = AbortSignal.any([signal, context.closing]);
  const options = { signal: signals, previews: onProgress !== undefined };
  for await (const { update, isShown } of readRun(context, run, options)) {
    switch (update.type) {
      case 'text.delta':
        if (update.kind === 'thinking' || isShown) break;
        texts.set(update.messageId, (texts.get(update.messageId) ?? '') + update.text);
        onProgress?.(update.text);
        break;
      case 'text.dropped':
        texts.delete(update.messageId);
        break;
      case 'tool.call':
        onProgress?.(`Calls ${update.name}.`);
        break;
      case 'tool.progress':
        onProgress?.(update.text);
        break;
      case 'agent.started':
      case 'node.started':
        onProgress?.(`${update.author} begins.`);
        break;
      case 'tool.result': {
        const { callId: call_id, name, outcome, response } = update;
        toolResults.push({ call_id, name, outcome, response });
        break;
      }
      case 'run.ended':
        return { session, ended: update, text: [...texts.values()].join('\n'), toolResults };
      default:
    }
  }
  return undefined;
}

/** The state of a result that asks: which calls of which session. */
export function formatState(session: ManagedSession, waits: readonly OpenCall[]): string {
  const asked = waits.map(({ callId, needs }) => ({ call_id: callId, needs }));
  return JSON.stringify({ session_id: session.id, asked });
}

/** The client has the state, and may have changed it: all of it is checked as any other argument is. */
function parseState(text: string): {
  readonly sessionId: string;
  readonly asked: readonly JsonObject[];
} {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) {
      const { session_id: sessionId, asked } = value;
      if (typeof sessionId === 'string' && Array.isArray(asked))
        return { sessionId, asked: asked.filter(isJsonObject) };
    }
  } catch {
    // Not JSON.
  }
  throw new InvalidInputError('requestState', 'must be the requestState of an earlier result.');
}

async function openSession(
  context: ServerContext,
  { caller, agentId, args, messageId, answered }: AgentToolCall,
): Promise<ManagedSession> {
  const id = answered === undefined ? args.session_id : parseState(answered.state).sessionId;
  if (id !== undefined) return openCallerSession(context, caller, { id, agentId });
  const agent = await getWorkspaceAgent(context, caller.workspace, agentId);
  const dedupeKey = `mcp:${agentId}:${args.message_id ?? messageId}`;
  return context.runtime.startSession(agent.id, { userId: caller.workspace }, { dedupeKey });
}

function toInputs({
  args,
  messageId,
  clientTools,
  answered,
}: AgentToolCall): readonly ClientInput[] {
  if (answered !== undefined) {
    const { asked } = parseState(answered.state);
    return asked.flatMap(({ call_id, needs }) =>
      typeof call_id === 'string'
        ? toAnswer(call_id, needs === 'result', answered.responses[call_id])
        : [],
    );
  }
  const answers = (args.answers ?? []).map((answer, index) => {
    const input = toAnswerInput(answer);
    if (input !== undefined) return input;
    throw new InvalidInputError(`answers[${index}]`, 'must have approved, or result.');
  });
  if (args.message === undefined && answers.length > 0) return answers;
  const { message = '' } = args;
  if (message === '')
    throw new InvalidInputError('message', 'is missing. Say what to tell the agent.');
  return [
    ...answers,
    {
      type: 'message',
      messageId: args.message_id ?? messageId,
      content: parseUserContent({ role: 'user', parts: [{ text: message }] }),
      ...omitUndefined({ clientTools }),
    },
  ];
}

/** The answer of a person. Without one, the call goes on waiting. */
function toAnswer(callId: string, isResult: boolean, response: unknown): readonly ClientInput[] {
  const { action, content } = isJsonObject(response) ? response : {};
  if (action === 'decline') return [{ type: 'deny', callId }];
  if (action !== 'accept' || !isJsonObject(content)) return [];
  const { approved, message, result } = content;
  if (isResult)
    return result === undefined ? [] : [{ type: 'result', callId, response: toResponse(result) }];
  if (approved === true) return [{ type: 'approve', callId }];
  return [
    {
      type: 'deny',
      callId,
      ...omitUndefined({ message: typeof message === 'string' ? message : undefined }),
    },
  ];
}

/** A form has no objects, so a person writes one as JSON. */
function toResponse(result: Json): Json {
  if (typeof result !== 'string') return result;
  try {
    const value: unknown = JSON.parse(result);
    return isJsonObject(value) ? value : result;
  } catch {
    return result;
  }
}

/** The result of a call that changes nothing: what the session waits for. */
async function readWait(context: ServerContext, session: ManagedSession): Promise<AgentToolResult> {
  const pending = await context.runtime.pending(toSessionRef(session));
  const [first] = pending;
  return {
    session,
    text: '',
    toolResults: [],
    ended: {
      type: 'run.ended',
      invocationId: first?.invocationId ?? '',
      outcome: first === undefined ? 'completed' : 'waiting',
      waits: pending.map(toOpenCall),
      isQueued: false,
    },
  };
}

/** Stops the turn of a call. A message that waits for its turn stays, and its turn begins. */
async function interruptRun(
  context: ServerContext,
  { session, invocationIds }: SessionRun,
): Promise<void> {
  const now = await context.runtime.getSession(toSessionRef(session));
  const current = await findCurrentTurn(context, now);
  if (current !== undefined && invocationIds.includes(current))
    await context.runtime.interrupt(toSessionRef(session), { invocationId: current });
}

/** The turn that runs or waits: the one that an interrupt stops. */
async function findCurrentTurn(
  context: ServerContext,
  session: ManagedSession,
): Promise<string | undefined> {
  const wait = await findCurrentWait(context.store, toSessionKey(session));
  if (wait !== undefined) return wait.invocationId;
  return (await findOpenRun(context, session))?.invocationIds[0];
}
