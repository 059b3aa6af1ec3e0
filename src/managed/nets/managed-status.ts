import type { AgentStatus } from '../../agents/index.ts';
import { readStatus } from '../../agents/internal.ts';
import { valuesIn } from '../../net/index.ts';
import type { Marking } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import {
  modelRescheduled,
  sessionArchived,
  sessionCompleted,
  sessionFailed,
  sessionPaused,
  sessionQueued,
} from './session-places.ts';
import type { ManagedStatus } from '../interface/session-status.ts';

/** Reads a managed session's status from its marking. `phase` is the status that clients see. */
export function readManagedStatus(
  marking: Marking,
): AgentStatus & { readonly phase: ManagedStatus } {
  const status = readStatus(marking);
  return { ...status, phase: toPhase(marking, status) };
}

function toPhase(marking: Marking, { status }: AgentStatus): ManagedStatus {
  const holds = <T>(place: TokenPlace<T>): boolean => valuesIn(marking, place).length > 0;
  if (holds(sessionArchived)) return 'archived';
  if (holds(sessionCompleted)) return 'completed';
  if (holds(sessionPaused)) return 'paused';
  if (status === 'idle') {
    if (holds(sessionFailed)) return 'failed';
    return holds(sessionQueued) ? 'queued' : 'idle';
  }
  if (holds(modelRescheduled)) return 'rescheduling';
  // A waiting session is idle for the clients that can answer it.
  return status === 'waiting' ? 'idle' : 'running';
}
