import { isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { getAgentHost, getSessionKey } from './agent-host.ts';
import type { InterceptedCall, CallDetails } from './call-interceptor.ts';

/** State key of the trace context that came with a message. It is removed when the invocation ends. */
export const TRACE_CONTEXT_KEY = 'temp:carried';

/** Runs the call through the host's interceptor, if there is one. */
export async function interceptCall<T>(
  host: unknown,
  state: JsonObject,
  call: Omit<InterceptedCall, 'sessionKey' | 'traceContext' | keyof CallDetails> & CallDetails,
  next: () => Promise<T>,
): Promise<T> {
  const intercept = getAgentHost(host)?.interceptCall;
  if (intercept === undefined) return next();
  const traceContext = readTraceContext(state);
  return intercept({ ...call, sessionKey: getSessionKey(host), traceContext }, next);
}

/** The trace context that came with the message of the current invocation. */
export function readTraceContext(state: Readonly<Record<string, Json>>): JsonObject | undefined {
  const context = state[TRACE_CONTEXT_KEY];
  return isJsonObject(context) ? context : undefined;
}
