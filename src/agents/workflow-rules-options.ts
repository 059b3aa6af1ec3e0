import type { AnyPlace, TokenPlace } from '../net/index.ts';
import type { ConversationItem, Ending, ModelCall } from './places.ts';
import type { Speaking } from './speaking.ts';
import type { WorkflowDefinition } from './workflow-definition.ts';

export interface WorkflowRulesOptions {
  readonly definition: WorkflowDefinition;
  readonly maxSteps: number;
  readonly begins: TokenPlace<ModelCall>;
  readonly ends: TokenPlace<Ending>;
  readonly among: NonNullable<Speaking['among']>;
  readonly speaking: (node: string) => Speaking;
  /** While one of these holds something, the workflow is not done. */
  readonly busy: readonly AnyPlace[];
  readonly lastWordsOf: (
    node: string,
    lines: readonly ConversationItem[],
    invocationId: string,
  ) => string;
}
