export { agentTool, isAgentTool, type AgentTool, type AgentToolOptions } from './agent-tool.ts';
export { agentProof, type AgentProof, type AgentProofLimits } from './agent-proof.ts';
export type { Agent, AgentRole, AgentStatus } from './agent.ts';
export type { AgentUnit, Placement } from './agent-unit.ts';
export type { ContextInfo, ContextPolicy } from './context.ts';
export type { CallbackContext } from './callback-context.ts';
export type {
  AfterAgent,
  AfterModel,
  AfterTool,
  BeforeAgent,
  BeforeModel,
  BeforeTool,
  CallbackList,
  Callbacks,
  CalledTool,
  DoneTool,
  FailedModel,
  OnModelError,
  OnToolError,
} from './callbacks.ts';
export { custom, type CustomDefinition } from './custom.ts';
export type { CustomContext } from './custom-context.ts';
export type {
  CustomGenerator,
  CustomReply,
  CustomYield,
  SubAgentRun,
  YieldedEvent,
} from './custom-runs.ts';
export type { ActionsToTake } from './given-actions.ts';
export { agent, type AgentDefinition, type Subnets } from './define-agent.ts';
export type { FlowDefinition } from './flow-definition.ts';
export { loop, type LoopDefinition } from './loop.ts';
export type { NodeContext } from './node-context.ts';
export { NodeEvent, RequestInput, type NodeGiven } from './node-event.ts';
export { workflow } from './workflow.ts';
export {
  DEFAULT_ROUTE,
  START,
  type AgentNode,
  type EachAgentNode,
  type EachNode,
  type FunctionNode,
  type JoinNode,
  type NodeBody,
  type WorkflowDefinition,
  type WorkflowEdge,
  type WorkflowNode,
} from './workflow-definition.ts';
export { parallel } from './parallel.ts';
export { sequential } from './sequential.ts';
export { TRANSFER_TOOL } from '../tools/reserved-tool-names.ts';
export { UnknownTransferError, type TransferTarget } from './transfer.ts';
export { sessionKeyOf, type AgentHost, type ChildOutcome, type ChildRequest } from './host.ts';
export type { Watch, WatchedCall } from './watch.ts';
export {
  checkInvariants,
  InvariantError,
  type InvariantOptions,
} from './invariants/check-invariants.ts';
export {
  commitsReadGeneration,
  type GenerationNames,
} from './invariants/commits-read-generation.ts';
export {
  endInvocationInhibitsAll,
  type EndInvocationNames,
} from './invariants/end-invocation-inhibits-all.ts';
export {
  singleSessionWriter,
  type SessionWriterNames,
} from './invariants/single-session-writer.ts';
export {
  transferHasUnknownFallback,
  type TransferNames,
} from './invariants/transfer-has-unknown-fallback.ts';
export { fallbackModelStep, type FallbackModelStepOptions } from './fallback-model-step.ts';
export {
  ArtifactNotTextError,
  MissingVariableError,
  type Instruction,
  type InstructionContext,
} from './instruction.ts';
export { modelStep, type ModelStepOptions } from './model-step.ts';
export {
  answerIn,
  conversation,
  eventOut,
  interruptIn,
  modelFailed,
  modelRequest,
  modelResponse,
  rewindIn,
  sessionWrite,
  state,
  toolBatch,
  targetOf,
  toolCall,
  toolParked,
  toolResult,
  turnBudget,
  turnCurrent,
  turnEnding,
  turnPermit,
  turnStopping,
  turnWaiting,
  userIn,
  type Answer,
  type Batch,
  type Call,
  type CallResult,
  type ConversationItem,
  type IncomingMessage,
  type Interrupt,
  type ModelAnswer,
  type ParkedCall,
  type Rewind,
  type Turn,
} from './places.ts';
export { promptBuilder, type PromptBuilderOptions } from './prompt-builder.ts';
export { MAX_PARALLEL_CALLS } from './judge-call.ts';
export { router, type RouterOptions } from './router.ts';
export { PendingWritesError } from './run-tool.ts';
export { sessionWriter } from './session-writer.ts';
export { estimateTokens } from './estimate-tokens.ts';
export type { TrimOptions } from './trim-options.ts';
export { trimToBudget } from './trim-to-budget.ts';
export { toolDispatch, type ToolDispatchOptions } from './tool-dispatch.ts';
export { turnControl, type TurnControlOptions } from './turn-control.ts';
