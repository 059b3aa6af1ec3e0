import type { JsonObject, StateDelta, Usage } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { Frame, FrameMapping } from '../run-response.ts';
import type { OpenCall, RunEnded, SessionUpdate, TextKind } from '../session-update.ts';
import type { ClientMessage } from './run-input.ts';

export interface AgUiRun {
  readonly threadId: string;
  readonly runId: string;
  /** The state of the client, with that of the session in it. */
  readonly state: JsonObject;
  /** The calls whose results the request has. The client has their messages. */
  readonly answered: ReadonlySet<string>;
  /** The messages of the client before this run, if it has seen a part of the run already. */
  readonly messages: readonly ClientMessage[] | undefined;
}

/** Creates the mapping of a run to the events of AG-UI. */
export function toAgUiFrames(run: AgUiRun): FrameMapping {
  let parentMessageId: string | undefined;
  return (update) => {
    if (update.type === 'agent.message') parentMessageId = update.messageId;
    return toEvents(update, run, parentMessageId).map((data): Frame => ({ data }));
  };
}

function toEvents(
  update: SessionUpdate,
  run: AgUiRun,
  parentMessageId: string | undefined,
): readonly JsonObject[] {
  switch (update.type) {
    case 'run.started': {
      const { threadId, runId, messages, state } = run;
      const started = [
        { type: 'RUN_STARTED', threadId, runId },
        { type: 'STATE_SNAPSHOT', snapshot: state },
      ];
      if (messages === undefined) return started;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- messages of a JSON body
      const snapshot = [...messages] as unknown as readonly JsonObject[];
      return [...started, { type: 'MESSAGES_SNAPSHOT', messages: snapshot }];
    }
    case 'text.start':
      return TEXT_EVENTS[update.kind].start(update.messageId, toSpeaker(update));
    case 'text.delta':
      return TEXT_EVENTS[update.kind].delta(update.messageId, update.text);
    case 'text.end':
    case 'text.dropped':
      return TEXT_EVENTS[update.kind].end(update.messageId);
    case 'agent.message':
      return toStateEvents(update.actions?.stateDelta ?? {}, []);
    case 'tool.call': {
      const { callId: toolCallId, name: toolCallName, args } = update;
      return [
        {
          type: 'TOOL_CALL_START',
          toolCallId,
          toolCallName,
          ...omitUndefined({ parentMessageId }),
          ...toSpeaker(update),
        },
        { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(args) },
        { type: 'TOOL_CALL_END', toolCallId },
      ];
    }
    case 'tool.result': {
      const { callId: toolCallId, response, actions } = update;
      const changes = toStateEvents(actions?.stateDelta ?? {}, []);
      if (run.answered.has(toolCallId)) return changes;
      const content = JSON.stringify(response);
      const messageId = `${toolCallId}-result`;
      return [
        ...changes,
        { type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool' },
      ];
    }
    case 'state.changed':
      return toStateEvents(update.delta, update.removed ?? []);
    case 'tool.progress':
      return [
        {
          type: 'CUSTOM',
          name: 'tool_progress',
          value: { toolCallId: update.callId, text: update.text },
        },
      ];
    case 'run.ended':
      return [toEnd(update, run)];
    default:
      return [];
  }
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
      { type: 'REASONING_START', messageId: toThoughtId(id), ...speaker },
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
      { type: 'REASONING_END', messageId: toThoughtId(id) },
    ],
  },
};

/** Which agent speaks. */
function toSpeaker({
  author,
  branch,
}: {
  readonly author: string;
  readonly branch?: string | undefined;
}): JsonObject {
  return { metadata: { agent: author, ...omitUndefined({ branch }) } };
}

function toThoughtId(messageId: string): string {
  return `${messageId}-thinking`;
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
