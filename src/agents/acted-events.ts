import type { EventActions, LogEntry } from '../core/index.ts';
import { branchOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';

/** That an agent did something and said nothing: an event of actions alone. */
export function actedEvents(
  speaking: Speaking,
  invocationId: string,
  actions: Partial<EventActions>,
): readonly LogEntry[] {
  return [
    {
      type: 'agent.message',
      invocationId,
      author: speaking.agentName,
      ...branchOf(speaking),
      content: { role: 'model', parts: [] },
      actions,
    },
  ];
}
