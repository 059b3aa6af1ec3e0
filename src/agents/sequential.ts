import { checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { allOf, pure } from '../net/index.ts';
import type { Transition } from '../net/index.ts';
import type { Agent, AgentRole } from './agent.ts';
import { composeAgents } from './compose-agents.ts';
import { checkFlow, FLOW_NAMES } from './flow-definition.ts';
import type { FlowDefinition } from './flow-definition.ts';
import { startAfter } from './flow-token.ts';
import { endOf, flowUnit } from './flow-unit.ts';
import { doneOf, targetOf, turnStopping } from './places.ts';

/** The options of `sequential`. */
export const SEQUENTIAL_OPTIONS: OptionTable = optionTable<FlowDefinition>('sequential', {
  ...FLOW_NAMES,
});

/**
 * Agents one after the other, each hearing what those before it said. What one keeps under its `outputKey`, the next
 * finds in state.
 * @throws InvalidInputError, NetBuildError
 */
export function sequential(definition: FlowDefinition): Agent {
  checkOptions(SEQUENTIAL_OPTIONS, definition);
  checkFlow(definition);
  return composeAgents(definition, sequenceRole(definition));
}

function sequenceRole(definition: FlowDefinition): AgentRole {
  const { name, subAgents, callbacks, extensions = [] } = definition;
  const last = subAgents.length - 1;
  return {
    kind: 'sequence',
    subAgents,
    tools: new Map(),
    extensions,
    transfers: { toParent: true, toPeers: true },
    subPlacement: (index, placement) => ({
      among: placement.among,
      done:
        index === last ? endOf(name, callbacks, placement) : doneOf(subAgents[index]?.name ?? ''),
    }),
    unitAt: (placement) =>
      flowUnit(
        {
          kind: 'sequence',
          name,
          ...(callbacks !== undefined && { callbacks }),
          shared: [
            ...subAgents.map((agent) => targetOf(agent.name)),
            ...subAgents.slice(0, -1).map((agent) => doneOf(agent.name)),
          ],
          transitions: ({ begins }) => [
            pure('agent.begin', {
              take: { start: begins },
              unless: [turnStopping],
              give: allOf({ next: targetOf(subAgents[0]?.name ?? '') }),
              run: ({ start }) => ({ next: start }),
            }),
            ...subAgents
              .slice(1)
              .map((agent, index) => then(subAgents[index]?.name ?? '', agent.name)),
          ],
        },
        placement,
      ),
  };
}

function then(before: string, next: string): Transition {
  return pure(`then.${next}`, {
    take: { done: doneOf(before) },
    unless: [turnStopping],
    give: allOf({ next: targetOf(next) }),
    run: ({ done }) => ({ next: startAfter(done) }),
  });
}
