import { checkDefinition, omitUndefined, optionTable } from '../../core/internal.ts';
import type { OptionTable } from '../../core/index.ts';
import { allOf, pure } from '../../net/index.ts';
import type { Transition } from '../../net/index.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import { composeAgents } from '../composition/compose-agents.ts';
import { checkComposite, COMPOSITE_OPTION_NAMES } from '../composition/composite-definition.ts';
import type { CompositeAgentDefinition } from '../composition/composite-definition.ts';
import { continueFrom } from '../composition/agent-ending.ts';
import { findEndPlace, compositeSubnet } from '../composition/composite-subnet.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { donePlace, targetPlace } from '../vocabulary/handover.ts';

/** The options of `sequential`. */
export const SEQUENTIAL_OPTIONS: OptionTable = optionTable<CompositeAgentDefinition>('sequential', {
  ...COMPOSITE_OPTION_NAMES,
});

/**
 * Creates an agent that runs its sub-agents in order. Each sees the messages of those before it, and can read their
 * answers from state if they have an `outputKey`.
 * @throws InvalidInputError, UnknownFieldError, NetBuildError
 */
export function sequential(definition: CompositeAgentDefinition): Agent {
  checkDefinition(SEQUENTIAL_OPTIONS, definition);
  checkComposite(definition);
  return composeAgents(definition, sequentialRole(definition));
}

function sequentialRole(definition: CompositeAgentDefinition): AgentRole {
  const { name, subAgents, callbacks, extensions = [] } = definition;
  const last = subAgents.length - 1;
  return {
    kind: 'sequence',
    subAgents,
    tools: new Map(),
    extensions,
    transfers: { toParent: true, toPeers: true },
    childSlot: (index, slot) => ({
      multiAgent: slot.multiAgent,
      done:
        index === last
          ? findEndPlace(name, callbacks, slot)
          : donePlace(subAgents[index]?.name ?? ''),
    }),
    buildSubnet: (slot) =>
      compositeSubnet(
        {
          kind: 'sequence',
          name,
          continues: true,
          ...omitUndefined({ callbacks }),
          shared: [
            ...subAgents.map((agent) => targetPlace(agent.name)),
            ...subAgents.slice(0, -1).map((agent) => donePlace(agent.name)),
          ],
          transitions: ({ startPlace }) => [
            pure('agent.begin', {
              take: { start: startPlace },
              unless: [turnStopping],
              give: allOf({ next: targetPlace(subAgents[0]?.name ?? '') }),
              run: ({ start }) => ({ next: start }),
            }),
            ...subAgents
              .slice(1)
              .map((agent, index) => handOver(subAgents[index]?.name ?? '', agent.name)),
          ],
        },
        slot,
      ),
  };
}

function handOver(before: string, next: string): Transition {
  return pure(`agent.start-${next}`, {
    formerNames: [`then.${next}`],
    take: { done: donePlace(before) },
    unless: [turnStopping],
    give: allOf({ next: targetPlace(next) }),
    run: ({ done }) => ({ next: continueFrom(done) }),
  });
}
