import { checkDefinition, omitUndefined, optionTable } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { allOf, pure, upTo } from '../../net/index.ts';
import type { TokenPlace, Transition } from '../../net/index.ts';
import { COMPOSITE_OPTION_NAMES } from '../composition/composite-definition.ts';
import { hasAfterAgent } from '../callbacks/agent-callbacks.ts';
import { checkAgentName } from '../vocabulary/check-agent-name.ts';
import { checkAgents } from '../agent/check-agents.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import { composeAgents } from '../composition/compose-agents.ts';
import { stepEffect, toEnding } from './custom-step.ts';
import type { CustomStepDefinition } from './custom-step.ts';
import { transferTransitions } from './custom-transfer.ts';
import { customBudget, customStep, customTransfer, customWaiting } from './custom-places.ts';
import type { CompositeAgentDefinition } from '../composition/composite-definition.ts';
import { compositeSubnet } from '../composition/composite-subnet.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { donePlace, targetPlace } from '../vocabulary/handover.ts';
import { addReply } from '../generator/generator-step.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import { transferBudget } from '../transfer/transfer.ts';

/** The definition of a custom agent. */
export interface CustomDefinition
  extends Omit<CompositeAgentDefinition, 'subAgents'>, CustomStepDefinition {
  readonly subAgents?: readonly Agent[];
  /** The most yields of one turn, from 1 to 10,000. Default: 100. */
  readonly maxYields?: number;
}

const DEFAULT_MAX_YIELDS = 100;

/** The options of `custom`. */
export const CUSTOM_OPTIONS: OptionTable = optionTable<CustomDefinition>('custom', {
  ...COMPOSITE_OPTION_NAMES,
  run: true,
  maxYields: true,
  timeoutMs: true,
});

/**
 * Creates an agent from a generator function. Each step between two yields is an effect, and each yield a commit.
 * @throws InvalidInputError, UnknownFieldError, NetBuildError
 */
export function custom(definition: CustomDefinition): Agent {
  checkDefinition(CUSTOM_OPTIONS, definition);
  const { name, maxYields = DEFAULT_MAX_YIELDS } = definition;
  checkAgentName(name);
  checkAgents('subAgents', definition.subAgents ?? []);
  if (!Number.isInteger(maxYields) || maxYields < 1 || maxYields > 10_000)
    throw new InvalidInputError(
      'maxYields',
      `must be a whole number from 1 to 10000; it is ${maxYields}.`,
    );
  return composeAgents(definition, customRole(definition, maxYields));
}

function customRole(definition: CustomDefinition, maxYields: number): AgentRole {
  const { name, subAgents = [], callbacks, extensions = [] } = definition;
  const names = subAgents.map((agent) => agent.name);
  return {
    kind: 'custom',
    subAgents,
    tools: new Map(),
    extensions,
    transfers: { toParent: true, toPeers: true },
    hasAfterAgent: hasAfterAgent(callbacks ?? {}),
    childSlot: (index, { multiAgent }) => ({ multiAgent, done: donePlace(names[index] ?? '') }),
    buildSubnet: (slot) => {
      const foreignTargets = slot.targets
        .map((target) => target.name)
        .filter((target) => !names.includes(target));
      const callers =
        foreignTargets.length > 0 && hasAfterAgent(callbacks ?? {})
          ? slot.returns?.callers
          : undefined;
      return compositeSubnet(
        {
          kind: 'custom',
          name,
          ...omitUndefined({ callbacks }),
          shared: [
            ...[...names, ...foreignTargets].map(targetPlace),
            ...names.map(donePlace),
            ...(foreignTargets.length > 0 ? [transferBudget] : []),
            ...(callers === undefined ? [] : [callers]),
          ],
          discardable: [
            customStep,
            ...(names.length > 0 ? [customWaiting] : []),
            ...(foreignTargets.length > 0 ? [customTransfer] : []),
          ],
          budgets: [customBudget],
          transitions: (between) => [
            beginTransition(between.startPlace, maxYields),
            stepEffect(definition, names, foreignTargets, between),
            ...names.map(resumeTransition),
            ...transferTransitions(name, foreignTargets, between.endPlace, callers),
            finishTransition(name, maxYields, between.endPlace),
          ],
        },
        slot,
      );
    },
  };
}

function beginTransition(from: TokenPlace<ModelCall>, maxYields: number): Transition {
  return pure('agent.begin', {
    take: { start: from },
    unless: [turnStopping],
    reset: [customBudget],
    give: allOf({ step: customStep, budget: upTo(maxYields + 1, customBudget) }),
    run: ({ start }, { firingId }) => ({
      step: { ...start, activation: firingId, yielded: 0 },
      // One more than the yields, for the step after the last yield, in which the generator returns.
      budget: Array.from({ length: maxYields + 1 }, () => null),
    }),
  });
}

function finishTransition(
  name: string,
  maxYields: number,
  endPlace: TokenPlace<Ending>,
): Transition {
  return pure('custom.finish', {
    take: { step: customStep },
    unless: [customBudget, turnStopping],
    priority: -1,
    give: allOf({ ending: endPlace, events: upTo(1, eventOut) }),
    run: ({ step }) => ({
      ending: { ...toEnding(step), stopReason: 'budget_reached' },
      events: [
        {
          type: 'error',
          invocationId: step.invocationId,
          /**
           * The generator of a custom agent yielded more often than `maxYields` allows in one turn. The turn was
           * stopped.
           * @remedy Raise `maxYields`, or find out why the generator does not end.
           */
          code: 'yield_limit',
          message: `"${name}" yielded ${maxYields} times in one turn without ending: it was stopped. Raise maxYields, or find out why it does not end.`,
        },
      ],
    }),
  });
}

function resumeTransition(sub: string): Transition {
  return pure(`custom.resume-${sub}`, {
    take: { waiting: customWaiting, done: donePlace(sub) },
    unless: [turnStopping],
    give: allOf({ next: customStep }),
    run: ({ waiting, done: { stopReason, escalate, round = waiting.round } }) => {
      const escalates = escalate === true ? escalate : undefined;
      const reply = { stopReason, ...omitUndefined({ escalate: escalates }) };
      return { next: { ...addReply(waiting, reply), round } };
    },
  });
}
