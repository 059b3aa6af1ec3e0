import type { ManagedSession } from '../../managed/index.ts';
import type { Caller } from '../auth/api-keys.ts';
import { findEventTarget } from '../events/event-target.ts';
import { openProjection } from '../events/session-log.ts';
import { HttpError } from '../http/http-error.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { WireUserEvent } from '../wire/event-schemas.ts';

/**
 * Restricts what a worker's key may send: only results of calls of its own session. A worker does not approve calls,
 * send user messages, answer elicitations of MCP servers, or answer for the agents that its session calls.
 * @throws HttpError 403
 */
export async function authorizeWorkerEvents(
  context: ServerContext,
  { scope }: Caller,
  session: ManagedSession,
  events: readonly WireUserEvent[],
): Promise<void> {
  if (scope?.type !== 'session') return;
  for (const event of events) {
    if (event.type !== 'user.tool_result' && event.type !== 'user.custom_tool_result')
      throw scopeError(`${event.type}, only results of tools`);
    const target = await findEventTarget(context, session, event);
    const id = event.type === 'user.tool_result' ? event.tool_use_id : event.custom_tool_use_id;
    const { projection } = openProjection(context, session);
    const call = await projection.findCall(id);
    // A session also shows calls of its threads that wait, and accepts answers to them.
    const isShownOnly = call === undefined && (await projection.resolveCallId(id)) !== undefined;
    if (target.id !== session.id || isShownOnly)
      throw scopeError('the result of a call of another thread');
    if (call?.origin?.kind === 'mcp')
      throw scopeError('answers to an MCP server, because workers do not run its tools');
  }
}

function scopeError(subject: string): HttpError {
  return new HttpError(403, `A key with the scope session may not send ${subject}.`, {
    details: { error_code: 'scope_not_allowed', scope: 'session' },
  });
}
