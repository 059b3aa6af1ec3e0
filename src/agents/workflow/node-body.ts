import { omitUndefined } from '../../core/internal.ts';
import type { LogEntry, Route, StateWrites } from '../../core/index.ts';
import type { EffectFailure } from '../../net/index.ts';
import type { GeneratorOptions } from '../generator/generator-runtime.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { nodeContext } from './node-context.ts';
import type { NodeContext } from './node-context.ts';
import type { EachNodeDefinition, FunctionNodeDefinition } from './workflow-definition.ts';
import { toNodeInfo } from './workflow-places.ts';
import type { NodeStep } from './workflow-places.ts';

/** Options of the effects that run nodes. */
export interface NodeEffectOptions {
  /** The node as the author of its messages, with its branch. */
  readonly identity: AgentIdentity;
  /** Whether no edge follows the node with this route. The output of a last node is shown to the user. */
  readonly isLast: (route: Route | undefined) => boolean;
  /** Throws when the node may not write these values to state. */
  readonly checkState?: ((writes: StateWrites) => void) | undefined;
}

/** The default timeout of a node's step, in milliseconds. */
export const NODE_TIMEOUT_MS = 300_000;

/** The default number of items that run at once. */
export const MAX_ITEMS_AT_ONCE = 8;

/** Advice for a node that requests a transfer. */
export const NO_TRANSFER = 'is for agents: a node selects the next node with a route.';

/** The generator options that function nodes and list nodes share. */
export function bodyOptions<Step extends NodeStep>(
  { name, run, parseInput, parseOutput }: FunctionNodeDefinition | EachNodeDefinition,
  { identity, checkState }: NodeEffectOptions,
): Omit<GeneratorOptions<Step, NodeContext>, 'form'> {
  return {
    identity,
    run: (context, { input }) => run(context, parseInput === undefined ? input : parseInput(input)),
    extendContext: nodeContext(name),
    findNodeInfo: (step) => toNodeInfo(name, step),
    parseOutput: (output, { output: before }) => {
      if (before === undefined) return parseOutput?.(output) ?? output;
      throw new Error(
        `"${name}" gave two outputs in one run: give one, and yield the rest as content.`,
      );
    },
    ...omitUndefined({ checkState }),
  };
}

/** What the failure of a node becomes: the end of the turn. */
export function nodeFailed(
  name: string,
  { invocationId }: NodeStep,
  { kind, message }: EffectFailure,
): {
  readonly stop: { readonly stopReason: 'error' };
  readonly events: readonly LogEntry[];
} {
  const reason =
    kind === 'unknown'
      ? `its process died while it ran, and rerunOnResume is false: ${message}`
      : message;
  const text = `Node "${name}" failed: ${reason}`;
  return {
    stop: { stopReason: 'error' },
    events: [
      {
        type: 'error',
        invocationId,
        /**
         * A node of a workflow threw, took too long, or its process died while it ran and `rerunOnResume` is false.
         * @remedy Correct the node that the message names.
         */
        code: 'node_failed',
        message: text,
      },
    ],
  };
}
