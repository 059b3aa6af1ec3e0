import * as v from 'valibot';
import type {
  Content,
  FinishReason,
  LoggedError,
  NodeInfo,
  ProviderMetadata,
  Usage,
} from '../../core/index.ts';
import type { ModelRequest } from '../../models/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { contentSchema, object } from './place-schemas.ts';

/** A model call to make. The conversation is not in it: the transition reads it. */
export interface ModelCall {
  readonly invocationId: string;
  readonly round: number;
  /** True when the agent asked to leave the enclosing loop. */
  readonly escalate?: boolean | undefined;
  /** The run of a workflow's node that this call belongs to. */
  readonly node?: NodeInfo | undefined;
  /** Members of the request that a callback replaced. */
  readonly changes?: ModelRequestChanges | undefined;
  /** The indexes of the models that were asked, if the first one failed. The last is asked now. */
  readonly askedModels?: readonly number[] | undefined;
}

/** The call from its beginning: with its callbacks, and with the first model. */
export function toFirstCall(failed: ModelCall): ModelCall {
  const { changes: _, askedModels: __, ...call } = failed;
  return call;
}

/** Members of a model request that replace those of the agent. */
export type ModelRequestChanges = Partial<ModelRequest>;

/** Schema of a `ModelCall`. */
export const modelCallSchema: v.GenericSchema<unknown, ModelCall> = v.object({
  invocationId: v.string(),
  round: v.number(),
  escalate: v.optional(v.boolean()),
  node: v.optional(object<NodeInfo>()),
  changes: v.optional(object<ModelRequestChanges>()),
  askedModels: v.optional(v.pipe(v.array(v.number()), v.readonly())),
});

/** Model calls to make. */
export const modelRequest: TokenPlace<ModelCall> = place('model.request', modelCallSchema, {
  version: 1,
});

/** Model calls that have passed the `beforeModel` callbacks. Used only by agents that have some. */
export const modelReady: TokenPlace<ModelCall> = place('model.ready', modelCallSchema, {
  version: 1,
});

/** The answer to a model call. Its function calls have the ids that the log uses. */
export interface ModelAnswer {
  readonly invocationId: string;
  readonly round: number;
  readonly escalate?: boolean | undefined;
  readonly node?: NodeInfo | undefined;
  readonly content: Content;
  readonly finishReason: FinishReason;
  readonly usage?: Usage | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

const modelAnswerSchema = v.object({
  invocationId: v.string(),
  round: v.number(),
  escalate: v.optional(v.boolean()),
  node: v.optional(object<NodeInfo>()),
  content: contentSchema,
  finishReason: v.custom<FinishReason>((value) => typeof value === 'string'),
  usage: v.optional(object<Usage>()),
  providerMetadata: v.optional(object<ProviderMetadata>()),
});

/** Answers that have not passed the `afterModel` callbacks. Used only by agents that have some. */
export const modelAnswered: TokenPlace<ModelAnswer> = place('model.answered', modelAnswerSchema, {
  version: 1,
});

/** Answers to be routed. */
export const modelResponse: TokenPlace<ModelAnswer> = place('model.response', modelAnswerSchema, {
  version: 1,
});

/** A model call that failed after its last attempt. */
export interface ModelFailure {
  readonly invocationId: string;
  /** The call that failed. An answer given in its place is the answer to this call. */
  readonly request?: ModelCall | undefined;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** The call that failed, from its beginning. */
export function toFailedCall({ invocationId, request }: ModelFailure): ModelCall {
  return request === undefined ? { invocationId, round: 0 } : toFirstCall(request);
}

const modelFailureSchema = v.object({
  invocationId: v.string(),
  request: v.optional(object<ModelCall>()),
  code: v.string(),
  message: v.string(),
  retryable: v.boolean(),
});

/** Failures that have not passed the `onModelError` callbacks. Used only by agents that have some. */
export const modelError: TokenPlace<ModelFailure> = place('model.error', modelFailureSchema, {
  version: 1,
  formerNames: ['model.erred'],
});

/** Failures of a model, and of the callbacks around it. */
export const modelFailed: TokenPlace<ModelFailure> = place('model.failed', modelFailureSchema, {
  version: 1,
});

/** A model call that waits for its next attempt. */
export interface RescheduledCall {
  readonly request: ModelCall;
  /** The attempt that failed, starting at 1. */
  readonly attempt: number;
  readonly retryInMs: number;
  readonly error: LoggedError;
}

/** Model calls that wait for their next attempt. */
export const modelRescheduled: TokenPlace<RescheduledCall> = place(
  'model.rescheduled',
  v.object({
    request: modelCallSchema,
    attempt: v.number(),
    retryInMs: v.number(),
    error: object<LoggedError>(),
  }),
  { version: 1 },
);

/** One token for each failed attempt of the current model call. */
export const modelTried: TokenPlace<null> = place('model.attempted', {
  formerNames: ['model.tried'],
});
