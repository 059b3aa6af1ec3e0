import { type Subnets, eventOut } from '../../agents/index.ts';
import { isJsonObject } from '../../core/index.ts';
import type { LogEntry, ToolCall } from '../../core/index.ts';
import { arcPlace, placesTouched } from '../../net/internal.ts';
import type {
  AnyPlace,
  Effect,
  EffectContext,
  EffectFailure,
  Net,
  Transition,
} from '../../net/index.ts';
import { withRescheduling } from './model-retry.ts';
import {
  modelRescheduled,
  modelTried,
  outcomeGrading,
  outcomeVerdict,
  sessionFailed,
  sessionPaused,
  sessionQueued,
} from './session-places.ts';

/**
 * Adds the arcs that a managed session needs to an agent's own subnets: nothing starts while the session is paused, a
 * new turn clears what the previous one left, and stopping a model call also drops its retry. Transitions are found by
 * the places they touch, so a replaced subnet gets the arcs as well.
 */
export function managedSubnets(stock: Subnets, tag: TagCall): Partial<Subnets> {
  return Object.fromEntries(
    Object.entries<Net>({ ...stock }).map(([name, subnet]) => [name, toManagedNet(subnet, tag)]),
  );
}

/** Adds to a call what the agent's definition says about its tool. */
export type TagCall = (call: ToolCall) => ToolCall;

function toManagedNet(subnet: Net, tag: TagCall): Net {
  const transitions = subnet.transitions.map((t) => tagCalls(managedTransition(t), tag));
  const places = [sessionPaused, ...clearedByNewTurn];
  const used = places.filter((place) => transitions.some((t) => usesPlace(t, place)));
  const ports = Object.fromEntries(used.map((place) => [place.name, place]));
  return {
    ...subnet,
    in: { ...subnet.in, ...ports },
    out: { ...subnet.out, ...ports },
    transitions,
  };
}

/** The places that a failed or abandoned turn leaves marked. */
const clearedByNewTurn: readonly AnyPlace[] = [
  sessionQueued,
  sessionFailed,
  modelRescheduled,
  modelTried,
  outcomeGrading,
  outcomeVerdict,
];

function managedTransition(t: Transition): Transition {
  const own = isEffect(t) && isAsk(t) ? withRescheduling(t) : t;
  const more: { readonly unless: AnyPlace[]; readonly reset: AnyPlace[] } = {
    unless: [],
    reset: [],
  };
  if (t.kind === 'effect') more.unless.push(sessionPaused);
  if (takes(t, 'user.in') && takes(t, 'turn.permit')) {
    more.unless.push(sessionPaused);
    more.reset.push(...clearedByNewTurn);
  } else if (takes(t, 'rewind.in')) {
    // A rewind also discards the call that failed.
    more.reset.push(sessionFailed);
  } else if (stopsAsking(t)) more.reset.push(modelRescheduled, modelTried, sessionFailed);
  else if (takes(t, 'model.response')) more.reset.push(modelTried, sessionFailed);
  else if (takes(t, 'model.failed')) more.reset.push(modelTried);
  if (more.unless.length === 0 && more.reset.length === 0) return own;
  return {
    ...own,
    unless: union(own.unless, more.unless),
    reset: union(own.reset, more.reset),
  };
}

function isEffect(t: Transition): t is Effect {
  return t.kind === 'effect';
}

function isAsk({ name }: Transition): boolean {
  return name === 'model.ask' || name.endsWith('/model.ask');
}

function takes({ take }: Transition, place: string): boolean {
  return Object.values(take).some((input) => isNamed(arcPlace(input), place));
}

function stopsAsking({ take, reset }: Transition): boolean {
  return [...Object.values(take).map(arcPlace), ...reset].some(({ name }) =>
    /^running\((.*\/)?model\.ask\)$/.test(name),
  );
}

/** In a session with several agents, the place of an agent has a prefix. */
function isNamed({ name }: AnyPlace, place: string): boolean {
  return name === place || name.endsWith(`/${place}`);
}

function usesPlace(t: Transition, place: AnyPlace): boolean {
  return placesTouched(t).some(({ name }) => name === place.name);
}

function union(own: readonly AnyPlace[], more: readonly AnyPlace[]): readonly AnyPlace[] {
  return [...own, ...more.filter((place) => own.every(({ name }) => name !== place.name))];
}

/** Returns the same transition, with the origin of the tool added to its `tool.call` events. */
function tagCalls(t: Transition, tag: TagCall): Transition {
  if (!usesPlace(t, eventOut)) return t;
  if (!isEffect(t))
    return {
      ...t,
      run: (tokens: unknown, firing: unknown) => withTags(t.run(tokens, firing), tag),
    };
  const { failed } = t;
  return {
    ...t,
    run: async (tokens: unknown, context: EffectContext) =>
      withTags(await t.run(tokens, context), tag),
    ...(failed !== undefined && {
      failed: (failure: EffectFailure, tokens: unknown) => withTags(failed(failure, tokens), tag),
    }),
  };
}

/** Adds the tags to a transition's return value: its outputs, or those of one alternative. */
function withTags(returned: unknown, tag: TagCall): unknown {
  if (typeof returned !== 'object' || returned === null) return returned;
  return Object.fromEntries(
    Object.entries(returned).map(([name, output]): [string, unknown] => {
      if (Array.isArray(output))
        return [name, output.map((entry) => (isCall(entry) ? tag(entry) : entry))];
      return [name, isAlternative(output) ? withTags(output, tag) : output];
    }),
  );
}

function isAlternative(output: unknown): boolean {
  return typeof output === 'object' && output !== null && 'events' in output;
}

function isCall(entry: unknown): entry is Extract<LogEntry, { readonly type: 'tool.call' }> {
  return isJsonObject(entry) && entry['type'] === 'tool.call' && 'callId' in entry;
}
