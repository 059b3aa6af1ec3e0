import { checkDefinition, omitUndefined, optionTable } from '../../core/internal.ts';
import type { OptionTable } from '../../core/index.ts';
import { all, allOf, oneOf, pure } from '../../net/index.ts';
import type { AnyPlace, TokenPlace, Transition } from '../../net/index.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import { composeAgents } from '../composition/compose-agents.ts';
import { checkComposite, COMPOSITE_OPTION_NAMES } from '../composition/composite-definition.ts';
import type { CompositeAgentDefinition } from '../composition/composite-definition.ts';
import { continueFrom } from '../composition/agent-ending.ts';
import { findEndPlace, compositeSubnet } from '../composition/composite-subnet.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { donePlace, targetPlace } from '../vocabulary/handover.ts';
import type { Ending } from '../vocabulary/turn.ts';

/** The definition of an agent that runs its sub-agents in order. */
export interface SequentialDefinition extends CompositeAgentDefinition {
  /**
   * While one of these places has a token, an agent that ends without `escalate` keeps the conversation: the turn ends, and
   * the next agent does not start. For live sessions, where an agent talks with the user for several turns. Default: none.
   */
  readonly conversationPlaces?: readonly AnyPlace[];
}

/** The options of `sequential`. */
export const SEQUENTIAL_OPTIONS: OptionTable = optionTable<SequentialDefinition>('sequential', {
  ...COMPOSITE_OPTION_NAMES,
  conversationPlaces: true,
});

/**
 * Creates an agent that runs its sub-agents in order. Each sees the messages of those before it, and can read their
 * answers from state if they have an `outputKey`.
 * @throws InvalidInputError, UnknownFieldError, NetBuildError
 */
export function sequential(definition: SequentialDefinition): Agent {
  checkDefinition(SEQUENTIAL_OPTIONS, definition);
  checkComposite(definition);
  return composeAgents(definition, sequentialRole(definition));
}

function sequentialRole(definition: SequentialDefinition): AgentRole {
  const { name, subAgents, callbacks, extensions = [], conversationPlaces = [] } = definition;
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
            ...conversationPlaces,
          ],
          transitions: ({ startPlace, endPlace }) => [
            pure('agent.begin', {
              take: { start: startPlace },
              unless: [turnStopping],
              give: allOf({ next: targetPlace(subAgents[0]?.name ?? '') }),
              run: ({ start }) => ({ next: start }),
            }),
            ...subAgents.slice(1).map((agent, index) => {
              const before = subAgents[index]?.name ?? '';
              return conversationPlaces.length === 0
                ? handOver(before, agent.name)
                : handOverWhenDone(before, agent.name, { conversationPlaces, endPlace });
            }),
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

/** Starts the next agent; in a conversation only when the agent before it has said that it is done. */
function handOverWhenDone(
  before: string,
  next: string,
  {
    conversationPlaces,
    endPlace,
  }: { readonly conversationPlaces: readonly AnyPlace[]; readonly endPlace: TokenPlace<Ending> },
): Transition {
  return pure(`agent.start-${next}`, {
    take: { done: donePlace(before) },
    read: Object.fromEntries(
      conversationPlaces.map((place) => [place.name, all(place, { min: 0 })]),
    ),
    unless: [turnStopping],
    give: oneOf({ next: targetPlace(next), stay: endPlace }),
    run: ({ done, ...held }) => {
      const isConversation = Object.values(held).some(({ length }) => length > 0);
      if (isConversation && done.escalate !== true) return { stay: done };
      const { escalate: _, ...ending } = done;
      return { next: continueFrom(isConversation ? ending : done) };
    },
  });
}
