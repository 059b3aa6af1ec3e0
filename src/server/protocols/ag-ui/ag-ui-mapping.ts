import type { JsonObject, LogEventByType, StateDelta, Usage } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { OpenCall, RunEnded, SessionUpdate, TextKind } from '../session-update.ts';
import { MessageHistory } from './message-history.ts';
import type { ClientMessage } from './run-input.ts';
import { SubagentRuns } from './subagent-runs.ts';
import type { EventAuthor } from './subagent-runs.ts';
import { toThoughtId } from './thought-id.ts';

export interface AgUiRun {
  readonly threadId: string;
  readonly runId: string;
  /** The state of the client, with that of the session in it. */
  readonly state: JsonObject;
  /** The calls whose results the request has. The client has their messages. */
  readonly answered: ReadonlySet<string>;
  /** The messages of the client. */
  readonly messages: readonly ClientMessage[];
  /** True: the client may have a part of the run. Its messages are reset to those before the run. */
  readonly isReplay: boolean;
}

/**
 * Maps the updates of a session to the events of AG-UI. It gets the updates before the run first, so that it has the whole
 * conversation.
 */
export class AgUiMapping {
  readonly #run: AgUiRun;
  readonly #history = new MessageHistory();
  readonly #subagents = new SubagentRuns();
  /** The last message of each agent. */
  readonly #lastMessages = new Map<string, string>();

  constructor(run: AgUiRun) {
    this.#run = run;
  }

