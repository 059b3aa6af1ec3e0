import { valuesIn } from '../net/index.ts';
import type { Marking } from '../net/index.ts';
import type { AgentStatus } from './agent.ts';
import { everywhere } from './own-place.ts';
import { toolParked, turnCurrent, turnPermit, turnWaiting } from './places.ts';

/** Reads a session's status from its marking. */
export function statusOf(marking: Marking): AgentStatus {
  const waiting = valuesIn(marking, turnWaiting).length > 0;
  const idle = valuesIn(marking, turnPermit).length > 0;
  return {
    status: idle ? 'idle' : waiting ? 'waiting' : 'running',
    pending: everywhere(toolParked, [...marking.tokens.keys()]).flatMap((place) =>
      valuesIn(marking, place),
    ),
    invocationId: valuesIn(marking, turnCurrent)[0]?.invocationId,
  };
}
