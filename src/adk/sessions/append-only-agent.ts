import { agent, turnPermit } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { compile, compose, initialToken } from '../../net/index.ts';
import { eventIn, appendedEventsNet } from './appended-events.ts';

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
    nets: [appendedEventsNet(false)],
    initial: [initialToken(turnPermit, null)],
  });
  return { ...none, net: appendOnly, compiled: compile(appendOnly) };
}
