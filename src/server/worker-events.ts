import type { ManagedSession } from '../managed/index.ts';
import type { Caller } from './api-keys.ts';
import type { WireUserEvent } from './event-schemas.ts';
import { findTarget } from './event-target.ts';
import type { ServerParts } from './server-parts.ts';
import { WireError } from './wire-error.ts';

/**
 * A worker runs tools: with its key it sends the results of calls of its own session, and nothing else. It does not
 * approve calls, speak for the user, or answer for the agents that its session calls.
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
    if (target.id !== session.id) throw refused('the result of a call of another thread');
  }
}

function refused(what: string): WireError {
  return new WireError(403, `A key with the scope session does not send ${what}.`, {
    details: { error_code: 'scope_not_allowed', scope: 'session' },
  });
}
