import type { CloseVerdict } from '../socket/live-protocol.ts';

/**
 * What Gemini means by a close code. The reasons are sentences for people, so they decide only
 * between meanings that the code leaves open: 1007 and 1008 stand for a wrong key, an unknown model,
 * an expired handle, an invalid message and the end of the session.
 */
export function classifyGeminiClose(
  code: number,
  reason: string,
  { isLeaving, hasHandle }: { readonly isLeaving: boolean; readonly hasHandle: boolean },
): CloseVerdict {
  if (/api key|unregistered callers|permission|credential|unauthenticated/i.test(reason)) {
    return { reason: 'refused', retryable: false, kind: 'auth' };
  }
  if (/quota|exhausted|rate limit/i.test(reason)) {
    return { reason: 'refused', retryable: true, kind: 'rate_limit' };
  }
  const isPolicy = code === 1007 || code === 1008;
  if (isPolicy && /model.*not found|not supported for bidi/i.test(reason)) {
    return { reason: 'refused', retryable: false, kind: 'not_found' };
  }
  if (
    isLeaving ||
    (code === 1008 && /goaway|session duration|operation was aborted/i.test(reason))
  ) {
    return { reason: 'go-away', retryable: true, kind: 'server' };
  }
  if (code === 1000) return { reason: 'ended', retryable: true, kind: 'server' };
  if (isPolicy) {
    const verdict = { reason: 'refused', retryable: false, kind: 'bad_request' } as const;
    return hasHandle ? { ...verdict, isExpiredHandle: true } : verdict;
  }
  if (code === 1002 || code === 1003)
    return { reason: 'refused', retryable: false, kind: 'bad_request' };
  if (code === 1009) return { reason: 'limit', retryable: false, kind: 'bad_request' };
  if (/overloaded|unavailable/i.test(reason))
    return { reason: 'lost', retryable: true, kind: 'overloaded' };
  return { reason: 'lost', retryable: true, kind: code === 1011 ? 'server' : 'network' };
}
