import * as v from 'valibot';
import type { Content, Part } from '../content/content.ts';
import { isPart } from '../content/parse-content.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { parseWithSchema } from '../validation/parse-with-schema.ts';
import { hasInvalidWaits } from './called-agent.ts';
import type { EventActions } from './event-actions.ts';
import type { Event } from './event.ts';
import type { LogEventType } from './log-event.ts';
import { STOP_REASONS } from './stop-reason.ts';

const text = v.string();
const count = v.number();
const json = v.custom<Json>((value) => value !== undefined, 'must be a JSON value');
const object = v.custom<JsonObject>(isJsonObject, 'must be an object');
const optionalText = v.exactOptional(text);
const part = v.custom<Part>(isPart, 'must be a part of a message');
const content: v.GenericSchema<unknown, Content> = v.object({
  role: v.picklist(['user', 'model', 'tool']),
  parts: v.array(part),
});
const usage = v.object({
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  thinkingTokens: v.exactOptional(count),
  cacheReadTokens: v.exactOptional(count),
  cacheWriteTokens: v.exactOptional(count),
});
const actions = v.custom<Partial<EventActions>>(
  (value) =>
    isJsonObject(value) &&
    [
      'stateDelta',
      'artifactDelta',
      'requestedAuthConfigs',
      'requestedToolConfirmations',
      'compaction',
    ].every((name) => value[name] === undefined || isJsonObject(value[name])),
  'must be the actions of an event',
);
const nodeInfo = v.object({ path: text, runId: optionalText, name: optionalText });
const error = { code: text, message: text };
const loggedError = v.object(error);
const request = v.pipe(
  json,
  v.check((value) => !hasInvalidWaits(value), 'must name the calls of the called agent'),
);

const turn = { invocationId: text };
const author = { author: text, branch: optionalText };
const located = { ...turn, ...author, nodeInfo: v.exactOptional(nodeInfo) };
const call = { ...located, callId: text, name: text };
const attempt = { ...turn, attempt: count };
const reason = v.picklist(['crash', 'retry']);
const run = v.object({ ...located, parent: optionalText, callId: optionalText });
const statusChange = v.object({});

const appended = v.object({
  id: text,
  timestamp: count,
  ...turn,
  ...author,
  content: v.exactOptional(content),
  actions,
  longRunningToolIds: v.exactOptional(v.array(text)),
});

/** The members of the events of each type, without those that all events have. */
const SCHEMAS: Readonly<Record<LogEventType, v.GenericSchema<unknown, object>>> = {
  'user.message': v.object({
    ...turn,
    messageId: text,
    author: v.literal('user'),
    content,
    transcript: v.exactOptional(v.literal(true)),
  }),
  'agent.message': v.object({
    ...located,
    content,
    usage: v.exactOptional(usage),
    finishReason: v.exactOptional(
      v.picklist(['stop', 'tool_calls', 'max_tokens', 'refusal', 'other']),
    ),
    providerMetadata: v.exactOptional(object),
    actions: v.exactOptional(actions),
    longRunningToolIds: v.exactOptional(v.array(text)),
  }),
  'tool.call': v.object({
    ...call,
    args: object,
    needs: v.picklist(['nothing', 'approval', 'result']),
    fingerprint: optionalText,
    origin: v.exactOptional(
      v.variant('kind', [
        v.object({ kind: v.picklist(['builtin', 'custom']) }),
        v.object({ kind: v.literal('mcp'), server: text }),
      ]),
    ),
    permission: v.exactOptional(v.picklist(['allow', 'ask', 'deny'])),
  }),
  'tool.attempt': v.object({ ...attempt, callId: text, name: text, reason }),
  'tool.result': v.object({
    ...call,
    outcome: v.picklist([
      'ok',
      'error',
      'timeout',
      'unknown',
      'denied',
      'cancelled',
      'not_found',
      'invalid',
    ]),
    response: json,
    durationMs: v.exactOptional(count),
    actions: v.exactOptional(actions),
  }),
  'tool.answered': v.object({
    ...turn,
    callId: text,
    decision: v.picklist(['approved', 'denied', 'answered']),
    message: optionalText,
  }),
  'tool.pending': v.object({ ...call, request: v.exactOptional(request) }),
  'turn.started': v.object(turn),
  'turn.waiting': v.object({
    ...turn,
    stopReason: v.literal('requires_action'),
    callIds: v.array(text),
  }),
  'turn.resumed': v.object(turn),
  'turn.ended': v.object({
    ...turn,
    stopReason: v.picklist(STOP_REASONS),
    usage: v.exactOptional(usage),
  }),
  'agent.started': run,
  'agent.ended': run,
  'node.started': run,
  'node.ended': run,
  'model.attempt': v.object({ ...attempt, reason, error: v.exactOptional(loggedError) }),
  'state.changed': v.object({
    delta: object,
    removed: v.exactOptional(v.array(text)),
    author: optionalText,
    branch: optionalText,
    invocationId: optionalText,
  }),
  error: v.object({
    ...error,
    author: optionalText,
    branch: optionalText,
    invocationId: optionalText,
  }),
  'session.rewound': v.object({ beforeInvocationId: text }),
  'session.upgraded': v.object({ from: text, to: text }),
  'turn.rescheduled': v.object({ ...attempt, retryInMs: count, error: loggedError }),
  'session.paused': statusChange,
  'session.resumed': statusChange,
  'session.completed': statusChange,
  'session.archived': statusChange,
  'outcome.defined': v.object({
    outcomeId: text,
    description: text,
    rubric: optionalText,
    maxIterations: count,
  }),
  'outcome.evaluated': v.object({
    ...turn,
    outcomeId: text,
    iteration: count,
    result: v.picklist(['satisfied', 'needs_revision', 'failed']),
    explanation: text,
    usage: v.exactOptional(usage),
    error: v.exactOptional(loggedError),
  }),
  'outcome.ended': v.object({
    outcomeId: text,
    result: v.picklist([
      'satisfied',
      'max_iterations_reached',
      'failed',
      'interrupted',
      'replaced',
    ]),
  }),
  'event.appended': v.object({ ...turn, event: v.custom<Event>(isAppended, 'must be an event') }),
};

/**
 * Checks the members of a log event that comes from outside, for example from a file. Types and members that this version
 * does not know are accepted.
 * @throws InvalidInputError with the path of the first invalid value
 */
export function checkLogEvent(event: JsonObject, field: string): void {
  const { type } = event;
  if (typeof type !== 'string' || !Object.hasOwn(SCHEMAS, type)) return;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key of the table
  parseWithSchema(SCHEMAS[type as LogEventType], event, field, { unknownFields: 'drop' });
}

function isAppended(value: unknown): boolean {
  return v.is(appended, value);
}
