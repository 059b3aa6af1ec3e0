import type { Agent, CallInterceptor, InterceptedCall } from '../../agents/index.ts';
import type { Json, JsonObject, LogEvent, Seq } from '../../core/index.ts';
import { chainObservers } from './observer.ts';
import type { CommittedRecords, Observer } from './observer.ts';

/** The session of a committed step, as `Interceptor.observe` gets it. */
export interface ObservedSession {
  readonly agent: Agent;
  /** The invocation that runs or waits after the step. */
  readonly invocationId: string | undefined;
  /** The trace context that was sent with that invocation's message. */
  readonly traceContext: JsonObject | undefined;
  /** The custom metadata that was sent with that message. Default: `{}`. */
  readonly metadata: JsonObject;
  /** Reads the session's log after `from`. Default: 0. */
  readonly log: (from?: Seq) => AsyncIterable<LogEvent>;
}

/** Hooks into a runtime, for telemetry. An interceptor cannot change what a session does. */
export interface Interceptor {
  /**
   * Called when a message is sent. The result is journaled with the message and passed to every later hook of its
   * invocation, in any process.
   */
  readonly propagateContext?: () => JsonObject | undefined;
  /** Called after each committed step, before the step's effects start. */
  readonly observe?: (committed: CommittedRecords, session: ObservedSession) => void;
  /** Wraps each call of a model or a tool. */
  readonly interceptCall?: CallInterceptor;
}

/** Several interceptors as one. `observe` or `interceptCall` is undefined when none of them has it. */
export interface ComposedInterceptor {
  readonly propagateContext: () => JsonObject | undefined;
  readonly observe: Interceptor['observe'];
  readonly interceptCall: CallInterceptor | undefined;
}

/**
 * Composes interceptors. They run in order; the first one wraps calls outermost. Errors of `propagateContext` and
 * `observe` go to `onError`, and the remaining interceptors still run.
 */
export function composeInterceptors(
  interceptors: readonly Interceptor[],
  onError: (error: unknown) => void,
): ComposedInterceptor {
  const callInterceptors = interceptors.flatMap(({ interceptCall }) => interceptCall ?? []);
  const observers = interceptors.flatMap(({ observe }) => observe ?? []);
  return {
    propagateContext: () => collectTraceContext(interceptors, onError),
    observe: observers.length === 0 ? undefined : composeObservers(observers, onError),
    interceptCall:
      callInterceptors.length === 0 ? undefined : composeCallInterceptors(callInterceptors),
  };
}

function composeObservers(
  observers: readonly NonNullable<Interceptor['observe']>[],
  onError: (error: unknown) => void,
): NonNullable<Interceptor['observe']> {
  return (committed, session) => {
    const chained = observers.map(
      (observe): Observer =>
        () =>
          observe(committed, session),
    );
    chainObservers(chained, onError)(committed);
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
