import { valuesIn } from '../../net/index.ts';
import { isInAnyScope, isMarked } from '../../net/internal.ts';
import type { Marking } from '../../net/index.ts';
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
  const places = [...marking.tokens.keys()];
  // A closed session has consumed its permit.
  const idle = [turnPermit, sessionArchived, sessionCompleted].some((place) =>
    isMarked(marking, place),
  );
  const activity = idle ? 'idle' : isMarked(marking, turnWaiting) ? 'waiting' : 'running';
  return {
    status: readSessionStatus(marking, places, activity),
    activity,
    pending: placesNamed(toolParked, places).flatMap((place) =>
      valuesIn(marking, place).map((call, index) => ({
        ...call,
        at: marking.tokens.get(place.name)?.[index]?.at ?? marking.at,
      })),
    ),
    invocationId: valuesIn(marking, turnCurrent)[0]?.invocationId,
  };
}

/** The status of the session: that of its turn, unless the session itself has another. */
function readSessionStatus(
  marking: Marking,
  places: readonly string[],
  activity: SessionActivity,
): SessionStatus {
  if (isMarked(marking, sessionArchived)) return 'archived';
  if (isMarked(marking, sessionCompleted)) return 'completed';
  if (isMarked(marking, sessionPaused)) return 'paused';
  if (activity === 'waiting') return 'waiting';
  if (activity === 'idle') {
    if (isMarked(marking, sessionFailed)) return 'failed';
    return isMarked(marking, sessionQueued) ? 'queued' : 'idle';
  }
  const isRescheduled = places.some((place) => isInAnyScope(place, modelRescheduled.name));
  return isRescheduled ? 'rescheduling' : 'running';
}
