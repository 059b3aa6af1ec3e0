import * as v from 'valibot';
import { notFound } from '../../http/http-error.ts';

/** What a response answers: a message, or results and approvals of calls, or both. */
export interface ResponseRef {
  readonly sessionId: string;
  readonly messageId: string | undefined;
  readonly callIds: readonly string[];
}

const responseParts = v.tuple([v.string(), v.nullable(v.string()), v.array(v.string())]);
const callParts = v.tuple([v.string(), v.string()]);

/** The id of a response names its session and its inputs, so that every server of the store finds it. */
export function formatResponseId({ sessionId, messageId, callIds }: ResponseRef): string {
  return `resp_${encode([sessionId, messageId ?? null, callIds])}`;
}

/** @throws HttpError 404 */
export function parseResponseId(id: string): ResponseRef {
  const parts = v.safeParse(responseParts, decode(id, 'resp_'));
  if (!parts.success) throw notFound('response', id);
  const [sessionId, messageId, callIds] = parts.output;
  return { sessionId, messageId: messageId ?? undefined, callIds };
}

/** The id of a call names its session, because a client without a conversation sends only the id back. */
export function formatCallId(sessionId: string, callId: string): string {
  return `call_${encode([sessionId, callId])}`;
}

/** Undefined for an id that is not from here. */
export function parseCallId(
  id: string,
): { readonly sessionId: string; readonly callId: string } | undefined {
  const parts = v.safeParse(callParts, decode(id, 'call_'));
  return parts.success ? { sessionId: parts.output[0], callId: parts.output[1] } : undefined;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(id: string, prefix: string): unknown {
  if (!id.startsWith(prefix)) return undefined;
  try {
    return JSON.parse(Buffer.from(id.slice(prefix.length), 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
