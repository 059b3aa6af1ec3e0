import { checkDefinition } from '../../core/internal.ts';
import { optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { ThinkingConfig } from '../../models/index.ts';
import { BasePlanner } from './base-planner.ts';
import type { LlmRequest } from '../contracts/agent-callbacks.ts';

/** Options of `BuiltInPlanner`. */
export interface BuiltInPlannerOptions {
  readonly thinkingConfig: ThinkingConfig;
}

/** The options of `BuiltInPlanner`. */
export const BUILT_IN_PLANNER_OPTIONS: OptionTable = optionTable<BuiltInPlannerOptions>(
  'BuiltInPlanner',
  {
    thinkingConfig: true,
  },
);

/** Uses the model's own thinking, for models that support it. */
export class BuiltInPlanner extends BasePlanner {
  readonly thinkingConfig: ThinkingConfig;

  constructor(options: BuiltInPlannerOptions) {
    if (new.target === BuiltInPlanner) checkDefinition(BUILT_IN_PLANNER_OPTIONS, options);
    super();
    this.thinkingConfig = options.thinkingConfig;
  }

  override buildPlanningInstruction({ request }: { readonly request: LlmRequest }): undefined {
    request.config = { ...request.config, thinking: this.thinkingConfig };
  }

  override processPlanningResponse(): undefined {
    return undefined;
  }
}
