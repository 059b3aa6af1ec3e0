import { InvalidInputError, checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { allOf, pure } from '../net/index.ts';
import type { Agent, AgentRole } from './agent.ts';
import { composeAgents } from './compose-agents.ts';
import { checkFlow, FLOW_NAMES } from './flow-definition.ts';
import type { FlowDefinition } from './flow-definition.ts';
import { endingOfAll } from './flow-token.ts';
import { flowUnit } from './flow-unit.ts';
import { doneOf, targetOf, turnStopping } from './places.ts';
import type { Ending, ModelCall } from './places.ts';

/** The options of `parallel`. */
export const PARALLEL_OPTIONS: OptionTable = optionTable<FlowDefinition>('parallel', {
  ...FLOW_NAMES,
});

/**
 * Agents side by side, none of which hears the others. It is done when all are. Each has a branch of its own in the
 * log: `research.physics`.
 * @throws InvalidInputError, NetBuildError
 */
export function parallel(definition: FlowDefinition): Agent {
  checkOptions(PARALLEL_OPTIONS, definition);
  checkFlow(definition);
  checkOutputs(definition);
  return composeAgents(definition, parallelRole(definition));
}

function parallelRole(definition: FlowDefinition): AgentRole {
  const { name, subAgents, callbacks, extensions = [] } = definition;
  const names = subAgents.map((agent) => agent.name);
  return {
    kind: 'parallel',
    subAgents,
    tools: new Map(),
    extensions,
    transfers: { toParent: true, toPeers: true },
    subPlacement: (index, { among }) => {
      const sub = names[index] ?? '';
      const outer = among.branch === undefined ? name : `${among.branch}.${name}`;
      return { among: { branch: `${outer}.${sub}` }, done: doneOf(sub) };
    },
    unitAt: (placement) =>
      flowUnit(
        {
          kind: 'parallel',
          name,
          ...(callbacks !== undefined && { callbacks }),
          shared: [...names.map(targetOf), ...names.map(doneOf)],
          transitions: ({ begins, ends }) => [
            pure('agent.begin', {
              take: { start: begins },
              unless: [turnStopping],
              give: allOf(Object.fromEntries(names.map((sub) => [sub, targetOf(sub)]))),
              run: ({ start }) =>
                Object.fromEntries(names.map((sub): [string, ModelCall] => [sub, start])),
            }),
            pure('agent.join', {
              take: Object.fromEntries(names.map((sub) => [sub, doneOf(sub)])),
              unless: [turnStopping],
              give: allOf({ ending: ends }),
              run: (done: Readonly<Record<string, Ending>>) => ({
                ending: endingOfAll(Object.values(done)),
              }),
            }),
          ],
        },
        placement,
      ),
  };
}

/** Two that keep their words under one key would overwrite each other, and chance decide which stay. */
function checkOutputs({ name, subAgents }: FlowDefinition): void {
  const keys = subAgents.map(outputKeysOf);
  const clash = keys.flatMap((own, index) =>
    own.filter((key) => keys.slice(index + 1).some((others) => others.includes(key))),
  )[0];
  if (clash === undefined) return;
  throw new InvalidInputError(
    'outputKey',
    `"${clash}" is that of two agents side by side in "${name}": give each its own.`,
  );
}

function outputKeysOf({ role }: Agent): readonly string[] {
  const own = role.outputKey === undefined ? [] : [role.outputKey];
  return [...own, ...role.subAgents.flatMap(outputKeysOf)];
}
