import { omitUndefined } from '../../core/internal.ts';
import { allOf, compose, instance, net, pure, upTo } from '../../net/index.ts';
import { portPlaces, renameTransition, scopedName } from '../../net/internal.ts';
import type { AnyPlace, Effect, Net, Ports } from '../../net/index.ts';
import type { Tool } from '../../tools/index.ts';
import type { AgentSubnet, AgentSlot } from '../agent/agent-subnet.ts';
import { hasAfterAgent, hasBeforeAgent } from '../callbacks/agent-callbacks.ts';
import { llmAgentParts } from './llm-agent-parts.ts';
import type { LlmSubnets, LlmDefinition, ModelPort } from './llm-agent-parts.ts';
import { answerIn, eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { turnBudget, turnCurrent, turnEnding, turnWaiting } from '../vocabulary/turn.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import { modelRequest } from '../vocabulary/model-call.ts';
import { toolParked } from '../vocabulary/tool-call.ts';
import { agentStarting, targetPlace } from '../vocabulary/handover.ts';
import { sessionPaused } from '../vocabulary/session.ts';
import { runningPlaces, scopedPlace } from '../turn/scoped-place.ts';
import { withPorts } from '../turn/turn-resources.ts';
import { transferRouter } from '../transfer/transfer-router.ts';
import { transferBudget } from '../transfer/transfer.ts';
import { scopedContinuation } from '../turn/continuation.ts';
import type { TurnResources } from '../turn/turn-resources.ts';

/** Options of `llmSubnet`. */
export interface LlmSubnetOptions {
  readonly definition: LlmDefinition;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly reaskBudget: number;
  readonly replaceSubnets: (stock: LlmSubnets, port: ModelPort) => LlmSubnets;
}

/** The subnet of an agent with a model in a session of several. The names of its places and transitions begin with its name. */
export function llmSubnet(options: LlmSubnetOptions, slot: AgentSlot): AgentSubnet {
  const { tools, reaskBudget, replaceSubnets } = options;
  const { multiAgent, from, done, targets, parentName, returns, globalInstruction } = slot;
  const definition = {
    ...options.definition,
    ...omitUndefined({ globalInstruction }),
  };
  const { name } = definition;
  const callers =
    hasAfterAgent(definition.callbacks ?? {}) && targets.length > 0 ? returns?.callers : undefined;
  const parts = llmAgentParts({
    definition,
    tools,
    multiAgent,
    targets,
    ...omitUndefined({ parentName }),
    from,
    startPlace: agentStarting,
  });
  const scoped: ModelPort['scoped'] = (place) => scopedPlace(name, place);
  const stock: LlmSubnets = {
    ...parts.stock,
    ...(targets.length > 0 && {
      transferRouter: transferRouter({
        agentName: name,
        multiAgent,
        targets,
        ...omitUndefined({ callers }),
      }),
    }),
  };
  const subnets = replaceSubnets(stock, {
    ...parts.port,
    request: scoped(parts.port.request),
    response: scoped(parts.port.response),
    scoped,
  });
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
  const composed = compose('llm-agent', {
    in: {
      from,
      answerIn,
      turnCurrent,
      turnStopping,
      sessionPaused,
      state,
      ...omitUndefined({ callers }),
      ...listAddedPorts(parts.stock.modelStep, subnets.modelStep),
    },
    out: {
      turnEnding,
      turnCurrent,
      turnWaiting,
      stopAsked: stopRequested,
      sessionWrite,
      conversation,
      eventOut,
      ...omitUndefined({ turnTransfers: targets.length > 0 ? transferBudget : undefined, callers }),
      ...Object.fromEntries(targets.map((target) => [target.name, targetPlace(target.name)])),
    },
    nets: [
      net('agent-begin', {
        in: { from, agentStarting, turnStopping },
        out: { modelRequest, turnBudget },
        transitions: [begin],
      }),
      ...parts.netsWith(subnets),
      ...(targets.length > 0 && subnets.transferRouter !== undefined
        ? [subnets.transferRouter]
        : []),
    ],
  });
  const resources = scopedResources(name, parts.resources, from);
  const subnet = instance(name, composed, { turnEnding: done });
  return {
    net: withPorts(subnet, resources),
    resources,
    parked: scopedPlace(name, toolParked),
    running: runningPlaces(subnet),
    workPlaces: parts.workPlaces.map((place) => scopedPlace(name, place)),
  };
}

/** The ports of a replaced subnet that the stock one does not have: places of the session. */
function listAddedPorts(stock: Net, replaced: Net): Ports {
  const known = new Set(portPlaces(stock).map((place) => place.name));
  return Object.fromEntries(
    portPlaces(replaced)
      .filter((place) => !known.has(place.name))
      .map((place) => [place.name, place]),
  );
}

function scopedResources(
  agentName: string,
  resources: TurnResources,
  from: AnyPlace,
): TurnResources {
  const scopedEffect = <E extends Effect>(t: E): E =>
    renameTransition(t, (own) => scopedName(agentName, own));
  const scoped = (place: AnyPlace): AnyPlace => scopedPlace(agentName, place);
  return {
    identity: resources.identity,
    scoped: (place) => scopedPlace(agentName, place),
    callEffects: {
      ...resources.callEffects,
      beforeTool: resources.callEffects.beforeTool.map(scopedEffect),
      runTool: resources.callEffects.runTool.map(scopedEffect),
      afterTool: resources.callEffects.afterTool.map(scopedEffect),
    },
    mustAnswer: resources.mustAnswer.map(scoped),
    discardable: resources.discardable.map(scoped),
    budgets: resources.budgets.map(scoped),
    ...omitUndefined({
      continuation:
        resources.continuation &&
        scopedContinuation(resources.continuation, (place) =>
          place.name === from.name ? place : scoped(place),
        ),
    }),
  };
}
