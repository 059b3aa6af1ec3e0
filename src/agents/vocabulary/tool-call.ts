import * as v from 'valibot';
import type { CallId, Json, JsonObject, NodeInfo, ToolOutcome } from '../../core/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import type { ToolActions, ToolAnswer } from '../../tools/index.ts';
import { json, object } from './place-schemas.ts';
import { sessionWriteFields } from './state.ts';
import type { SessionWrite } from './state.ts';

/** The calls of one model answer, until each has its result. */
export interface Batch {
  readonly invocationId: string;
  readonly round: number;
  readonly escalate?: boolean | undefined;
  readonly node?: NodeInfo | undefined;
  readonly calls: readonly { readonly callId: CallId; readonly name: string }[];
}

/**
 * The calls of an answer, until each has its result and the model is called again, or the turn ends or is transferred to
 * another agent.
 */
export const toolBatch: TokenPlace<Batch> = place(
  'tool.batch',
  v.object({
    invocationId: v.string(),
    round: v.number(),
    escalate: v.optional(v.boolean()),
    node: v.optional(object<NodeInfo>()),
    calls: v.pipe(v.array(v.object({ callId: v.string(), name: v.string() })), v.readonly()),
  }),
  { owed: true, version: 1 },
);

/** A call that may run now. */
export interface Call {
  readonly invocationId: string;
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  /** Its index among the calls of its answer, from 0. */
  readonly index: number;
  readonly node?: NodeInfo | undefined;
  /** How many questions the call has asked while it ran. Each question has one answer. */
  readonly asks?: number | undefined;
  /** The answer to its last question. */
  readonly answer?: ToolAnswer | undefined;
}

const callFields = {
  invocationId: v.string(),
  callId: v.string(),
  name: v.string(),
  args: json<JsonObject>(),
  index: v.number(),
  node: v.optional(object<NodeInfo>()),
  asks: v.optional(v.number()),
  answer: v.optional(object<ToolAnswer>()),
};

/** The label of a call: its tool. */
const label = ({ name }: Pick<Call, 'name'>): string => name;

/** Calls to run. */
export const toolCall: TokenPlace<Call> = place('tool.call', v.object(callFields), {
  owed: true,
  version: 1,
  label,
});

/** A call as the model requested it: its arguments are not validated yet. */
export interface RequestedCall extends Call {
  /** Why the model's arguments could not be read. */
  readonly argsError?: string | undefined;
}

/** Calls that have not passed the `beforeTool` callbacks. Used only by agents that have some. */
export const toolRequested: TokenPlace<RequestedCall> = place(
  'tool.requested',
  v.object({ ...callFields, argsError: v.optional(v.string()) }),
  { owed: true, version: 1, formerNames: ['tool.asked'], label },
);

/** A call that waits for an answer from outside. It is a token, so it survives the process. */
export interface ParkedCall extends Call {
  readonly needs: 'approval' | 'result';
  readonly reason: 'policy' | 'crash';
  readonly fingerprint: string;
  /** The question, or the last progress report. */
  readonly request?: Json | undefined;
  /** Given to the tool when it runs again after the answer. If missing, the answer is the call's result. */
  readonly resume?: Json | undefined;
  /** How long the call waits, in milliseconds. If missing, it waits forever. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Calls that wait for an answer from outside. `timeoutMs` counts from when the call was put here; a restart does not
 * reset it.
 */
export const toolParked: TokenPlace<ParkedCall> = place(
  'tool.parked',
  v.object({
    ...callFields,
    needs: v.picklist(['approval', 'result']),
    reason: v.picklist(['policy', 'crash']),
    fingerprint: v.string(),
    request: v.optional(json<Json>()),
    resume: v.optional(json<Json>()),
    timeoutMs: v.optional(v.number()),
  }),
  { owed: true, version: 1, label },
);

/** The result of a call. Each call gets exactly one. */
export interface CallResult {
  readonly invocationId: string;
  readonly callId: CallId;
  readonly name: string;
  readonly index: number;
  readonly outcome: ToolOutcome;
  readonly response: JsonObject;
  readonly node?: NodeInfo | undefined;
  /** Actions that the tool requested beside its result. */
  readonly actions?: ToolActions | undefined;
}

/** Results of calls. */
export const toolResult: TokenPlace<CallResult> = place(
  'tool.result',
  v.object({
    invocationId: v.string(),
    callId: v.string(),
    name: v.string(),
    index: v.number(),
    outcome: v.custom<ToolOutcome>((value) => typeof value === 'string'),
    response: json<JsonObject>(),
    node: v.optional(object<NodeInfo>()),
    actions: v.optional(object<ToolActions>()),
  }),
  { owed: true, version: 1 },
);

/** The result of a tool that has ended, before the callbacks after it. */
export interface CompletedTool {
  readonly args: JsonObject;
  readonly result: CallResult;
  readonly write?: SessionWrite | undefined;
}

/** Tool results that have not passed the `afterTool` or `onToolError` callbacks. Used only by agents that have some. */
export const toolCompleted: TokenPlace<CompletedTool> = place(
  'tool.completed',
  v.object({
    args: json<JsonObject>(),
    result: object<CallResult>(),
    write: v.optional(object<SessionWrite>()),
  }),
  { owed: true, version: 1, formerNames: ['tool.ran'] },
);

/** State changes of a tool together with its result: both are committed, or neither. */
export interface ToolWrite extends SessionWrite {
  readonly result: CallResult;
}

/** Results of tools that wrote to state, until `tool.persist` has checked the changes for conflicts. */
export const toolWrite: TokenPlace<ToolWrite> = place(
  'tool.write',
  v.object({ ...sessionWriteFields, result: object<CallResult>() }),
  { owed: true, version: 1 },
);
