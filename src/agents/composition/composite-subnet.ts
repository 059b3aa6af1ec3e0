import { instance, net, running } from '../../net/index.ts';
import type { AnyPlace, Effect, Ports, TokenPlace, Transition } from '../../net/index.ts';
import {
  afterAgentEffect,
  beforeAgentEffect,
  hasAfterAgent,
  hasBeforeAgent,
} from '../callbacks/agent-callbacks.ts';
import type { AgentSubnet, AgentSlot } from '../agent/agent-subnet.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import { runningPlaces, scopedPlace } from '../turn/scoped-place.ts';
import { restart } from '../turn/continuation.ts';
import { withPorts } from '../turn/turn-resources.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import { agentEnded, agentStarting } from '../vocabulary/handover.ts';
import { sessionPaused } from '../vocabulary/session.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { noCallEffects } from '../turn/turn-resources.ts';

/** The callbacks that a composite agent supports. */
export type CompositeCallbacks = Pick<Callbacks, 'beforeAgent' | 'afterAgent'>;

export interface CompositeSubnetOptions {
  readonly kind: string;
  readonly name: string;
  readonly callbacks?: CompositeCallbacks;
  /** Builds the transitions between its start, after `beforeAgent`, and its end, before `afterAgent`. */
  readonly transitions: (between: {
    readonly startPlace: TokenPlace<ModelCall>;
    readonly endPlace: TokenPlace<Ending>;
    readonly identity: AgentIdentity;
  }) => readonly Transition[];
  /** Places that it shares with its sub-agents. */
  readonly shared: readonly AnyPlace[];
  /** Its scoped places whose tokens are discarded when the turn stops. */
  readonly discardable?: readonly AnyPlace[];
  /** Its scoped places that bound its loops. */
  readonly budgets?: readonly AnyPlace[];
  /** True if its places contain all of its work, so that a turn that failed can be continued. Default: false. */
  readonly continues?: boolean;
}

/** The place where a composite agent is done, before its `afterAgent` callbacks. */
export function findEndPlace(
  name: string,
  callbacks: CompositeCallbacks | undefined,
  { done }: Pick<AgentSlot, 'done'>,
): TokenPlace<Ending> {
  return hasAfterAgent(callbacks ?? {}) ? scopedPlace(name, agentEnded) : done;
}

/** The subnet of a composite agent: the transitions between its sub-agents, with its callbacks around them. */
export function compositeSubnet(options: CompositeSubnetOptions, slot: AgentSlot): AgentSubnet {
  const { kind, name, callbacks = {}, shared, discardable = [], budgets = [] } = options;
  const { multiAgent, from, done } = slot;
  const identity: AgentIdentity = { agentName: name, multiAgent };
  const hasBefore = hasBeforeAgent(callbacks);
  const hasAfter = hasAfterAgent(callbacks);
  const before = hasBefore
    ? [
        beforeAgentEffect({
          ...identity,
          callbacks,
          from,
          startPlace: agentStarting,
          endPlace: done,
        }),
      ]
    : [];
  const after = hasAfter ? [afterAgentEffect({ ...identity, callbacks, endPlace: done })] : [];
  const callbackEffects: readonly Effect[] = [...before, ...after];
  const transitions = options.transitions({
    startPlace: hasBefore ? agentStarting : from,
    endPlace: hasAfter ? agentEnded : done,
    identity,
  });
  const ports: Ports = Object.fromEntries(
    [from, done, ...shared].map((place) => [place.name, place]),
  );
  const composite = net(kind, {
    in: { ...ports, state, turnStopping, sessionPaused },
    out: { conversation, sessionWrite, stopAsked: stopRequested, turnStopping, eventOut },
    transitions: [...callbackEffects, ...transitions],
  });
  const subnet = instance(name, composite);
  const held = [
    ...(hasBefore ? [agentStarting] : []),
    ...(hasAfter ? [agentEnded] : []),
    ...discardable,
  ];
  const resources = {
    identity,
    scoped: <P extends AnyPlace>(place: P): P => place,
    callEffects: noCallEffects,
    mustAnswer: [],
    discardable: [...held.map((place) => scopedPlace(name, place)), ...runningPlaces(subnet)],
    budgets: budgets.map((place) => scopedPlace(name, place)),
    ...(options.continues === true && {
      continuation: {
        kept: [...held, ...budgets].map((place) => scopedPlace(name, place)),
        restarts: [
          ...before.map((t) =>
            restart(scopedPlace(name, running(t)), from, ({ inputs }) => inputs.start),
          ),
          ...after.map((t) =>
            restart(
              scopedPlace(name, running(t)),
              scopedPlace(name, agentEnded),
              ({ inputs }) => inputs.ending,
            ),
          ),
        ],
      },
    }),
  } as const;
  return { net: withPorts(subnet, resources), resources, running: runningPlaces(subnet) };
}
