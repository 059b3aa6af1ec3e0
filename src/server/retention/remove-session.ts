import type { SessionKey } from '../../core/index.ts';
import type { ManagedRuntime } from '../../managed/index.ts';
import type { DeleteCondition } from '../../store/index.ts';
import type { WorkspaceIndex } from '../auth/workspace-index.ts';

/**
 * Deletes a session if the condition holds, in one transaction with what a server stores about it. A deletion that is
 * interrupted is ended when the next runtime opens.
 */
export async function removeUnchangedSession(
  { runtime, sessions }: { readonly runtime: ManagedRuntime; readonly sessions: WorkspaceIndex },
  { userId, sessionId: id }: SessionKey,
  condition: DeleteCondition,
): Promise<boolean> {
  const entry = await sessions.removal(userId, id);
  return runtime.deleteSession(
    { id, userId },
    {
      unchanged: condition.sessions,
      documents: [...(condition.documents ?? []), ...(entry === undefined ? [] : [entry])],
    },
  );
}
