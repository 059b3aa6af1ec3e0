import { isFunctionCallPart } from '../../core/index.ts';
import type { Content, LogEntry, Part } from '../../core/index.ts';
import { all, inputValues, running } from '../../net/index.ts';
import type {
  AnyPlace,
  Effect,
  Inputs,
  Net,
  Place,
  PlaceKind,
  Ports,
  InputValues,
  TokenPlace,
} from '../../net/index.ts';
import { toolError } from '../../tools/internal.ts';
import { toToolMessage, toCallResult } from '../tool-calls/call-result.ts';
import { modelResponse } from '../vocabulary/model-call.ts';
import {
  toolRequested,
  toolBatch,
  toolCall,
  toolParked,
  toolCompleted,
  toolResult,
  toolWrite,
} from '../vocabulary/tool-call.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { Continuation, HeldValues } from './continuation.ts';
import type { Call, CallResult, ParkedCall } from '../vocabulary/tool-call.ts';
import { resultEvent } from '../tool-calls/call-events.ts';
import { toConversationItem } from '../vocabulary/agent-identity.ts';
import { agentMessageEvent } from '../vocabulary/agent-message.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** Every place and effect in which one agent may hold tokens. Stopping a turn must drain them all. */
export interface TurnResources {
  readonly identity: AgentIdentity;
  /** Maps a stock place to this agent's place, which is scoped in a session of several agents. */
  readonly scoped: <T, K extends PlaceKind>(place: Place<T, K>) => Place<T, K>;
  /** Effects whose firings hold calls that must get a result. */
  readonly callEffects: CallEffects;
  /** Places whose tokens must be answered when the turn stops. They are taken. */
  readonly mustAnswer: readonly AnyPlace[];
  /** Places, including `running(…)` places, whose tokens are discarded when the turn stops. They are reset. */
  readonly discardable: readonly AnyPlace[];
  /** Budgets that bound the loops of a turn. They are reset whenever the turn ends. */
  readonly budgets: readonly AnyPlace[];
  /** Where it continues when a resume continues a turn that failed. Missing if it cannot. */
  readonly continuation?: Continuation | undefined;
}

/** Effects that hold calls, or the results of tools. */
export interface CallEffects {
  /** Hold calls whose tool has not begun. */
  readonly beforeTool: readonly Effect<{ readonly call: TokenPlace<Call> }>[];
  /** Hold calls whose tool runs. */
  readonly runTool: readonly Effect<{ readonly call: TokenPlace<Call> }>[];
  /** Hold results that callbacks process. */
  readonly afterTool: readonly Effect<{ readonly ran: typeof toolCompleted }>[];
  /** True for a tool that must not run again without approval after an unknown outcome. */
  readonly isUnsafeToRerun: (toolName: string) => boolean;
}

/** The call effects of an agent that makes no calls itself. */
export const noCallEffects: CallEffects = {
  beforeTool: [],
  runTool: [],
  afterTool: [],
  isUnsafeToRerun: () => false,
};

const MAY_STILL_COMPLETE =
  'Its tool had not stopped, so it may still happen. Check before doing it again.';
const RESULT_NOT_KEPT =
  'Its tool had ended, but its result and what it wrote to state were not kept. Check before doing it again.';

/** The net with the places of its turn resources as ports. */
export function withPorts(net: Net, { mustAnswer, discardable, budgets }: TurnResources): Net {
  const held: Ports = Object.fromEntries(
    [...mustAnswer, ...discardable, ...budgets]
      .filter(({ kind }) => kind !== 'running')
      .map((place) => [place.name, place]),
  );
  return { ...net, in: { ...net.in, ...held } };
}

/** Input arcs that take every token that must be answered, keyed by the name of the place. */
export function allHeldInputs(resources: readonly TurnResources[]): Readonly<Record<never, never>> {
  const places = resources.flatMap(({ mustAnswer, callEffects }) => [
    ...mustAnswer,
    ...[...callEffects.beforeTool, ...callEffects.runTool, ...callEffects.afterTool].map(
      (t: Effect) => running(t),
    ),
  ]);
  return allInputs(places);
}

