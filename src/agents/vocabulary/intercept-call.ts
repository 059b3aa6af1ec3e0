import { getAgentHost, getMetadata, getSessionKey } from './agent-host.ts';
import type { InterceptedCall, CallDetails } from './call-interceptor.ts';

/** Runs the call through the host's interceptor, if there is one. */
export async function interceptCall<T>(
  host: unknown,
  call: Omit<InterceptedCall, 'sessionKey' | 'traceContext' | keyof CallDetails> & CallDetails,
  next: () => Promise<T>,
): Promise<T> {
  const { onCall, interceptCall: intercept } = getAgentHost(host) ?? {};
  onCall?.(call);
  if (intercept === undefined) return next();
  const { traceContext } = getMetadata(host, call.invocationId);
  return intercept({ ...call, sessionKey: getSessionKey(host), traceContext }, next);
}
