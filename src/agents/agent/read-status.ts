import { valuesIn } from '../../net/index.ts';
import type { Marking, TokenPlace } from '../../net/index.ts';
import type { SessionActivity, SessionStatus } from '../../core/index.ts';
import type { AgentStatus } from './agent.ts';
import { placesNamed } from '../turn/scoped-place.ts';
import { turnCurrent, turnPermit, turnWaiting } from '../vocabulary/turn.ts';
import { modelRescheduled } from '../vocabulary/model-call.ts';
import {
  sessionArchived,
  sessionCompleted,
  sessionFailed,
  sessionPaused,
  sessionQueued,
} from '../vocabulary/session.ts';
import { toolParked } from '../vocabulary/tool-call.ts';

/** Reads a session's status from its marking. */
export function readStatus(marking: Marking): AgentStatus {
  const waiting = valuesIn(marking, turnWaiting).length > 0;
  // A closed session has consumed its permit.
  const idle = [turnPermit, sessionArchived, sessionCompleted].some(
    (place) => valuesIn(marking, place).length > 0,
  );
  const activity = idle ? 'idle' : waiting ? 'waiting' : 'running';
  return {
    status: readSessionStatus(marking, activity),
    activity,
    pending: placesNamed(toolParked, [...marking.tokens.keys()]).flatMap((place) =>
      valuesIn(marking, place).map((call, index) => ({
        ...call,
        at: marking.tokens.get(place.name)?.[index]?.at ?? marking.at,
      })),
    ),
    invocationId: valuesIn(marking, turnCurrent)[0]?.invocationId,
  };
}

/** The status of the session: that of its turn, unless the session itself has another. */
function readSessionStatus(marking: Marking, activity: SessionActivity): SessionStatus {
  const isMarked = <T>(place: TokenPlace<T>): boolean => valuesIn(marking, place).length > 0;
  if (isMarked(sessionArchived)) return 'archived';
  if (isMarked(sessionCompleted)) return 'completed';
  if (isMarked(sessionPaused)) return 'paused';
  if (activity === 'waiting') return 'waiting';
  if (activity === 'idle') {
    if (isMarked(sessionFailed)) return 'failed';
    return isMarked(sessionQueued) ? 'queued' : 'idle';
  }
  const isRescheduled = placesNamed(modelRescheduled, [...marking.tokens.keys()]).some(isMarked);
  return isRescheduled ? 'rescheduling' : 'running';
}
