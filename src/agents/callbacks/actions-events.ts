import type { EventActions, LogEntry } from '../../core/index.ts';
import { branchField } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** That an agent did something and said nothing: an event of actions alone. */
export function actionsEvents(
  identity: AgentIdentity,
  invocationId: string,
  actions: Partial<EventActions>,
): readonly LogEntry[] {
  return [
    {
      type: 'agent.message',
      invocationId,
      author: identity.agentName,
      ...branchField(identity),
      content: { role: 'model', parts: [] },
      actions,
    },
  ];
}
