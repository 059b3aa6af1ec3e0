import type { Route } from '../../core/index.ts';
import type { AnyPlace, Effect } from '../../net/index.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { itemEffect } from './item-effect.ts';
import { functionEffect } from './node-effect.ts';
import { selectEdges } from './select-edges.ts';
import type { WorkflowDefinition, WorkflowNodeDefinition } from './workflow-definition.ts';
import {
  itemDone,
  nodeDone,
  nodeItem,
  nodeReady,
  nodeStep,
  nodeWaiting,
} from './workflow-places.ts';

/** The places of a node whose tokens mean work to do, and the effects that run it. */
export function buildNodePart(
  node: WorkflowNodeDefinition,
  { edges, checkState }: WorkflowDefinition,
  nodeIdentity: (node: string) => AgentIdentity,
): { readonly places: readonly AnyPlace[]; readonly effects: readonly Effect[] } {
  const { name } = node;
  const options = {
    identity: nodeIdentity(name),
    isLast: (route: Route | undefined) =>
      selectEdges(
        edges.filter(({ from }) => from === name),
        route,
      ).length === 0,
    checkState,
  };
  switch (node.kind) {
    case 'function':
      return {
        places: [nodeReady(name), nodeStep(name), nodeDone(name)],
        effects: [functionEffect(node, options)],
      };
    case 'each':
    case 'each-agent':
      return {
        places: [
          nodeReady(name),
          nodeWaiting(name),
          nodeItem(name),
          itemDone(name),
          nodeDone(name),
        ],
        effects: [itemEffect(node, options)],
      };
    case 'agent':
      return { places: [nodeReady(name), nodeWaiting(name), nodeDone(name)], effects: [] };
    case 'join':
      return { places: [nodeDone(name)], effects: [] };
    default:
      return node satisfies never;
  }
}
