import { isJsonObject } from '../../core/index.ts';
import type { AgentRole, NodeRun } from '../agent/agent.ts';
import type { WorkflowNodeDefinition } from './workflow-definition.ts';
import { nodeDone, nodeStep, nodeWaiting } from './workflow-places.ts';

/**
 * Creates the function that finds the nodes that begin or end with a firing. A node that is an agent has the events of
 * that agent, and a join takes no time.
 */
export function createNodeRuns(
  nodes: readonly WorkflowNodeDefinition[],
): NonNullable<AgentRole['listNodeRuns']> {
  const steps = nodes.filter(({ kind }) => kind !== 'agent' && kind !== 'join');
  return (t, give) =>
    steps.flatMap(({ name }): readonly NodeRun[] => {
      const isStart = t === `node.start-${name}`;
      const places = isStart ? [nodeStep(name), nodeWaiting(name)] : [nodeDone(name)];
      const [token] = places.flatMap((place) => give.get(place.name) ?? []);
      if (!isJsonObject(token)) return [];
      const { path, runId } = token;
      if (typeof path !== 'string') return [];
      const info = { path, name, ...(typeof runId === 'string' && { runId }) };
      return [{ type: isStart ? 'node.started' : 'node.ended', name, nodeInfo: info }];
    });
}
