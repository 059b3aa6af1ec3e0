/** A node of a syntax tree, as far as the rules look at it. */
export type Node = Readonly<Record<string, unknown>> & { readonly type: string };

export function isNode(value: unknown): value is Node {
  return (
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
  );
}
