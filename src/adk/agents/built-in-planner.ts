import type { ThinkingConfig } from '../../models/index.ts';
import { BasePlanner } from './base-planner.ts';
import type { LlmRequest } from '../contracts/agent-callbacks.ts';

/** Uses the model's own thinking, for models that support it. */
export class BuiltInPlanner extends BasePlanner {
  readonly thinkingConfig: ThinkingConfig;

  constructor({ thinkingConfig }: { readonly thinkingConfig: ThinkingConfig }) {
    super();
    this.thinkingConfig = thinkingConfig;
  }

  override buildPlanningInstruction({ request }: { readonly request: LlmRequest }): undefined {
    request.config = { ...request.config, thinking: this.thinkingConfig };
  }

  override processPlanningResponse(): undefined {
    return undefined;
  }
}
