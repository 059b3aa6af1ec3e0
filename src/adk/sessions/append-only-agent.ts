import { agent, turnPermit } from '../../agents/index.ts';
import { appendedEventsAlone, eventIn, promptUndecided } from '../../agents/internal.ts';
import type { Agent } from '../../agents/index.ts';
import { compile, compose, initialToken } from '../../net/index.ts';

/** The agent of a session that no agent has run yet: it accepts appended events and nothing else. */
export function appendOnlyAgent(): Agent {
  const none = agent({
    name: 'session',
    model: {
      name: 'none',
      generate: async () => Promise.reject(new Error('A session without agents calls no model.')),
    },
  });
  const appendOnly = compose('session', {
    in: { eventIn },
    nets: [appendedEventsAlone()],
    initial: [initialToken(turnPermit, null), initialToken(promptUndecided, null)],
  });
  return { ...none, net: appendOnly, compiled: compile(appendOnly) };
}
