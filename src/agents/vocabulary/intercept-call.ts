import { isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { getAgentHost, getSessionKey } from './agent-host.ts';
import type { InterceptedCall, CallDetails } from './call-interceptor.ts';

/** Where what a message carries stands while its invocation runs; it ends with it. */
export const TRACE_CONTEXT_KEY = 'temp:carried';

/** Makes a call under the eyes of whoever runs the net. */
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

/** What the message of the invocation that runs carried. */
export function readTraceContext(state: Readonly<Record<string, Json>>): JsonObject | undefined {
  const context = state[TRACE_CONTEXT_KEY];
  return isJsonObject(context) ? context : undefined;
}
