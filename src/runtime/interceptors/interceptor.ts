import type { Agent, CallInterceptor, InterceptedCall } from '../../agents/index.ts';
import type { Json, JsonObject, LogEvent, Seq } from '../../core/index.ts';
import { chainObservers } from './observer.ts';
import type { CommittedRecords, Observer } from './observer.ts';

/** What is known of a session beside the step it committed. */
export interface ObservedSession {
  readonly agent: Agent;
  /** The invocation that runs or waits after the step. */
  readonly invocationId: string | undefined;
  /** What that invocation's message carried. */
  readonly traceContext: JsonObject | undefined;
  /** The log after `from`, 0 unless given, as it is now. */
  readonly log: (from?: Seq) => AsyncIterable<LogEvent>;
}

/** Watches a runtime at work. Whatever it does, it changes nothing of what the sessions do. */
export interface Interceptor {
  /** Asked when a message is sent. Journaled with it, and told with all that follows from it, in any process. */
  readonly propagateContext?: () => JsonObject | undefined;
  /** After each committed step, before its effects begin. */
  readonly observe?: (committed: CommittedRecords, session: ObservedSession) => void;
  /** Around each call of a model and of a tool, while it is made. */
  readonly interceptCall?: CallInterceptor;
}

/** Several instruments as one; absent members are told as such. */
export interface ComposedInterceptor {
  readonly propagateContext: () => JsonObject | undefined;
  readonly observe: NonNullable<Interceptor['observe']>;
  readonly interceptCall: CallInterceptor | undefined;
}

/**
 * Each is asked in order, and the first watches from outermost. What one throws while it carries or observes is heard
 * of, and keeps nobody else from it.
 */
export function composeInterceptors(
  interceptors: readonly Interceptor[],
  onError: (error: unknown) => void,
): ComposedInterceptor {
  const callInterceptors = interceptors.flatMap(({ interceptCall }) => interceptCall ?? []);
  return {
    propagateContext: () => collectTraceContext(interceptors, onError),
    observe: (committed, session) => {
      const observers = interceptors.map(({ observe }): Observer => {
        return () => observe?.(committed, session);
      });
      chainObservers(observers, onError)(committed);
    },
    interceptCall:
      callInterceptors.length === 0 ? undefined : composeCallInterceptors(callInterceptors),
  };
}

function collectTraceContext(
  interceptors: readonly Interceptor[],
  onError: (error: unknown) => void,
): JsonObject | undefined {
  const traceContext: Record<string, Json> = {};
  for (const { propagateContext } of interceptors) {
    try {
      Object.assign(traceContext, propagateContext?.());
    } catch (error) {
      onError(error);
    }
  }
  return Object.keys(traceContext).length === 0 ? undefined : traceContext;
}

function composeCallInterceptors(callInterceptors: readonly CallInterceptor[]): CallInterceptor {
  return async <T>(call: InterceptedCall, make: () => Promise<T>): Promise<T> => {
    const outermost = callInterceptors.reduceRight<() => Promise<T>>(
      (inner, interceptCall) => async () => interceptCall(call, inner),
      make,
    );
    return outermost();
  };
}
