import type { Node } from 'oxc-parser';

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The nodes that are members of a node, in no order. */
export function listChildren(node: Node): readonly Node[] {
  return Object.values(node).flat().filter(isNode);
}
