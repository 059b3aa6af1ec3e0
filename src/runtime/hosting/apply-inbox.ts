import type { Agent } from '../../agents/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { createActiveSessions } from './create-active-sessions.ts';
import type { HostingOptions } from './create-active-sessions.ts';

/** Who applies the inbox of a session, and with which agent. */
export interface ApplyInboxOptions extends Pick<
  HostingOptions,
  'store' | 'committer' | 'clock' | 'owner'
> {
  readonly agent: Agent;
}

/**
 * Hosts one session until its inbox is applied, and then releases it. For a program that changes sessions and runs none.
 * Does nothing if the session needs no owner, or has another one.
 * @throws the first error of applying the inbox
 */
export async function applyInbox(
  { agent, ...services }: ApplyInboxOptions,
  key: SessionKey,
): Promise<void> {
  const failures: unknown[] = [];
  const sessions = createActiveSessions({
    ...services,
    findAgent: async () => agent,
    onError: (error) => failures.push(error),
  });
  await sessions.drive(key);
  await sessions.closeAll();
  if (failures.length > 0) throw failures[0];
}
