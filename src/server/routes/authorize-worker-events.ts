import type { ManagedSession } from '../../managed/index.ts';
import type { Caller } from '../auth/api-keys.ts';
import type { WireUserEvent } from '../wire/event-schemas.ts';
import { findEventTarget } from './event-target.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { openProjection } from '../events/session-log.ts';
import { HttpError } from '../http/http-error.ts';

/**
 * A worker runs tools: with its key it sends the results of calls of its own session, and nothing else. It does not
 * approve calls, speak for the user, answer what an MCP server asks a person, or answer for the agents that its session
 * calls.
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
      throw scopeError(`${event.type}: send results of tools only`);
    const target = await findEventTarget(context, session, event);
    const id = event.type === 'user.tool_result' ? event.tool_use_id : event.custom_tool_use_id;
    const { projection } = await openProjection(context, session);
    const call = await projection.findCall(id);
    // A session shows the calls that its threads wait for, too, and takes the answers to them.
    const isShownOnly = call === undefined && (await projection.resolveCallId(id)) !== undefined;
    if (target.id !== session.id || isShownOnly)
      throw scopeError('the result of a call of another thread');
    if (call?.origin?.kind === 'mcp')
      throw scopeError('what a tool of an MCP server asks for: a worker runs no such tool');
  }
}

function scopeError(what: string): HttpError {
  return new HttpError(403, `A key with the scope session does not send ${what}.`, {
    details: { error_code: 'scope_not_allowed', scope: 'session' },
  });
}
