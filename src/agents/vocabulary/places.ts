import * as v from 'valibot';
import type {
  CallId,
  Content,
  FinishReason,
  Json,
  JsonObject,
  LogEntry,
  NodeInfo,
  ProviderMetadata,
  Route,
  StopReason,
  ToolOutcome,
  Usage,
} from '../../core/index.ts';
import type { ModelRequest } from '../../models/index.ts';
import { listPlace, mapPlace, outlet, place } from '../../net/index.ts';
import type { ListPlace, MapPlace, MapWrites, Outlet, TokenPlace } from '../../net/index.ts';
import type { ToolActions, ToolAnswer } from '../../tools/index.ts';

// What enters from outside was parsed where it entered; inside the net a schema guards the shape a transition relies on.
const json = <T extends Json | JsonObject>(): v.GenericSchema<unknown, T> =>
  v.custom<T>((value) => value !== undefined);
const contentSchema: v.GenericSchema<unknown, Content> = v.custom<Content>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    'role' in value &&
    'parts' in value &&
    Array.isArray(value.parts),
  'must be content: { role, parts }',
);
const object = <T>(): v.GenericSchema<unknown, T> =>
  v.custom<T>((value) => typeof value === 'object' && value !== null, 'must be an object');

/** A message on its way to its turn. */
export interface IncomingMessage {
  readonly messageId: string;
  readonly invocationId: string;
  readonly content: Content;
  /** State to write before the turn begins. */
  readonly stateDelta?: JsonObject | undefined;
}

/** The turn that runs. Only one does at a time: it holds the permit. */
export interface CurrentTurn {
  readonly invocationId: string;
  /** Model answers so far. */
  readonly round: number;
  readonly usage: Usage;
}

/** One line of what the model is shown. */
export interface ConversationItem {
  readonly invocationId: string;
  readonly content: Content;
  /** Whose words they are, where several agents speak; a user's have none. */
  readonly author?: string | undefined;
  /** Where they were said, when agents speak side by side: the others there do not hear them. */
  readonly branch?: string | undefined;
}

/** A model call to make. It refers to the conversation and does not carry it. */
export interface ModelCall {
  readonly invocationId: string;
  readonly round: number;
  /** The agent asked to leave the loop around it. */
  readonly escalate?: boolean | undefined;
  /** The run of a workflow's node that this is part of. */
  readonly node?: NodeInfo | undefined;
  /** What a callback changed: these members stand for those of the request. */
  readonly changes?: ModelRequestChanges | undefined;
}

export type ModelRequestChanges = Partial<ModelRequest>;

