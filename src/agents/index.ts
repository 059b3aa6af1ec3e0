export {
  agentTool,
  isAgentTool,
  type AgentBackedTool,
  type AgentToolOptions,
} from './tools/agent-tool.ts';
export { agentProof, type AgentProof, type AgentProofLimits } from './proofs/agent-proof.ts';
export type {
  Agent,
  AgentAdditions,
  Renewal,
  AgentRole,
  AgentStatus,
  NodeRun,
  OwnerInput,
  RecordEvents,
} from './agent/agent.ts';
export type { OutcomesOption } from './outcomes/outcomes-option.ts';
export type { OutcomeDefinition } from './outcomes/define-outcome.ts';
export {
  describeAgent,
  type AgentDescription,
  type ToolDescription,
} from './agent/agent-description.ts';
export type { AgentSubnet, AgentSlot } from './agent/agent-subnet.ts';
export type { ContextInfo, ContextPolicy } from './prompt/context-policy.ts';
export type { AgentContext } from './callbacks/agent-context.ts';
export type { AgentCallbackContext } from './callbacks/callback-context.ts';
export type {
  AfterAgent,
  AfterModel,
  AfterTool,
  BeforeAgent,
  BeforeModel,
  BeforeTool,
  CallbackList,
  Callbacks,
  ToolCallInfo,
  ToolResultInfo,
  FailedModelCall,
  OnModelError,
  OnToolError,
} from './callbacks/callbacks.ts';
export { custom, type CustomDefinition } from './custom/custom.ts';
export type { CustomContext } from './custom/custom-context.ts';
export type {
  CustomGenerator,
  CustomReply,
  CustomYield,
  SubAgentRun,
  YieldedEvent,
} from './generator/yields.ts';
export type { RequestedActions } from './callbacks/parse-actions.ts';
export { remoteAgent, type RemoteAgentOptions } from './remote/remote-agent.ts';
export { RemoteAgentError } from './remote/remote-agent-error.ts';
export type { RemoteHeaders } from './remote/a2a-client.ts';
export { agent, type AgentDefinition, type Subnets } from './llm/define-agent.ts';
export type { ModelPort } from './llm/llm-agent-parts.ts';
export type { ModelRequestBuilder } from './model/model-step.ts';
export type { CompositeAgentDefinition } from './composition/composite-definition.ts';
export { loop, type LoopDefinition } from './kinds/loop.ts';
export type { NodeContext } from './workflow/node-context.ts';
export { NodeEvent, RequestInput, type RequestInputOptions } from './generator/yields.ts';
export type { GeneratorContext } from './generator/live-context.ts';
export { workflow } from './workflow/workflow.ts';
export {
  DEFAULT_ROUTE,
  START,
  type AgentNodeDefinition,
  type EachAgentNodeDefinition,
  type EachNodeDefinition,
  type FunctionNodeDefinition,
  type JoinNodeDefinition,
  type NodeBody,
  type WorkflowDefinition,
  type WorkflowEdge,
  type WorkflowNodeDefinition,
} from './workflow/workflow-definition.ts';
export { parallel } from './kinds/parallel.ts';
export { sequential } from './kinds/sequential.ts';
export { TRANSFER_TOOL } from '../tools/internal.ts';
export type { AgentCallers } from './transfer/agent-returns.ts';
export { transferRouter, type TransferRouterOptions } from './transfer/transfer-router.ts';
export { UnknownTransferError, type TransferTarget } from './transfer/transfer.ts';
export {
  getSessionKey,
  type AgentHost,
  type ChildAgentOutcome,
  type ChildAgentRequest,
} from './vocabulary/agent-host.ts';
export type { CallInterceptor, InterceptedCall } from './vocabulary/call-interceptor.ts';
export {
  checkInvariants,
  InvariantError,
  type InvariantOptions,
} from './proofs/check-invariants.ts';
export { commitsReadGeneration, type GenerationNames } from './proofs/commits-read-generation.ts';
export {
  endInvocationInhibitsAll,
  type EndInvocationNames,
} from './proofs/end-invocation-inhibits-all.ts';
export { singleSessionWriter, type SessionWriterNames } from './proofs/single-session-writer.ts';
export {
  transferHasUnknownFallback,
  type TransferNames,
} from './proofs/transfer-has-unknown-fallback.ts';
export { fallbackModelStep, type FallbackModelStepOptions } from './model/fallback-model-step.ts';
export {
  ArtifactNotTextError,
  MissingVariableError,
  type Instruction,
  type InstructionContext,
} from './prompt/instruction.ts';
export type { ModelRequestPreview, UnrecordedPart } from './model/model-request-preview.ts';
export { modelStep, type ModelStepOptions } from './model/model-step.ts';
export {
  answerIn,
  eventOut,
  userIn,
  type Answer,
  type IncomingMessage,
} from './vocabulary/messages.ts';
export { conversation, type ConversationItem } from './vocabulary/conversation.ts';
export type { MessageMetadata } from './vocabulary/message-metadata.ts';
export type { RequestedOutput } from './vocabulary/requested-output.ts';
export { sessionWrite, state } from './vocabulary/state.ts';
export {
  turnBudget,
  turnCurrent,
  turnEnding,
  turnPermit,
  turnWaiting,
  type CurrentTurn,
} from './vocabulary/turn.ts';
export {
  effectInhibitors,
  interruptIn,
  rewindIn,
  turnStopping,
  type Interrupt,
  type Rewind,
} from './vocabulary/control.ts';
export {
  archiveIn,
  completeIn,
  type UnansweredCall,
  pauseIn,
  resumeIn,
  sessionArchived,
  sessionClosing,
  sessionCompleted,
  sessionFailed,
  sessionPaused,
  sessionQueued,
} from './vocabulary/session.ts';
export type { Extension } from './turn/extension.ts';
export { sessionControl } from './session/session-control.ts';
export {
  modelFailed,
  modelRequest,
  modelResponse,
  type ModelAnswer,
  type ModelCall,
} from './vocabulary/model-call.ts';
export {
  toolBatch,
  toolCall,
  toolParked,
  toolResult,
  type Batch,
  type Call,
  type CallResult,
  type ParkedCall,
} from './vocabulary/tool-call.ts';
export { targetPlace } from './vocabulary/handover.ts';
export { turnStart, type TurnStartOptions } from './turn/turn-start.ts';
export { MAX_PARALLEL_CALLS } from './tool-calls/max-parallel-calls.ts';
export { router, type RouterOptions } from './model/route-answer.ts';
export { PendingWritesError } from './tools/run-tool.ts';
export { sessionWriter } from './state/session-writer.ts';
export { estimateTokens } from './prompt/estimate-tokens.ts';
export type { TrimOptions } from './prompt/trim-options.ts';
export { trimToBudget } from './prompt/trim-to-budget.ts';
export { toolDispatch, type ToolDispatchOptions } from './tools/tool-dispatch.ts';
export { turnControl, type TurnControlOptions } from './turn/turn-control.ts';
export { ModelCallLimitError } from './model/model-call-limit.ts';
export { PendingTooLargeError } from './tools/run-tool.ts';