/** Input arcs that take every token of these places, keyed by the name of the place. */
export function allInputs(places: readonly AnyPlace[]): Readonly<Record<never, never>> {
  return Object.fromEntries(places.map((place) => [place.name, all(place, { min: 0 })]));
}

/**
 * The conversation items and events that close the open calls and answers of a stopped turn.
 * @param reason the beginning of the message in each result
 */
export function closeOpenCalls(
  resources: readonly TurnResources[],
  held: HeldValues,
  reason: string,
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  const closed = resources.map((part) => closeAgentCalls(part, held, reason));
  return {
    said: closed.flatMap(({ said }) => said),
    events: closed.flatMap(({ events }) => events),
  };
}

function closeAgentCalls(
  { identity, scoped, callEffects }: TurnResources,
  held: HeldValues,
  reason: string,
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  const said: ConversationItem[] = [];
  const events: LogEntry[] = [];
  for (const { invocationId, content } of inputValues(held, scoped(modelResponse))) {
    // An answer that was not routed: its content is kept, its calls are removed.
    const message = withoutCalls(content);
    if (message.parts.length === 0) continue;
    said.push(toConversationItem(identity, { invocationId, content: message }));
    events.push(agentMessageEvent(identity, invocationId, message));
  }
  const calls = (effects: CallEffects['runTool']): readonly Call[] =>
    effects.flatMap((effect) => readFiringInputs(held, effect).map(({ call }) => call));
  const started = calls(callEffects.runTool);
  const mayStillHappen = started.filter(({ name }) => callEffects.isUnsafeToRerun(name));
  const stopped = [
    ...inputValues(held, scoped(toolRequested)),
    ...inputValues(held, scoped(toolCall)),
    ...calls(callEffects.beforeTool),
    ...started.filter(({ name }) => !callEffects.isUnsafeToRerun(name)),
    ...inputValues(held, scoped(toolParked)),
  ];
  // The tool has ended, but callbacks or the conflict check have not processed its result yet.
  const completed = [
    ...callEffects.afterTool.flatMap((effect) =>
      readFiringInputs(held, effect).map(({ ran }) => ran.result),
    ),
    ...inputValues(held, scoped(toolCompleted)).map(({ result }) => result),
    ...inputValues(held, scoped(toolWrite)).map(({ result }) => result),
  ];
  const closed = [
    ...stopped.map((call) => closedResult(call, 'cancelled', reason)),
    ...mayStillHappen.map((call) =>
      closedResult(call, 'unknown', `${reason} ${MAY_STILL_COMPLETE}`),
    ),
    ...completed.map((result) => {
      if (result.outcome !== 'ok') return toCallResult(result);
      return callEffects.isUnsafeToRerun(result.name)
        ? closedResult(result, 'unknown', `${reason} ${RESULT_NOT_KEPT}`)
        : closedResult(result, 'cancelled', reason);
    }),
  ];
  for (const result of closed) events.push(resultEvent(identity, result));
  const results = [...inputValues(held, scoped(toolResult)), ...closed];
  for (const batch of inputValues(held, scoped(toolBatch)))
    said.push(toConversationItem(identity, toToolMessage(batch, results)));
  return { said, events };
}

function closedResult(
  { invocationId, callId, name, index, node }: Call | ParkedCall | CallResult,
  outcome: 'cancelled' | 'unknown',
  message: string,
): CallResult {
  const response = toolError(outcome === 'unknown' ? 'outcome_unknown' : 'cancelled', message);
  const within = node !== undefined && { node };
  return { invocationId, callId, name, index, outcome, response, ...within };
}

function withoutCalls(content: Content): Content {
  return {
    role: content.role,
    parts: content.parts.filter((part: Part) => !isFunctionCallPart(part)),
  };
}

/** The inputs of an effect's firings in flight. */
function readFiringInputs<I extends Inputs>(
  held: HeldValues,
  effect: Effect<I>,
): readonly InputValues<I>[] {
  return inputValues(held, running(effect)).map(({ inputs }) => inputs);
}
