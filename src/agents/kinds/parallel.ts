import { checkDefinition, omitUndefined, optionTable } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { allOf, pure } from '../../net/index.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import { composeAgents } from '../composition/compose-agents.ts';
import { checkComposite, COMPOSITE_OPTION_NAMES } from '../composition/composite-definition.ts';
import type { CompositeAgentDefinition } from '../composition/composite-definition.ts';
import { mergeEndings } from '../composition/agent-ending.ts';
import { compositeSubnet } from '../composition/composite-subnet.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { toBranch } from '../vocabulary/agent-identity.ts';
import { donePlace, targetPlace } from '../vocabulary/handover.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';

/** The options of `parallel`. */
export const PARALLEL_OPTIONS: OptionTable = optionTable<CompositeAgentDefinition>('parallel', {
  ...COMPOSITE_OPTION_NAMES,
});

/**
 * Creates an agent that runs its sub-agents concurrently. It is done when all of them are. Each sub-agent runs in its own
 * branch, such as `research.physics`, and does not see messages of the others.
 * @throws InvalidInputError, also when two sub-agents have the same `outputKey`
 * @throws UnknownFieldError, NetBuildError
 */
export function parallel(definition: CompositeAgentDefinition): Agent {
  checkDefinition(PARALLEL_OPTIONS, definition);
  checkComposite(definition);
  assertUniqueOutputKeys(definition);
  return composeAgents(definition, parallelRole(definition));
}

function parallelRole(definition: CompositeAgentDefinition): AgentRole {
  const { name, subAgents, callbacks, extensions = [] } = definition;
  const names = subAgents.map((agent) => agent.name);
  return {
    kind: 'parallel',
    subAgents,
    tools: new Map(),
    extensions,
    transfers: { toParent: true, toPeers: true },
    childSlot: (index, { multiAgent }) => {
      const sub = names[index] ?? '';
      return {
        multiAgent: { branch: toBranch(name, sub, multiAgent.branch) },
        done: donePlace(sub),
      };
    },
    buildSubnet: (slot) =>
      compositeSubnet(
        {
          kind: 'parallel',
          name,
          continues: true,
          ...omitUndefined({ callbacks }),
          shared: [...names.map(targetPlace), ...names.map(donePlace)],
          transitions: ({ startPlace, endPlace }) => [
            pure('agent.begin', {
              take: { start: startPlace },
              unless: [turnStopping],
              give: allOf(Object.fromEntries(names.map((sub) => [sub, targetPlace(sub)]))),
              run: ({ start }) =>
                Object.fromEntries(names.map((sub): [string, ModelCall] => [sub, start])),
            }),
            pure('agent.join', {
              take: Object.fromEntries(names.map((sub) => [sub, donePlace(sub)])),
              unless: [turnStopping],
              give: allOf({ ending: endPlace }),
              run: (done: Readonly<Record<string, Ending>>) => ({
                ending: mergeEndings(Object.values(done)),
              }),
            }),
          ],
        },
        slot,
      ),
  };
}

/** Concurrent agents with the same output key would overwrite each other in an undefined order. */
function assertUniqueOutputKeys({ name, subAgents }: CompositeAgentDefinition): void {
  const keys = subAgents.map(listOutputKeys);
  const clash = keys.flatMap((own, index) =>
    own.filter((key) => keys.slice(index + 1).some((others) => others.includes(key))),
  )[0];
  if (clash === undefined) return;
  throw new InvalidInputError(
    'outputKey',
    `"${clash}" is used by two concurrent agents in "${name}": give each a different key.`,
  );
}

function listOutputKeys({ role }: Agent): readonly string[] {
  const own = role.outputKey === undefined ? [] : [role.outputKey];
  return [...own, ...role.subAgents.flatMap(listOutputKeys)];
}
