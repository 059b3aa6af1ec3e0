import * as v from 'valibot';
import { all, allOf, net, oneOf, optional, place, pure } from '../../net/index.ts';
import { renameTransition, scopedName } from '../../net/internal.ts';
import type { AllOf, Net, Optional, TokenPlace } from '../../net/index.ts';
import { scopedPlace } from '../turn/scoped-place.ts';
import { endingSchema } from '../vocabulary/turn.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { agentEnded } from '../vocabulary/handover.ts';
import type { Ending } from '../vocabulary/turn.ts';

/** Agents that transferred the turn and whose `afterAgent` callbacks have not run yet, the latest last. */
/** The agents that transferred the turn and wait for their `afterAgent` callbacks, outermost first. */
export interface AgentCallers {
  readonly names: readonly string[];
}

/** The places shared by a group of agents that transfer the turn to each other. */
export interface AgentReturns {
  readonly callers: TokenPlace<AgentCallers>;
  /** Gets the ending when an agent of the group is done. */
  readonly ending: TokenPlace<Ending>;
}

/** Holds the callers while the agent they transferred the turn to is running. */
export const agentCallers: TokenPlace<AgentCallers> = place(
  'agent.callers',
  v.object({ names: v.pipe(v.array(v.string()), v.readonly()) }),
  { version: 1 },
);

/** The ending of an agent of a group whose members transfer the turn to each other. */
export const agentReturning: TokenPlace<Ending> = place('agent.returning', endingSchema, {
  version: 1,
});

/** The shared places of a group of agents that transfer the turn to each other; the group has the name of its first agent. */
export function returnPlaces(agentName: string): AgentReturns {
  return {
    callers: scopedPlace(agentName, agentCallers),
    ending: scopedPlace(agentName, agentReturning),
  };
}

/** The callers with one more appended. */
export function pushCaller(before: readonly AgentCallers[], agentName: string): AgentCallers {
  return { names: [...before.flatMap(({ names }) => names), agentName] };
}

export interface AgentReturnsOptions {
  /** The name of the group's first agent. It prefixes the transition. */
  readonly name: string;
  readonly returns: AgentReturns;
  /** The agents that may transfer the turn and have `afterAgent` callbacks. */
  readonly callers: readonly string[];
  /** The place for the group's ending. */
  readonly done: TokenPlace<Ending>;
}

type ReturnOutputs = Readonly<
  Record<
    string,
    | TokenPlace<Ending>
    | AllOf<{
        readonly ended: TokenPlace<Ending>;
        readonly callers: Optional<AgentCallers>;
      }>
  >
>;

/**
 * Runs the `afterAgent` callbacks of every caller when the agent they transferred the turn to is done, the latest caller
 * first. ADK does the same: there an agent runs inside the agent that transferred to it.
 */
export function agentReturns({ name, returns, callers, done }: AgentReturnsOptions): Net {
  const alternatives: ReturnOutputs = {
    ...Object.fromEntries(
      callers.map((caller) => [
        `after/${caller}`,
        allOf({
          ended: scopedPlace(caller, agentEnded),
          callers: optional(returns.callers),
        }),
      ]),
    ),
    done,
  };
  const transition = pure('agent.return', {
    take: { ending: returns.ending, before: all(returns.callers, { min: 0 }) },
    unless: [turnStopping],
    give: oneOf(alternatives),
    run: ({ ending, before }) => {
      const names = before.flatMap((one) => one.names);
      const last = names.at(-1);
      if (last === undefined) return { done: ending };
      const remaining = names.slice(0, -1);
      const rest = remaining.length > 0 ? { names: remaining } : undefined;
      return { [`after/${last}`]: { ended: ending, callers: rest } };
    },
  });
  return net('agent-returns', {
    in: { ending: returns.ending, callers: returns.callers, turnStopping },
    out: {
      done,
      ...Object.fromEntries(
        callers.map((caller) => [`after/${caller}`, scopedPlace(caller, agentEnded)]),
      ),
    },
    transitions: [renameTransition(transition, (own) => scopedName(name, own))],
  });
}
