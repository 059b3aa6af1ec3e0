import { InvalidInputError, checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { allOf, oneOf, pure, upTo } from '../net/index.ts';
import type { TokenPlace, Transition } from '../net/index.ts';
import type { Agent, AgentRole } from './agent.ts';
import { composeAgents } from './compose-agents.ts';
import { checkFlow, FLOW_NAMES } from './flow-definition.ts';
import type { FlowDefinition } from './flow-definition.ts';
import { loopBudget } from './flow-places.ts';
import { startAfter } from './flow-token.ts';
import { flowUnit } from './flow-unit.ts';
import { doneOf, targetOf, turnStopping } from './places.ts';
import type { Ending } from './places.ts';

/** The agents that a loop repeats, in their order, and how often. ADK's `LoopAgent`. */
export interface LoopDefinition extends FlowDefinition {
  /** How often the agents have their turn at most, 1 to 1000; 25 unless said. */
  readonly maxIterations?: number;
}

const DEFAULT_MAX_ITERATIONS = 25;

/** The options of `loop`. */
export const LOOP_OPTIONS: OptionTable = optionTable<LoopDefinition>('loop', {
  ...FLOW_NAMES,
  maxIterations: true,
});

/**
 * Agents one after the other, again and again: until one escalates, which ends the loop when that agent is done, or
 * the iterations are used up. Their number is a number of tokens. A turn that a loop ends because they are used up has
 * the stop reason `budget_reached`.
 * @throws InvalidInputError, NetBuildError
 */
export function loop(definition: LoopDefinition): Agent {
  checkOptions(LOOP_OPTIONS, definition);
  checkFlow(definition);
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
    subPlacement: (index, { among }) => ({ among, done: doneOf(names[index] ?? '') }),
    unitAt: (placement) =>
      flowUnit(
        {
          kind: 'loop',
          name,
          ...(callbacks !== undefined && { callbacks }),
          shared: [...names.map(targetOf), ...names.map(doneOf)],
          budgets: [loopBudget],
          transitions: ({ begins, ends }) => [
            pure('agent.begin', {
              take: { start: begins },
              unless: [turnStopping],
              reset: [loopBudget],
              give: allOf({
                next: targetOf(first),
                budget: upTo(Math.max(1, again), loopBudget),
              }),
              run: ({ start }) => ({
                next: start,
                budget: Array.from({ length: again }, () => null),
              }),
            }),
            ...names.slice(1).map((sub, index) => then(names[index] ?? '', sub, ends)),
            pure('loop.again', {
              take: { done: doneOf(names.at(-1) ?? ''), budget: loopBudget },
              unless: [turnStopping],
              give: oneOf({ next: targetOf(first), exit: ends }),
              run: ({ done }) =>
                done.escalate === true ? { exit: left(done) } : { next: startAfter(done) },
            }),
            pure('loop.finish', {
              take: { done: doneOf(names.at(-1) ?? '') },
              unless: [loopBudget, turnStopping],
              priority: -1,
              give: allOf({ exit: ends }),
              run: ({ done }) => ({ exit: exhausted(done) }),
            }),
          ],
        },
        placement,
      ),
  };
}

function then(before: string, next: string, ends: TokenPlace<Ending>): Transition {
  return pure(`then.${next}`, {
    take: { done: doneOf(before) },
    unless: [turnStopping],
    give: oneOf({ next: targetOf(next), exit: ends }),
    run: ({ done }) => (done.escalate === true ? { exit: left(done) } : { next: startAfter(done) }),
  });
}

/** The loop was what to leave: whoever is around it goes on. */
function left({ escalate: _escalate, ...ending }: Ending): Ending {
  return ending;
}

/** The iterations are used up. An agent that escalates in the last one leaves the loop all the same. */
function exhausted(done: Ending): Ending {
  const ending = left(done);
  return done.escalate !== true && ending.stopReason === 'end_turn'
    ? { ...ending, stopReason: 'budget_reached' }
    : ending;
}
