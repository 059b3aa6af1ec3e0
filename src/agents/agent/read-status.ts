import { valuesIn } from '../../net/index.ts';
import type { Marking } from '../../net/index.ts';
import type { AgentStatus } from './agent.ts';
import { placesNamed } from '../turn/scoped-place.ts';
import { turnCurrent, turnPermit, turnWaiting } from '../vocabulary/turn.ts';
import { toolParked } from '../vocabulary/tool-call.ts';

/** Reads a session's status from its marking. */
export function readStatus(marking: Marking): AgentStatus {
  const waiting = valuesIn(marking, turnWaiting).length > 0;
  const idle = valuesIn(marking, turnPermit).length > 0;
  return {
    status: idle ? 'idle' : waiting ? 'waiting' : 'running',
    pending: placesNamed(toolParked, [...marking.tokens.keys()]).flatMap((place) =>
      valuesIn(marking, place).map((call, index) => ({
        ...call,
        at: marking.tokens.get(place.name)?.[index]?.at ?? marking.at,
      })),
    ),
    invocationId: valuesIn(marking, turnCurrent)[0]?.invocationId,
  };
}