/** What a model answered to a call. The function calls in it have the ids of our log. */
export interface ModelAnswer {
  readonly invocationId: string;
  readonly round: number;
  readonly escalate?: boolean | undefined;
  readonly node?: NodeInfo | undefined;
  readonly content: Content;
  readonly finishReason: FinishReason;
  readonly usage?: Usage | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

export interface ModelFailure {
  readonly invocationId: string;
  /** The call that failed: what is answered for it is the answer to this. */
  readonly request?: ModelCall | undefined;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** The calls of one model answer, until each has its result. */
export interface Batch {
  readonly invocationId: string;
  readonly round: number;
  readonly escalate?: boolean | undefined;
  readonly node?: NodeInfo | undefined;
  readonly calls: readonly { readonly callId: CallId; readonly name: string }[];
}

/** A call that may run now. */
export interface Call {
  readonly invocationId: string;
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  /** Its place among the calls of its answer. */
  readonly index: number;
  readonly node?: NodeInfo | undefined;
  /** How often someone was asked about it while it ran. Each question has its own answer. */
  readonly asks?: number | undefined;
  /** What was said to the question it last waited with. */
  readonly answer?: ToolAnswer | undefined;
}

/** A call that a callback is to see before anybody judges it. */
export interface RequestedCall extends Call {
  /** Why the model's arguments are none. */
  readonly argsError?: string | undefined;
}

/** What a tool gave, before a callback has seen it. */
export interface CompletedTool {
  readonly args: JsonObject;
  readonly result: CallResult;
  readonly write?: SessionWrite | undefined;
}

/** A call that waits for someone outside. It is a token: it survives the process. */
export interface ParkedCall extends Call {
  readonly needs: 'approval' | 'result';
  readonly reason: 'policy' | 'crash';
  readonly fingerprint: string;
  /** What is asked, or known so far. */
  readonly request?: Json | undefined;
  /** The tool runs again with this, once it is answered. Without it the answer is the result. */
  readonly resume?: Json | undefined;
  /** How long it waits; for ever when missing. */
  readonly timeoutMs?: number | undefined;
}

/** The one answer to a call. */
export interface CallResult {
  readonly invocationId: string;
  readonly callId: CallId;
  readonly name: string;
  readonly index: number;
  readonly outcome: ToolOutcome;
  readonly response: JsonObject;
  readonly node?: NodeInfo | undefined;
  /** What the tool asked for beside its result. */
  readonly actions?: ToolActions | undefined;
}

/** What someone outside says to a parked call. */
export interface Answer {
  readonly callId: CallId;
  readonly decision: 'approved' | 'denied' | 'answered';
  readonly message?: string | undefined;
  /** The result, when `answered`. */
  readonly response?: JsonObject | undefined;
  readonly isError?: boolean | undefined;
  /** It is not the result yet, only what is known so far. */
  readonly isUpdate?: boolean | undefined;
  /** What was approved: an approval of other arguments does not count. */
  readonly fingerprint?: string | undefined;
}

/** Asks the named turn to stop. */
export interface Interrupt {
  readonly invocationId: string;
}

/** A turn, or an agent's part of one, that is over, and why. */
export interface Ending {
  readonly stopReason: StopReason;
  readonly invocationId?: string | undefined;
  /** The agent asked to leave the loop around it. */
  readonly escalate?: boolean | undefined;
  /** Model answers so far: the calls of later ones must have other ids. */
  readonly round?: number | undefined;
  /** What a workflow, or an agent that is a node of one, gives to whoever goes on. */
  readonly output?: Json | undefined;
  /** Which edges are taken, where the agent is a node of a workflow. */
  readonly route?: Route | undefined;
}

/** Takes the conversation and the state back to what they were before an invocation. */
export interface Rewind {
  readonly beforeInvocationId: string;
  readonly conversationLength: number;
  readonly state: JsonObject;
}

/** Messages, in the order they came. */
export const userIn: TokenPlace<IncomingMessage> = place(
  'user.in',
  v.object({
    messageId: v.pipe(v.string(), v.nonEmpty('must not be empty')),
    invocationId: v.pipe(v.string(), v.nonEmpty('must not be empty')),
    content: contentSchema,
    stateDelta: v.optional(json<JsonObject>()),
  }),
  { environment: true, owed: true, version: 1 },
);

/** Who holds it runs a turn. There is one. */
export const turnPermit: TokenPlace<null> = place('turn.permit', { owed: true });

/** The turn that runs, if one does: there is no `turn.permit` meanwhile. */
export const turnCurrent: TokenPlace<CurrentTurn> = place(
  'turn.current',
  v.object({ invocationId: v.string(), round: v.number(), usage: object<Usage>() }),
  { owed: true, version: 1 },
);

/** How often the model may be asked again in this turn. */
export const turnBudget: TokenPlace<null> = place('turn.budget');

/** There while the turn waits for someone outside. */
export const turnWaiting: TokenPlace<null> = place('turn.waiting');

export const endingSchema: v.GenericSchema<unknown, Ending> = v.object({
  stopReason: v.custom<StopReason>(() => true),
  invocationId: v.optional(v.string()),
  escalate: v.optional(v.boolean()),
  round: v.optional(v.number()),
  output: v.optional(json<Json>()),
  route: v.optional(v.custom<Route>((value) => value !== undefined)),
});

/** How the turn ends, until `turn.end` has told the log and given the permit back. */
export const turnEnding: TokenPlace<Ending> = place('turn.ending', endingSchema, {
  owed: true,
});

/** An effect's wish that the turn stops at once. What effects wish counts when a pure transition takes it up. */
export const stopRequested: TokenPlace<Ending> = place('turn.stop-asked', endingSchema);

/**
 * There once the turn is to stop at once: nothing begins and nothing is committed any more, `turn.stop` answers what is
 * open. Put there by `endInvocation` of a tool or callback, and by a failure that ends the turn.
 */
export const turnStopping: TokenPlace<Ending> = place('turn.stopping', endingSchema);

/** Everything the model is shown, oldest first. */
export const conversation: ListPlace<ConversationItem> = listPlace(
  'conversation',
  v.object({
    invocationId: v.string(),
    content: contentSchema,
    author: v.optional(v.string()),
    branch: v.optional(v.string()),
  }),
  { version: 1 },
);

/** Session, user, app and temp state, by key. Written by `state.persist` alone. */
export const state: MapPlace = mapPlace('state', { version: 1 });

/** Writes on their way to the state. */
export interface SessionWrite {
  readonly writes: MapWrites;
  /** Keys the writer read and then set or deleted, with what it saw (null: nothing): another value by now is a conflict. */
  readonly seen?: JsonObject | undefined;
  /** In which invocation; none outside of any. */
  readonly invocationId?: string | undefined;
  /** Who wrote, as the log names them: an agent, or `user` for what came with a message. */
  readonly author?: string | undefined;
  readonly branch?: string | undefined;
}

/** What a tool wrote, with its result: both come true, or neither. */
export interface ToolWrite extends SessionWrite {
  readonly result: CallResult;
}

const writeFields = {
  writes: object<MapWrites>(),
  seen: v.optional(json<JsonObject>()),
  invocationId: v.optional(v.string()),
  author: v.optional(v.string()),
  branch: v.optional(v.string()),
};

/** The one place whose token is a bag. */
export const sessionWrite: TokenPlace<SessionWrite> = place('state.write', v.object(writeFields), {
  owed: true,
  version: 1,
});

/** Results of tools that wrote to state, until `tool.persist` has judged what they wrote. */
export const toolWrite: TokenPlace<ToolWrite> = place(
  'tool.write',
  v.object({ ...writeFields, result: object<CallResult>() }),
  { owed: true, version: 1 },
);

const modelCallSchema = v.object({
  invocationId: v.string(),
  round: v.number(),
  escalate: v.optional(v.boolean()),
  node: v.optional(object<NodeInfo>()),
  changes: v.optional(object<ModelRequestChanges>()),
});

const modelAnswerSchema = v.object({
  invocationId: v.string(),
  round: v.number(),
  escalate: v.optional(v.boolean()),
  node: v.optional(object<NodeInfo>()),
  content: contentSchema,
  finishReason: v.custom<FinishReason>((value) => typeof value === 'string'),
  usage: v.optional(object<Usage>()),
  providerMetadata: v.optional(object<ProviderMetadata>()),
});

const modelFailureSchema = v.object({
  invocationId: v.string(),
  request: v.optional(object<ModelCall>()),
  code: v.string(),
  message: v.string(),
  retryable: v.boolean(),
});

/** Requests to the model, before the callbacks. */
export const modelRequest: TokenPlace<ModelCall> = place('model.request', modelCallSchema, {
  version: 1,
});

/** Calls that the callbacks before a model let through, where an agent has some. */
export const modelReady: TokenPlace<ModelCall> = place('model.ready', modelCallSchema, {
  version: 1,
});

/** Answers that the callbacks after a model have not seen, where an agent has some. */
export const modelAnswered: TokenPlace<ModelAnswer> = place('model.answered', modelAnswerSchema, {
  version: 1,
});

/** Answers of the model, after the callbacks. */
export const modelResponse: TokenPlace<ModelAnswer> = place('model.response', modelAnswerSchema, {
  version: 1,
});

/** Failures that the callbacks for them have not seen, where an agent has some. */
export const modelError: TokenPlace<ModelFailure> = place('model.erred', modelFailureSchema, {
  version: 1,
});

/** Failures of a model, and of callbacks around it. */
export const modelFailed: TokenPlace<ModelFailure> = place('model.failed', modelFailureSchema, {
  version: 1,
});

/** An agent that may begin, once the callbacks before it agree. */
export const agentStarting: TokenPlace<ModelCall> = place('agent.starting', modelCallSchema, {
  version: 1,
});

/** An agent that is done, but for the callbacks after it. */
export const agentEnded: TokenPlace<Ending> = place('agent.ended', endingSchema, { version: 1 });

/** Where a turn, or a part of it, begins with the agent of this name. */
export function targetPlace(agentName: string): TokenPlace<ModelCall> {
  return place(`target/${agentName}`, modelCallSchema, { version: 1 });
}

/** Where the agent of this name is done, for whoever goes on. */
export function donePlace(agentName: string): TokenPlace<Ending> {
  return place(`done/${agentName}`, endingSchema, { version: 1 });
}

/**
 * The calls of an answer, until each has its result and the model is asked again, or the turn ends or goes to another
 * agent.
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

/** Calls ready to run, one token per call. */
export const toolCall: TokenPlace<Call> = place('tool.call', v.object(callFields), {
  owed: true,
  version: 1,
});

/** Calls that wait for a callback, where an agent has one that comes before its tools. */
export const toolRequested: TokenPlace<RequestedCall> = place(
  'tool.asked',
  v.object({ ...callFields, argsError: v.optional(v.string()) }),
  { owed: true, version: 1 },
);

/**
 * Calls that wait for someone outside. With a `timeoutMs` they wait that long from when they were put here; a restart
 * does not start it again.
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
  { owed: true, version: 1 },
);

/** Results of calls, one token per result. */
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

/** What tools gave, where an agent has a callback that comes after them. */
export const toolCompleted: TokenPlace<CompletedTool> = place(
  'tool.ran',
  v.object({
    args: json<JsonObject>(),
    result: object<CallResult>(),
    write: v.optional(object<SessionWrite>()),
  }),
  { owed: true, version: 1 },
);

/** Answers to parked calls. */
export const answerIn: TokenPlace<Answer> = place(
  'answer.in',
  v.object({
    callId: v.pipe(v.string(), v.nonEmpty('must not be empty')),
    decision: v.picklist(['approved', 'denied', 'answered']),
    message: v.optional(v.string()),
    response: v.optional(json<JsonObject>()),
    isError: v.optional(v.boolean()),
    isUpdate: v.optional(v.boolean()),
    fingerprint: v.optional(v.string()),
  }),
  { environment: true, version: 1 },
);

/** Interrupts. One that comes when its turn is over stops nothing. */
export const interruptIn: TokenPlace<Interrupt> = place(
  'interrupt.in',
  v.object({ invocationId: v.string() }),
  {
    environment: true,
    version: 1,
  },
);

/** Rewinds. One is taken up between two turns, and before the next message. */
export const rewindIn: TokenPlace<Rewind> = place(
  'rewind.in',
  v.object({
    beforeInvocationId: v.string(),
    conversationLength: v.pipe(v.number(), v.integer(), v.minValue(0)),
    state: json<JsonObject>(),
  }),
  { environment: true, version: 1 },
);

/** The log: what leaves here is what clients see, in this order. */
export const eventOut: Outlet<LogEntry> = outlet(
  'event.out',
  v.custom<LogEntry>((value) => typeof value === 'object' && value !== null && 'type' in value),
);
