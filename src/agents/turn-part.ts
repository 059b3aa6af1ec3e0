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
import { answersOf } from './call-result.ts';
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
import type { Call, CallResult, ConversationItem } from './places.ts';
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
  readonly calls: readonly Effect<{ readonly call: TokenPlace<Call> }>[];
  readonly ran: readonly Effect<{ readonly ran: typeof toolRan }>[];
}

/** Values by the name of the place they were in. */
export type HeldValues = Readonly<Record<string, readonly unknown[]>>;

/** Input arcs that take everything the parts hold, each by the name of its place. */
export function takesOf(parts: readonly TurnPart[]): Readonly<Record<never, never>> {
  const places = parts.flatMap(({ owed, callEffects: { calls, ran } }) => [
    ...owed,
    ...[...calls, ...ran].map((t: Effect) => running(t)),
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
  const open = [
    ...heldValues(held, own(toolAsked)),
    ...heldValues(held, own(toolCall)),
    ...callEffects.calls.flatMap((effect) => firingsOf(held, effect).map(({ call }) => call)),
    ...callEffects.ran.flatMap((effect) => firingsOf(held, effect).map(({ ran }) => ran.result)),
    ...heldValues(held, own(toolParked)),
    // A tool that is done, but whose result or writes nobody has judged yet.
    ...heldValues(held, own(toolRan)).map(({ result }) => result),
    ...heldValues(held, own(toolWrite)).map(({ result }) => result),
  ];
  const cancelled = open.map(({ invocationId, callId, name, index, node }): CallResult => {
    const response = toolError('cancelled', why);
    const within = node !== undefined && { node };
    return { invocationId, callId, name, index, outcome: 'cancelled', response, ...within };
  });
  for (const result of cancelled) events.push(resultEvent(speaking, result));
  const results = [...heldValues(held, own(toolResult)), ...cancelled];
  for (const batch of heldValues(held, own(toolBatch)))
    said.push(lineOf(speaking, answersOf(batch, results)));
  return { said, events };
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