  /** The events that show an update. */
  map(update: SessionUpdate): readonly JsonObject[] {
    const speaker = findSpeaker(update);
    const fields = speaker === undefined ? {} : this.#toSpeaker(speaker);
    const key = speaker?.branch ?? speaker?.author ?? '';
    const parentMessageId = this.#lastMessages.get(key);
    this.#history.apply(update, { parentMessageId, fields });
    switch (update.type) {
      case 'run.started':
        return this.#start();
      case 'text.start':
        return TEXT_EVENTS[update.kind].start(update.messageId, fields);
      case 'text.delta':
        return TEXT_EVENTS[update.kind].delta(update.messageId, update.text);
      case 'text.end':
      case 'text.dropped':
        return TEXT_EVENTS[update.kind].end(update.messageId);
      case 'agent.message':
        this.#lastMessages.set(key, update.messageId);
        return toStateEvents(update.actions?.stateDelta ?? {}, []);
      case 'tool.call':
        this.#subagents.addCall(update.callId, update);
        return toCallEvents(update, { ...omitUndefined({ parentMessageId }), ...fields });
      case 'tool.result':
        return this.#toResultEvents(update, fields);
      case 'state.changed':
        return toStateEvents(update.delta, update.removed ?? []);
      case 'tool.progress': {
        const value = { toolCallId: update.callId, text: update.text };
        return [{ type: 'CUSTOM', name: 'tool_progress', value }];
      }
      case 'agent.started':
      case 'node.started':
        return this.#subagents.start(update);
      case 'agent.ended':
      case 'node.ended':
        return this.#subagents.end(update);
      case 'turn.ended':
        return this.#subagents.endTurn(update.invocationId, update.stopReason);
      case 'run.ended':
        return [
          ...this.#subagents.suspend(update.waits),
          this.#toSnapshot(),
          toEnd(update, this.#run),
        ];
      default:
        return [];
    }
  }

  #start(): readonly JsonObject[] {
    const { threadId, runId, state, messages, isReplay } = this.#run;
    // The client appends messages that it does not have, so it must get them before those of the run.
    const isReset = isReplay || this.#history.isMissingFrom(messages);
    return [
      { type: 'RUN_STARTED', threadId, runId },
      { type: 'STATE_SNAPSHOT', snapshot: state },
      ...(isReset ? [this.#toSnapshot()] : []),
      ...this.#subagents.resume(),
    ];
  }

  #toSnapshot(): JsonObject {
    const messages = [...this.#history.toMessages(this.#run.messages)];
    return { type: 'MESSAGES_SNAPSHOT', messages };
  }

  #toResultEvents(
    { callId: toolCallId, response, actions }: LogEventByType<'tool.result'>,
    { subagentRunId }: JsonObject,
  ): readonly JsonObject[] {
    const changes = toStateEvents(actions?.stateDelta ?? {}, []);
    if (this.#run.answered.has(toolCallId)) return changes;
    const content = JSON.stringify(response);
    return [
      ...changes,
      {
        type: 'TOOL_CALL_RESULT',
        messageId: `${toolCallId}-result`,
        toolCallId,
        content,
        role: 'tool',
        ...omitUndefined({ subagentRunId }),
      },
    ];
  }

  /** Which agent speaks. */
  #toSpeaker({ author, branch }: EventAuthor): JsonObject {
    const subagentRunId = this.#subagents.findId({ author, branch });
    return {
      metadata: { agent: author, ...omitUndefined({ branch }) },
      ...omitUndefined({ subagentRunId }),
    };
  }
}

function findSpeaker(update: SessionUpdate): EventAuthor | undefined {
  if (!('author' in update) || update.author === undefined) return undefined;
  return { author: update.author, branch: 'branch' in update ? update.branch : undefined };
}

function toCallEvents(
  { callId: toolCallId, name: toolCallName, args }: LogEventByType<'tool.call'>,
  fields: JsonObject,
): readonly JsonObject[] {
  return [
    { type: 'TOOL_CALL_START', toolCallId, toolCallName, ...fields },
    { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(args) },
    { type: 'TOOL_CALL_END', toolCallId },
  ];
}

interface TextEvents {
  readonly start: (messageId: string, speaker: JsonObject) => readonly JsonObject[];
  readonly delta: (messageId: string, delta: string) => readonly JsonObject[];
  readonly end: (messageId: string) => readonly JsonObject[];
}

const TEXT_EVENTS: Readonly<Record<TextKind, TextEvents>> = {
  text: {
    start: (messageId, speaker) => [
      { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...speaker },
    ],
    delta: (messageId, delta) => [{ type: 'TEXT_MESSAGE_CONTENT', messageId, delta }],
    end: (messageId) => [{ type: 'TEXT_MESSAGE_END', messageId }],
  },
  thinking: {
    start: (id, speaker) => [
      { type: 'REASONING_START', messageId: toSpanId(id), ...speaker },
      {
        type: 'REASONING_MESSAGE_START',
        messageId: toThoughtId(id),
        role: 'reasoning',
        ...speaker,
      },
    ],
    delta: (id, delta) => [
      { type: 'REASONING_MESSAGE_CONTENT', messageId: toThoughtId(id), delta },
    ],
    end: (id) => [
      { type: 'REASONING_MESSAGE_END', messageId: toThoughtId(id) },
      { type: 'REASONING_END', messageId: toSpanId(id) },
    ],
  },
};

/** The id of the span of thinking that has a message with thoughts. */
function toSpanId(messageId: string): string {
  return `${messageId}-reasoning`;
}

/** A JSON Patch of the members of the state. A member is added before it is removed, for a client that never had it. */
function toStateEvents(delta: StateDelta, removed: readonly string[]): readonly JsonObject[] {
  const isShown = (key: string): boolean => !key.startsWith('temp:');
  const changes = Object.entries(delta).flatMap(([key, value]): readonly JsonObject[] =>
    isShown(key) ? [{ op: 'add', path: toPointer(key), value }] : [],
  );
  const removals = removed.flatMap((key): readonly JsonObject[] =>
    isShown(key)
      ? [
          { op: 'add', path: toPointer(key), value: null },
          { op: 'remove', path: toPointer(key) },
        ]
      : [],
  );
  const patch = [...changes, ...removals];
  return patch.length === 0 ? [] : [{ type: 'STATE_DELTA', delta: patch }];
}

function toPointer(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function toEnd(
  { outcome, waits, error, stopReason, usage }: RunEnded,
  { threadId, runId }: AgUiRun,
): JsonObject {
  const tokens = usage === undefined ? undefined : [toTokenUsage(usage)];
  const finished = {
    type: 'RUN_FINISHED',
    threadId,
    runId,
    ...omitUndefined({ usage: tokens }),
  };
  switch (outcome) {
    case 'waiting': {
      if (waits.every(isFrontEndCall)) {
        const pendingToolCallIds = waits.map(({ callId }) => callId);
        return { ...finished, outcome: { type: 'success', pendingToolCallIds } };
      }
      return { ...finished, outcome: { type: 'interrupt', interrupts: waits.map(toInterrupt) } };
    }
    case 'interrupted':
      return { ...finished, outcome: { type: 'cancelled' } };
    case 'completed':
      return {
        ...finished,
        result: omitUndefined({ stopReason }),
        outcome: { type: 'success', pendingToolCallIds: [] },
      };
    case 'failed':
      return {
        type: 'RUN_ERROR',
        message: error?.message ?? 'The turn failed. See the log of the server.',
        ...omitUndefined({ code: error?.code, usage: tokens }),
      };
    case 'closed':
      return {
        type: 'RUN_ERROR',
        message: 'The session was closed.',
        /**
         * The session was completed, archived or deleted while a client read its run.
         * @remedy Start another session.
         */
        code: 'session_closed',
      };
    default:
      return outcome satisfies never;
  }
}

/** A call that the client's front end runs. Others that wait for a result have asked a question. */
function isFrontEndCall({ needs, request, path }: OpenCall): boolean {
  return needs === 'result' && request === undefined && path.length === 0;
}

function toInterrupt({ callId, name, needs, request, path, reason, args }: OpenCall): JsonObject {
  const isApproval = needs === 'approval';
  const agent = path.length === 0 ? '' : ` of ${path.join(' > ')}`;
  return {
    id: callId,
    reason: isApproval ? 'confirmation' : 'input_required',
    toolCallId: callId,
    message: isApproval
      ? `Approve the call of ${name}${agent}?${reason === 'crash' ? ' It may have run: the process died during it.' : ''}`
      : `${name}${agent} waits for an answer.`,
    ...(isApproval && { responseSchema: APPROVAL_SCHEMA }),
    metadata: { toolName: name, args, ...omitUndefined({ request }) },
  };
}

const APPROVAL_SCHEMA: JsonObject = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, message: { type: 'string' } },
  required: ['approved'],
};

function toTokenUsage(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, totalTokens, thinkingTokens, cacheReadTokens } = usage;
  return {
    inputTokens,
    outputTokens,
    totalTokens,
    ...omitUndefined({ reasoningTokens: thinkingTokens, cachedInputTokens: cacheReadTokens }),
  };
}
