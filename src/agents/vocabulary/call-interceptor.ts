import type { JsonObject, SessionKey } from '../../core/index.ts';
import type { GenerationConfig } from '../../models/index.ts';

/** A call of a model or a tool that is about to be made, as whoever watches it is told. */
export type InterceptedCall = {
  readonly sessionKey: SessionKey;
  readonly invocationId: string;
  readonly agentName: string | undefined;
  /** What the invocation's message carried: the same after a crash. */
  readonly traceContext: JsonObject | undefined;
  /** 1, then one more for each retry or crash. */
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

/** Makes the call, once, and gives what it gives. */
export type CallInterceptor = <T>(call: InterceptedCall, next: () => Promise<T>) => Promise<T>;
