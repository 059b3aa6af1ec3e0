import type { Subnets } from '../../agents/index.ts';
import { isJsonObject } from '../../core/index.ts';
import type { LogEntry, ToolCall } from '../../core/index.ts';
import { eventOut } from '../../agents/places.ts';
import { placeOf } from '../../net/arcs.ts';
import type {
  AnyPlace,
  Effect,
  EffectContext,
  EffectFailure,
  Net,
  Transition,
} from '../../net/index.ts';
import { reschedulingAsk } from './model-retry.ts';
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
 * An agent's own subnets with the arcs that a managed session needs: nothing begins while it is held, a new turn
 * forgets what the one before left, and whoever stops a model call drops its retry too. They are found by the places
 * they touch, so a subnet that was replaced gets them as well.
 */
export function managedSubnets(stock: Subnets, tag: TagCall): Partial<Subnets> {
  return Object.fromEntries(
    Object.entries<Net>({ ...stock }).map(([name, subnet]) => [name, managed(subnet, tag)]),
  );
}

/** Says of a call what the agent's definition says of its tool. */
export type TagCall = (call: ToolCall) => ToolCall;

function managed(subnet: Net, tag: TagCall): Net {
  const transitions = subnet.transitions.map((t) => tagged(managedTransition(t), tag));
  const places = [sessionPaused, ...forgotten];
  const used = places.filter((place) => transitions.some((t) => touches(t, place)));
  const ports = Object.fromEntries(used.map((place) => [place.name, place]));
  return {
    ...subnet,
    in: { ...subnet.in, ...ports },
    out: { ...subnet.out, ...ports },
    transitions,
  };
}

/** What a turn leaves behind when it fails or is abandoned. */
const forgotten: readonly AnyPlace[] = [
  sessionQueued,
  sessionFailed,
  modelRescheduled,
  modelTried,
  outcomeGrading,
  outcomeVerdict,
];

function managedTransition(t: Transition): Transition {
  const own = isEffect(t) && isAsk(t) ? reschedulingAsk(t) : t;
  const more: { readonly unless: AnyPlace[]; readonly reset: AnyPlace[] } = {
    unless: [],
    reset: [],
  };
  if (t.kind === 'effect') more.unless.push(sessionPaused);
  if (takes(t, 'user.in') && takes(t, 'turn.permit')) {
    more.unless.push(sessionPaused);
    more.reset.push(...forgotten);
  } else if (takes(t, 'rewind.in')) {
    // The call that failed is among what no longer counts.
    more.reset.push(sessionFailed);
  } else if (stopsAsking(t)) more.reset.push(modelRescheduled, modelTried, sessionFailed);
  else if (takes(t, 'model.response')) more.reset.push(modelTried, sessionFailed);
  else if (takes(t, 'model.failed')) more.reset.push(modelTried);
  if (more.unless.length === 0 && more.reset.length === 0) return own;
  return {
    ...own,
    unless: joined(own.unless, more.unless),
    reset: joined(own.reset, more.reset),
  };
}

function isEffect(t: Transition): t is Effect {
  return t.kind === 'effect';
}

function isAsk({ name }: Transition): boolean {
  return name === 'model.ask' || name.endsWith('/model.ask');
}

function takes({ take }: Transition, place: string): boolean {
  return Object.values(take).some((input) => isNamed(placeOf(input), place));
}

function stopsAsking({ take, reset }: Transition): boolean {
  return [...Object.values(take).map(placeOf), ...reset].some(({ name }) =>
    /^running\((.*\/)?model\.ask\)$/.test(name),
  );
}

/** A place of an agent that stands beside others has its name behind a prefix. */
function isNamed({ name }: AnyPlace, place: string): boolean {
  return name === place || name.endsWith(`/${place}`);
}

function touches(t: Transition, place: AnyPlace): boolean {
  const given =
    t.give.give === 'allOf'
      ? Object.values(t.give.outputs)
      : Object.values(t.give.alternatives).flatMap((alternative) =>
          'give' in alternative ? Object.values(alternative.outputs) : [alternative],
        );
  const arcs = [...Object.values(t.take), ...Object.values(t.read), ...given].map(placeOf);
  return [...arcs, ...t.unless, ...t.reset].some(({ name }) => name === place.name);
}

function joined(own: readonly AnyPlace[], more: readonly AnyPlace[]): readonly AnyPlace[] {
  return [...own, ...more.filter((place) => own.every(({ name }) => name !== place.name))];
}

/** The same transition, whose `tool.call` events say where their tools come from. */
function tagged(t: Transition, tag: TagCall): Transition {
  if (!touches(t, eventOut)) return t;
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

/** What a transition returned: its outputs, or those of one alternative; the events are among them. */
function withTags(returned: unknown, tag: TagCall): unknown {
  if (typeof returned !== 'object' || returned === null) return returned;
  return Object.fromEntries(
    Object.entries(returned).map(([name, given]): [string, unknown] => {
      if (Array.isArray(given))
        return [name, given.map((entry) => (isCall(entry) ? tag(entry) : entry))];
      return [name, isAlternative(given) ? withTags(given, tag) : given];
    }),
  );
}

function isAlternative(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'events' in given;
}

function isCall(entry: unknown): entry is Extract<LogEntry, { readonly type: 'tool.call' }> {
  return isJsonObject(entry) && entry['type'] === 'tool.call' && 'callId' in entry;
}
