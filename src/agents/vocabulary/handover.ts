import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { modelCallSchema } from './model-call.ts';
import type { ModelCall } from './model-call.ts';
import { endingSchema } from './turn.ts';
import type { Ending } from './turn.ts';

/** An agent that is about to begin: its `beforeAgent` callbacks have not run yet. */
export const agentStarting: TokenPlace<ModelCall> = place('agent.starting', modelCallSchema, {
  version: 1,
});

/** An agent that is done: its `afterAgent` callbacks have not run yet. */
export const agentEnded: TokenPlace<Ending> = place('agent.ended', endingSchema, { version: 1 });

/** The place where a turn, or a part of it, starts the agent of this name. */
export function targetPlace(agentName: string): TokenPlace<ModelCall> {
  return place(`target/${agentName}`, modelCallSchema, { version: 1 });
}

/** The place where the agent of this name is done, and its successor or composite continues. */
export function donePlace(agentName: string): TokenPlace<Ending> {
  return place(`done/${agentName}`, endingSchema, { version: 1 });
}
