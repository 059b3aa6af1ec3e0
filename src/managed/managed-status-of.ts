import type { AgentStatus } from '../agents/index.ts';
import { statusOf } from '../agents/agent-status.ts';
import { valuesIn } from '../net/index.ts';
import type { Marking } from '../net/index.ts';
import type { TokenPlace } from '../net/index.ts';
import {
  modelRescheduled,
  sessionArchived,
  sessionCompleted,
  sessionFailed,
  sessionPaused,
  sessionQueued,
} from './nets/session-places.ts';
import type { ManagedStatus } from './session-status.ts';

/** Reads a managed session's status from its marking: its phase is the word a client gets. */
export function managedStatusOf(marking: Marking): AgentStatus & { readonly phase: ManagedStatus } {
  const status = statusOf(marking);
  return { ...status, phase: phaseOf(marking, status) };
}

function phaseOf(marking: Marking, { status }: AgentStatus): ManagedStatus {
  const holds = <T>(place: TokenPlace<T>): boolean => valuesIn(marking, place).length > 0;
  if (holds(sessionArchived)) return 'archived';
  if (holds(sessionCompleted)) return 'completed';
  if (holds(sessionPaused)) return 'paused';
  if (status === 'idle') {
    if (holds(sessionFailed)) return 'failed';
    return holds(sessionQueued) ? 'queued' : 'idle';
  }
  if (holds(modelRescheduled)) return 'rescheduling';
  // Who waits for an answer is idle to those who can give one.
  return status === 'waiting' ? 'idle' : 'running';
}
