import { OUTCOMES_NAMES } from '../outcomes/outcomes-option.ts';
import type { OutcomesOption } from '../outcomes/outcomes-option.ts';
import type { Extension } from '../turn/extension.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { OptionNames } from '../../core/index.ts';
import type { Migrate, Net } from '../../net/index.ts';
import { checkAgentName } from '../vocabulary/check-agent-name.ts';
import { checkAgents } from '../agent/check-agents.ts';
import type { Agent } from '../agent/agent.ts';
import type { CompositeCallbacks } from './composite-subnet.ts';

/** Options that all composite agents share. */
export interface CompositeAgentDefinition {
  /** Letters, digits, `_` and `-`. Unique among the agents of a session. */
  readonly name: string;
  readonly description?: string;
  readonly subAgents: readonly Agent[];
  readonly callbacks?: CompositeCallbacks;
  /** More nets, joined by their ports. */
  readonly extensions?: readonly (Net | Extension)[];
  /**
   * Adds outcome rounds: `session.defineOutcome` sets a goal, and the agents revise their work until the grader is
   * satisfied. Only the option of the session's first agent counts. Default: none.
   */
  readonly outcomes?: OutcomesOption;
  /** Where the tokens of a live session go when an upgrade renames or removes places. */
  readonly migrate?: Migrate;
}

/** The names of the shared options, for `checkOptions`. */
export const COMPOSITE_OPTION_NAMES: OptionNames<CompositeAgentDefinition> = {
  name: true,
  description: true,
  subAgents: true,
  callbacks: { beforeAgent: true, afterAgent: true } satisfies OptionNames<CompositeCallbacks>,
  extensions: true,
  outcomes: OUTCOMES_NAMES,
  migrate: true,
};

/**
 * Checks the name and that there are sub-agents.
 * @throws InvalidInputError
 */
export function checkComposite({ name, subAgents }: CompositeAgentDefinition): void {
  checkAgentName(name);
  checkAgents('subAgents', subAgents);
  if (subAgents.length === 0)
    throw new InvalidInputError('subAgents', `of "${name}" must not be empty.`);
}
