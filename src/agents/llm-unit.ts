import { allOf, compose, instance, net, pure, upTo } from '../net/index.ts';
import type { AnyPlace, Effect } from '../net/index.ts';
import type { Tool } from '../tools/index.ts';
import type { AgentUnit, Placement } from './agent-unit.ts';
import { hasAfterAgent, hasBeforeAgent } from './agent-callbacks.ts';
import { llmAgent } from './llm-agent.ts';
import type { AgentSubnets, LlmDefinition } from './llm-agent.ts';
import {
  agentStarting,
  answerIn,
  conversation,
  eventOut,
  modelRequest,
  sessionWrite,
  state,
  stopAsked,
  targetOf,
  toolParked,
  turnBudget,
  turnCurrent,
  turnEnding,
  turnStopping,
  turnWaiting,
} from './places.ts';
import { effectsIn, exposing, ownPlace } from './own-place.ts';
import { transferRouter } from './transfer-router.ts';
import { turnTransfers } from './transfer.ts';
import type { TurnPart } from './turn-part.ts';

export interface LlmUnitOptions {
  readonly definition: LlmDefinition;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly reaskBudget: number;
  readonly subnetsOf: (stock: AgentSubnets) => AgentSubnets;
}

/** An agent with a model among others: its own places and transitions bear its name. */
export function llmUnit(options: LlmUnitOptions, placement: Placement): AgentUnit {
  const { tools, reaskBudget, subnetsOf } = options;
  const { among, from, done, targets, returns, globalInstruction } = placement;
  const definition = {
    ...options.definition,
    ...(globalInstruction !== undefined && { globalInstruction }),
  };
  const { name } = definition;
  const callers =
    hasAfterAgent(definition.callbacks ?? {}) && targets.length > 0 ? returns?.callers : undefined;
  const made = llmAgent({ definition, tools, among, targets, from, begins: agentStarting });
  const begin = pure('agent.begin', {
    take: { start: hasBeforeAgent(definition.callbacks ?? {}) ? agentStarting : from },
    unless: [turnStopping],
    reset: [turnBudget],
    give: allOf({ request: modelRequest, budget: upTo(Math.max(1, reaskBudget), turnBudget) }),
    run: ({ start }) => ({
      request: start,
      budget: Array.from({ length: reaskBudget }, () => null),
    }),
  });
  const whole = compose('llm-agent', {
    in: {
      from,
      answerIn,
      turnCurrent,
      turnStopping,
      state,
      ...(callers !== undefined && { callers }),
    },
    out: {
      turnEnding,
      turnCurrent,
      turnWaiting,
      stopAsked,
      sessionWrite,
      conversation,
      eventOut,
      ...(targets.length > 0 && { turnTransfers }),
      ...(callers !== undefined && { callers }),
      ...Object.fromEntries(targets.map((target) => [target.name, targetOf(target.name)])),
    },
    nets: [
      net('agent-begin', {
        in: { from, agentStarting, turnStopping },
        out: { modelRequest, turnBudget },
        transitions: [begin],
      }),
      ...made.netsWith(subnetsOf(made.stock)),
      ...(targets.length > 0
        ? [
            transferRouter({
              agentName: name,
              among,
              targets,
              ...(callers !== undefined && { callers }),
            }),
          ]
        : []),
    ],
  });
  const part = ownPart(name, made.part);
  const unit = instance(name, whole, { turnEnding: done });
  return {
    net: exposing(unit, part),
    part,
    parked: ownPlace(name, toolParked),
    running: effectsIn(unit),
  };
}

function ownPart(agentName: string, part: TurnPart): TurnPart {
  const ownEffect = <E extends Effect>(t: E): E => ({ ...t, name: `${agentName}/${t.name}` });
  const own = (place: AnyPlace): AnyPlace => ownPlace(agentName, place);
  return {
    speaking: part.speaking,
    own: (place) => ownPlace(agentName, place),
    callEffects: {
      ...part.callEffects,
      asking: part.callEffects.asking.map(ownEffect),
      running: part.callEffects.running.map(ownEffect),
      ran: part.callEffects.ran.map(ownEffect),
    },
    owed: part.owed.map(own),
    dropped: part.dropped.map(own),
    budgets: part.budgets.map(own),
  };
}
