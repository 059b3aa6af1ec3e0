import type { Content, JsonObject } from '../../core/index.ts';
import type { Actions } from '../../tools/index.ts';
import type { ExtendContext, GeneratorContext } from '../generator/live-context.ts';
import { findUserContent } from '../vocabulary/find-user-content.ts';
import type { NodeStep } from './workflow-places.ts';

/** The context that a node of a workflow runs with. */
export interface NodeContext extends GeneratorContext {
  readonly nodeName: string;
  /** The path of runs that led to this one, included: `billing-flow/classify@1/refund@1`. */
  readonly nodePath: string;
  readonly runId: string;
  /** The user's message that started the invocation. */
  readonly userContent: Content | undefined;
  readonly actions: Pick<Actions, 'endInvocation'>;
  /** The answers to its questions so far, by the id of the question. */
  readonly resumeInputs: JsonObject;
}

/** The members of a node's context. */
export function nodeContext(nodeName: string): ExtendContext<NodeStep, NodeContext> {
  return ({ step: { path, runId, invocationId }, conversation }, { getInputs, act }) => ({
    nodeName,
    nodePath: path,
    runId,
    userContent: findUserContent(conversation, invocationId),
    actions: { endInvocation: () => act({ endInvocation: true }) },
    get resumeInputs() {
      return getInputs().step.answers ?? {};
    },
  });
}
