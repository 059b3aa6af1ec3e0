import { instance, net } from '../net/index.ts';
import type { AnyPlace, Effect, Ports, TokenPlace, Transition } from '../net/index.ts';
import {
  afterAgentEffect,
  beforeAgentEffect,
  hasAfterAgent,
  hasBeforeAgent,
} from './agent-callbacks.ts';
import type { AgentUnit, Placement } from './agent-unit.ts';
import type { Callbacks } from './callbacks.ts';
import { effectsIn, exposing, ownPlace } from './own-place.ts';
import {
  agentEnded,
  agentStarting,
  conversation,
  eventOut,
  sessionWrite,
  state,
  stopAsked,
  turnStopping,
} from './places.ts';
import type { Ending, ModelCall } from './places.ts';
import type { Speaking } from './speaking.ts';
import { noCallEffects } from './turn-part.ts';

/** The callbacks of an agent that is made of others. */
export type FlowCallbacks = Pick<Callbacks, 'beforeAgent' | 'afterAgent'>;

export interface FlowUnitOptions {
  readonly kind: string;
  readonly name: string;
  readonly callbacks?: FlowCallbacks;
  /** From where it begins, when its callbacks agree, to where it is done, but for them. */
  readonly transitions: (between: {
    readonly begins: TokenPlace<ModelCall>;
    readonly ends: TokenPlace<Ending>;
    readonly speaking: Speaking;
  }) => readonly Transition[];
  /** Places that it shares with the agents it is made of. */
  readonly shared: readonly AnyPlace[];
  /** Its own places that nobody misses when the turn stops. */
  readonly dropped?: readonly AnyPlace[];
  /** Its own places that bound its loops. */
  readonly budgets?: readonly AnyPlace[];
}

/** Where an agent that is made of others is done, but for its callbacks. */
export function endOf(
  name: string,
  callbacks: FlowCallbacks | undefined,
  { done }: Pick<Placement, 'done'>,
): TokenPlace<Ending> {
  return hasAfterAgent(callbacks ?? {}) ? ownPlace(name, agentEnded) : done;
}

/** An agent made of others: transitions between where they begin and where they are done, its callbacks around them. */
export function flowUnit(options: FlowUnitOptions, placement: Placement): AgentUnit {
  const { kind, name, callbacks = {}, shared, dropped = [], budgets = [] } = options;
  const { among, from, done } = placement;
  const speaking: Speaking = { agentName: name, among };
  const hasBefore = hasBeforeAgent(callbacks);
  const hasAfter = hasAfterAgent(callbacks);
  const around: readonly Effect[] = [
    ...(hasBefore
      ? [beforeAgentEffect({ ...speaking, callbacks, from, begins: agentStarting, ends: done })]
      : []),
    ...(hasAfter ? [afterAgentEffect({ ...speaking, callbacks, ends: done })] : []),
  ];
  const own = options.transitions({
    begins: hasBefore ? agentStarting : from,
    ends: hasAfter ? agentEnded : done,
    speaking,
  });
  const ports: Ports = Object.fromEntries(
    [from, done, ...shared].map((place) => [place.name, place]),
  );
  const flow = net(kind, {
    in: { ...ports, state, turnStopping },
    out: { conversation, sessionWrite, stopAsked, turnStopping, eventOut },
    transitions: [...around, ...own],
  });
  const unit = instance(name, flow);
  const held = [
    ...(hasBefore ? [agentStarting] : []),
    ...(hasAfter ? [agentEnded] : []),
    ...dropped,
  ];
  const part = {
    speaking,
    own: <P extends AnyPlace>(place: P): P => place,
    callEffects: noCallEffects,
    owed: [],
    dropped: [...held.map((place) => ownPlace(name, place)), ...effectsIn(unit)],
    budgets: budgets.map((place) => ownPlace(name, place)),
  } as const;
  return { net: exposing(unit, part), part, running: effectsIn(unit) };
}
