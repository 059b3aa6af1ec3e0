import { classifyError } from '../../../models/response/classify-error.ts';
import type { ModelErrorKind } from '../../../models/index.ts';
import type { CloseVerdict } from '../socket/live-protocol.ts';

/** The kind of an error that the server reports in the conversation. */
export function classifyRealtimeError(code: string, message: string): ModelErrorKind {
  const facts = { name: '', headers: {}, body: undefined, causes: [], message };
  return classifyError({ ...facts, errorCodes: code.toLowerCase() }, { answering: false });
}

/** What a close code of the Realtime API means. Codes from 3000 on are for requests that it rejects. */
export function classifyRealtimeClose(
  code: number,
  reason: string,
  { isExpired }: { readonly isExpired: boolean },
): CloseVerdict {
  if (isExpired) return { reason: 'go-away', retryable: true, kind: 'server' };
  if (code === 1000) return { reason: 'ended', retryable: true, kind: 'server' };
  if (code >= 3000 || code === 1008) {
    const isAuth = /api_key|unauthorized|authenticat/i.test(reason);
    return { reason: 'refused', retryable: false, kind: isAuth ? 'auth' : 'bad_request' };
  }
  if (code === 1002 || code === 1003 || code === 1007) {
    return { reason: 'refused', retryable: false, kind: 'bad_request' };
  }
  if (code === 1009) return { reason: 'limit', retryable: false, kind: 'bad_request' };
  return { reason: 'lost', retryable: true, kind: code === 1011 ? 'server' : 'network' };
}
