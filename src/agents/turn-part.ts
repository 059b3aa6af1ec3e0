import { isFunctionCallPart } from '../core/index.ts';
import type { Content, LogEntry, Part } from '../core/index.ts';
import { all, heldValues, running } from '../net/index.ts';
import type {
  AnyPlace,
  Effect,
  Inputs,
  Place,
  PlaceKind,
  TakenOf,
  TokenPlace,
} from '../net/index.ts';
import { toolError } from '../tools/tool-response.ts';
import { answersOf, resultOf } from './call-result.ts';
import {
  modelResponse,
  toolAsked,
  toolBatch,
  toolCall,
  toolParked,
  toolRan,
  toolResult,
  toolWrite,
} from './places.ts';
import type { Call, CallResult, ConversationItem, ParkedCall } from './places.ts';
import { resultEvent } from './result-event.ts';
import { branchOf, lineOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';

/** What one agent of a turn may hold, wherever it stands: whoever stops the turn must know. */
export interface TurnPart {
  readonly speaking: Speaking;
  /** This agent's own place, where several have one. */
  readonly own: <T, K extends PlaceKind>(place: Place<T, K>) => Place<T, K>;
  /** Its effects whose firings hold something owed an answer. */
  readonly callEffects: CallEffects;
  /** Places whose tokens are owed an answer: they are taken. */
  readonly owed: readonly AnyPlace[];
  /** Places, firings among them, that nobody misses: they are emptied. */
  readonly dropped: readonly AnyPlace[];
  /** What bounds the loops of a turn: emptied when it ends as well. */
  readonly budgets: readonly AnyPlace[];
}

/** Effects that hold calls, and what tools gave for them. */
export interface CallEffects {
  /** Hold calls whose tool has not begun. */
  readonly asking: readonly Effect<{ readonly call: TokenPlace<Call> }>[];
  /** Hold calls whose tool runs. */
  readonly running: readonly Effect<{ readonly call: TokenPlace<Call> }>[];
  /** Hold results that callbacks look at. */
  readonly ran: readonly Effect<{ readonly ran: typeof toolRan }>[];
  /** True of a tool that must not run twice without somebody's word. */
  readonly mayNotRunAgain: (toolName: string) => boolean;
}

/** Of what makes no calls. */
export const noCallEffects: CallEffects = {
  asking: [],
  running: [],
  ran: [],
  mayNotRunAgain: () => false,
};

const MAY_STILL_HAPPEN =
  'Its tool had not stopped, so it may still happen. Check before doing it again.';
const HAD_ENDED =
  'Its tool had ended, but its result and what it wrote to state were not kept. Check before doing it again.';

/** Values by the name of the place they were in. */
export type HeldValues = Readonly<Record<string, readonly unknown[]>>;

/** Input arcs that take everything the parts hold, each by the name of its place. */
export function takesOf(parts: readonly TurnPart[]): Readonly<Record<never, never>> {
  const places = parts.flatMap(({ owed, callEffects }) => [
    ...owed,
    ...[...callEffects.asking, ...callEffects.running, ...callEffects.ran].map((t: Effect) =>
      running(t),
    ),
  ]);
  return Object.fromEntries(places.map((place) => [place.name, all(place, { min: 0 })]));
}

/** The history and the events that close what a stopped turn left open. */
export function closingOf(
  parts: readonly TurnPart[],
  held: HeldValues,
  why: string,
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  const closed = parts.map((part) => closePart(part, held, why));
  return {
    said: closed.flatMap(({ said }) => said),
    events: closed.flatMap(({ events }) => events),
  };
}

function closePart(
  { speaking, own, callEffects }: TurnPart,
  held: HeldValues,
  why: string,
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  const said: ConversationItem[] = [];
  const events: LogEntry[] = [];
  const author = speaking.agentName;
  for (const { invocationId, content } of heldValues(held, own(modelResponse))) {
    // An answer nobody acts on: what it says stands, what it asks for does not.
    const words = withoutCalls(content);
    if (words.parts.length === 0) continue;
    said.push(lineOf(speaking, { invocationId, content: words }));
    events.push({
      type: 'agent.message',
      invocationId,
      author,
      ...branchOf(speaking),
      content: words,
    });
  }
  const calls = (effects: CallEffects['running']): readonly Call[] =>
    effects.flatMap((effect) => firingsOf(held, effect).map(({ call }) => call));
  const begun = calls(callEffects.running);
  const mayStillHappen = begun.filter(({ name }) => callEffects.mayNotRunAgain(name));
  const stopped = [
    ...heldValues(held, own(toolAsked)),
    ...heldValues(held, own(toolCall)),
    ...calls(callEffects.asking),
    ...begun.filter(({ name }) => !callEffects.mayNotRunAgain(name)),
    ...heldValues(held, own(toolParked)),
  ];
  // Their tool has ended, but its result or its writes were not judged yet.
  const judged = [
    ...callEffects.ran.flatMap((effect) => firingsOf(held, effect).map(({ ran }) => ran.result)),
    ...heldValues(held, own(toolRan)).map(({ result }) => result),
    ...heldValues(held, own(toolWrite)).map(({ result }) => result),
  ];
  const closed = [
    ...stopped.map((call) => closedResult(call, 'cancelled', why)),
    ...mayStillHappen.map((call) => closedResult(call, 'unknown', `${why} ${MAY_STILL_HAPPEN}`)),
    ...judged.map((result) => {
      if (result.outcome !== 'ok') return resultOf(result);
      return callEffects.mayNotRunAgain(result.name)
        ? closedResult(result, 'unknown', `${why} ${HAD_ENDED}`)
        : closedResult(result, 'cancelled', why);
    }),
  ];
  for (const result of closed) events.push(resultEvent(speaking, result));
  const results = [...heldValues(held, own(toolResult)), ...closed];
  for (const batch of heldValues(held, own(toolBatch)))
    said.push(lineOf(speaking, answersOf(batch, results)));
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

/** The inputs of an effect's firings that were in flight. */
function firingsOf<I extends Inputs>(held: HeldValues, effect: Effect<I>): readonly TakenOf<I>[] {
  return heldValues(held, running(effect)).map(({ inputs }) => inputs);
}
