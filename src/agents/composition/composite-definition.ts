import { InvalidInputError } from '../../core/index.ts';
import type { OptionNames } from '../../core/index.ts';
import type { Migrate, Net } from '../../net/index.ts';
import { checkAgentName } from '../vocabulary/check-agent-name.ts';
import type { Agent } from '../agent/agent.ts';
import type { CompositeCallbacks } from './composite-subnet.ts';

/** What agents that are made of others have in common. */
export interface CompositeAgentDefinition {
  /** Letters, digits, `_` and `-`. No two agents of a session have the same. */
  readonly name: string;
  readonly description?: string;
  readonly subAgents: readonly Agent[];
  readonly callbacks?: CompositeCallbacks;
  /** More nets, joined by their ports. */
  readonly extensions?: readonly Net[];
  /** Where the tokens of a live session go when places were renamed or removed. */
  readonly migrate?: Migrate;
}

/** What every agent that is made of others may have. */
export const COMPOSITE_OPTION_NAMES: OptionNames<CompositeAgentDefinition> = {
  name: true,
  description: true,
  subAgents: true,
  callbacks: { beforeAgent: true, afterAgent: true } satisfies OptionNames<CompositeCallbacks>,
  extensions: true,
  migrate: true,
};

/** @throws InvalidInputError when no agent can be made of it */
export function checkComposite({ name, subAgents }: CompositeAgentDefinition): void {
  checkAgentName(name);
  if (subAgents.length === 0)
    throw new InvalidInputError('subAgents', `of "${name}" must not be empty.`);
}
