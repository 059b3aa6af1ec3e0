import { checkDefinition, omitUndefined, optionTable } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { allOf, oneOf, place, pure, upTo } from '../../net/index.ts';
import type { TokenPlace, Transition } from '../../net/index.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import { composeAgents } from '../composition/compose-agents.ts';
import { checkComposite, COMPOSITE_OPTION_NAMES } from '../composition/composite-definition.ts';
import type { CompositeAgentDefinition } from '../composition/composite-definition.ts';
import { continueFrom } from '../composition/agent-ending.ts';
import { compositeSubnet } from '../composition/composite-subnet.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { donePlace, targetPlace } from '../vocabulary/handover.ts';
import type { Ending } from '../vocabulary/turn.ts';

/** The definition of a loop agent. ADK's `LoopAgent`. */
export interface LoopDefinition extends CompositeAgentDefinition {
  /** The most iterations, from 1 to 1,000. Default: 25. */
  readonly maxIterations?: number;
}

/** One token for each further iteration that a loop may begin. */
export const loopBudget: TokenPlace<null> = place('loop.budget');

const DEFAULT_MAX_ITERATIONS = 25;

/** The options of `loop`. */
export const LOOP_OPTIONS: OptionTable = optionTable<LoopDefinition>('loop', {
  ...COMPOSITE_OPTION_NAMES,
  maxIterations: true,
});

/**
 * Creates an agent that runs its sub-agents in order, repeatedly. The loop ends when a sub-agent that escalated is done,
 * or when the iterations are used up; the stop reason is then `budget_reached`. Iterations are counted with tokens.
 * @throws InvalidInputError, UnknownFieldError, NetBuildError
 */
export function loop(definition: LoopDefinition): Agent {
  checkDefinition(LOOP_OPTIONS, definition);
  checkComposite(definition);
  const { maxIterations = DEFAULT_MAX_ITERATIONS } = definition;
  if (!Number.isInteger(maxIterations) || maxIterations < 1 || maxIterations > 1000)
    throw new InvalidInputError(
      'maxIterations',
      `must be a whole number from 1 to 1000; it is ${maxIterations}.`,
    );
  return composeAgents(definition, loopRole(definition, maxIterations));
}

function loopRole(definition: LoopDefinition, maxIterations: number): AgentRole {
  const { name, subAgents, callbacks, extensions = [] } = definition;
  const names = subAgents.map((agent) => agent.name);
  const [first = ''] = names;
  const again = maxIterations - 1;
  return {
    kind: 'loop',
    subAgents,
    tools: new Map(),
    extensions,
    transfers: { toParent: true, toPeers: true },
    childSlot: (index, { multiAgent }) => ({ multiAgent, done: donePlace(names[index] ?? '') }),
    buildSubnet: (slot) =>
      compositeSubnet(
        {
          kind: 'loop',
          name,
          continues: true,
          ...omitUndefined({ callbacks }),
          shared: [...names.map(targetPlace), ...names.map(donePlace)],
          budgets: [loopBudget],
          transitions: ({ startPlace, endPlace }) => [
            pure('agent.begin', {
              take: { start: startPlace },
              unless: [turnStopping],
              reset: [loopBudget],
              give: allOf({
                next: targetPlace(first),
                budget: upTo(Math.max(1, again), loopBudget),
              }),
              run: ({ start }) => ({
                next: start,
                budget: Array.from({ length: again }, () => null),
              }),
            }),
            ...names.slice(1).map((sub, index) => handOver(names[index] ?? '', sub, endPlace)),
            pure('loop.repeat', {
              formerNames: ['loop.again'],
              take: { done: donePlace(names.at(-1) ?? ''), budget: loopBudget },
              unless: [turnStopping],
              give: oneOf({ next: targetPlace(first), exit: endPlace }),
              run: ({ done }) =>
                done.escalate === true
                  ? { exit: withoutEscalation(done) }
                  : { next: continueFrom(done) },
            }),
            pure('loop.finish', {
              take: { done: donePlace(names.at(-1) ?? '') },
              unless: [loopBudget, turnStopping],
              priority: -1,
              give: allOf({ exit: endPlace }),
              run: ({ done }) => ({ exit: budgetReached(done) }),
            }),
          ],
        },
        slot,
      ),
  };
}

function handOver(before: string, next: string, endPlace: TokenPlace<Ending>): Transition {
  return pure(`agent.start-${next}`, {
    formerNames: [`then.${next}`],
    take: { done: donePlace(before) },
    unless: [turnStopping],
    give: oneOf({ next: targetPlace(next), exit: endPlace }),
    run: ({ done }) =>
      done.escalate === true ? { exit: withoutEscalation(done) } : { next: continueFrom(done) },
  });
}

/** Removes `escalate`, which applies to this loop only and not to what encloses it. */
function withoutEscalation({ escalate: _escalate, ...ending }: Ending): Ending {
  return ending;
}

/** The ending after the last iteration. An agent that escalates in it ends the loop without `budget_reached`. */
function budgetReached(done: Ending): Ending {
  const ending = withoutEscalation(done);
  return done.escalate !== true && ending.stopReason === 'end_turn'
    ? { ...ending, stopReason: 'budget_reached' }
    : ending;
}
