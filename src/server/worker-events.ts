import type { ManagedSession } from '../managed/index.ts';
import type { Caller } from './api-keys.ts';
import type { WireUserEvent } from './event-schemas.ts';
import { findTarget } from './event-target.ts';
import type { ServerParts } from './server-parts.ts';
import { faceOf } from './session-log.ts';
import { WireError } from './wire-error.ts';

/**
 * A worker runs tools: with its key it sends the results of calls of its own session, and nothing else. It does not
 * approve calls, speak for the user, answer what an MCP server asks a person, or answer for the agents that its session
 * calls.
 * @throws WireError 403
 */
export async function assertMaySend(
  parts: ServerParts,
  { scope }: Caller,
  session: ManagedSession,
  events: readonly WireUserEvent[],
): Promise<void> {
  if (scope?.type !== 'session') return;
  for (const event of events) {
    if (event.type !== 'user.tool_result' && event.type !== 'user.custom_tool_result')
      throw refused(`${event.type}: send results of tools only`);
    const target = await findTarget(parts, session, event);
    const id = event.type === 'user.tool_result' ? event.tool_use_id : event.custom_tool_use_id;
    const { face } = await faceOf(parts, session);
    const call = await face.call(id);
    // A session shows the calls that its threads wait for, too, and takes the answers to them.
    const isShownOnly = call === undefined && (await face.callOf(id)) !== undefined;
    if (target.id !== session.id || isShownOnly)
      throw refused('the result of a call of another thread');
    if (call?.origin?.kind === 'mcp')
      throw refused('what a tool of an MCP server asks for: a worker runs no such tool');
  }
}

function refused(what: string): WireError {
  return new WireError(403, `A key with the scope session does not send ${what}.`, {
    details: { error_code: 'scope_not_allowed', scope: 'session' },
  });
}
