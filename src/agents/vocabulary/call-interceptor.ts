import type { JsonObject, SessionKey } from '../../core/index.ts';
import type { GenerationConfig } from '../../models/index.ts';

/** A call of a model or a tool that is about to be made, as an interceptor sees it. */
export type InterceptedCall = {
  readonly sessionKey: SessionKey;
  readonly invocationId: string;
  readonly agentName: string | undefined;
  /** The trace context that came with the invocation's message. The same after a crash. */
  readonly traceContext: JsonObject | undefined;
  /** 1 for the first attempt; each retry or crash adds 1. */
  readonly attempt: number;
  readonly signal: AbortSignal;
} & CallDetails;

export type CallDetails =
  | { readonly kind: 'model'; readonly name: string; readonly config?: GenerationConfig }
  | {
      readonly kind: 'tool';
      readonly name: string;
      readonly callId: string;
      readonly description: string;
    };

/** Wraps a call. It must call `next` exactly once and return its result. */
export type CallInterceptor = <T>(call: InterceptedCall, next: () => Promise<T>) => Promise<T>;
