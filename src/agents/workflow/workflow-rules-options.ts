import type { AnyPlace, TokenPlace } from '../../net/index.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { WorkflowDefinition } from './workflow-definition.ts';

export interface WorkflowRulesOptions {
  readonly definition: WorkflowDefinition;
  readonly maxSteps: number;
  readonly startPlace: TokenPlace<ModelCall>;
  readonly endPlace: TokenPlace<Ending>;
  readonly multiAgent: NonNullable<AgentIdentity['multiAgent']>;
  readonly nodeIdentity: (node: string) => AgentIdentity;
  /** While one of these holds something, the workflow is not done. */
  readonly busy: readonly AnyPlace[];
  readonly lastMessageText: (
    node: string,
    lines: readonly ConversationItem[],
    invocationId: string,
  ) => string;
}
