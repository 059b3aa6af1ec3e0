import * as v from 'valibot';
import type { JsonObject } from '../../core/index.ts';
import type { ClientTool, RunConfigJson } from '../../tools/index.ts';
import { json, object } from './place-schemas.ts';
import type { RequestedOutput } from './requested-output.ts';

/** What the sender of a message passes beside its content. No model sees it. It applies to the message's invocation. */
export interface MessageMetadata {
  /** Options for the tools of the invocation, and its limit of model calls. */
  readonly runConfig?: RunConfigJson | undefined;
  /** The trace context in which the message was sent, as `Interceptor.propagateContext` returned it. */
  readonly traceContext?: JsonObject | undefined;
  /** The output that the sender requests instead of the agent's own. */
  readonly requestedOutput?: RequestedOutput | undefined;
  /** Tools of the sender, which the model is offered beside the agent's own. */
  readonly clientTools?: readonly ClientTool[] | undefined;
  /** Custom metadata: `metadata` of `session.send`. */
  readonly custom?: JsonObject | undefined;
}

/** The schema of `MessageMetadata`, in a message and in the conversation. */
export const messageMetadataSchema: v.GenericSchema<unknown, MessageMetadata> = v.object({
  runConfig: v.optional(json<JsonObject>()),
  traceContext: v.optional(json<JsonObject>()),
  requestedOutput: v.optional(object<RequestedOutput>()),
  clientTools: v.optional(v.pipe(v.array(object<ClientTool>()), v.readonly())),
  custom: v.optional(json<JsonObject>()),
});
