import * as v from 'valibot';
import { all, allOf, net, oneOf, optional, place, pure } from '../../net/index.ts';
import type { AllOf, Net, Optional, TokenPlace } from '../../net/index.ts';
import { scopedPlace } from '../turn/scoped-place.ts';
import { endingSchema } from '../vocabulary/turn.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { agentEnded } from '../vocabulary/handover.ts';
import type { Ending } from '../vocabulary/turn.ts';

/** Agents that handed the turn over and whose callbacks after them are still to be asked, the latest last. */
export interface AgentCallers {
  readonly names: readonly string[];
}

/** Where agents that hand the turn to each other meet when one of them is done. */
export interface AgentReturns {
  readonly callers: TokenPlace<AgentCallers>;
  /** One of them is done. */
  readonly ending: TokenPlace<Ending>;
}

/** There while agents wait for one that they handed the turn to. */
export const agentCallers: TokenPlace<AgentCallers> = place(
  'agent.callers',
  v.object({ names: v.pipe(v.array(v.string()), v.readonly()) }),
  { version: 1 },
);

/** One of several agents that hand the turn to each other is done. */
export const agentReturning: TokenPlace<Ending> = place('agent.returning', endingSchema, {
  version: 1,
});

/** The places of the agents that hand the turn to each other, the first of which has this name. */
export function returnPlaces(agentName: string): AgentReturns {
  return {
    callers: scopedPlace(agentName, agentCallers),
    ending: scopedPlace(agentName, agentReturning),
  };
}

/** The callers with one more. */
export function pushCaller(before: readonly AgentCallers[], agentName: string): AgentCallers {
  return { names: [...before.flatMap(({ names }) => names), agentName] };
}

export interface AgentReturnsOptions {
  /** The first of the agents, which names the transition. */
  readonly name: string;
  readonly returns: AgentReturns;
  /** The agents that may hand the turn over and have callbacks after them. */
  readonly callers: readonly string[];
  /** Where all of them are done. */
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
 * When an agent is done that others handed the turn to, the callbacks after each of those are asked, the latest caller
 * first. As in ADK, where an agent runs inside the one that handed it the turn.
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
    transitions: [{ ...transition, name: `${name}/${transition.name}` }],
  });
}
