/** Exports of `agents/` for other folders of `src/`, without the agent types and proofs. */

export { checkAgent, checkAgentList } from './agent/check-agents.ts';
export {
  chooseEntryAgent,
  multiAgentTurnBeginning,
  omitTransferBudget,
} from './composition/multi-agent-turn-start.ts';
export { transferBudget } from './transfer/transfer.ts';
export { turnBeginning } from './turn/turn-start.ts';
export { newTurn, turnStartOutputs } from './turn/turn-start-outputs.ts';
export { toConversationItem } from './vocabulary/agent-identity.ts';
export { targetPlace } from './vocabulary/handover.ts';
export {
  CALLERS_LIMIT_KEY,
  lowestLimitIn,
  ROOT_INVOCATION_KEY,
  isCallRefusal,
  isQuotaRefusal,
  rootInvocationIn,
} from './model/model-call-limit.ts';
export { previewModelRequest } from './model/model-request-preview.ts';
export { toContextPolicy } from './prompt/context-policy.ts';
export { contextUnits } from './prompt/context-units.ts';
export { isForeignMessage } from './prompt/visible-contents.ts';
export { AGENT_TOOL_OPTIONS } from './tools/agent-tool.ts';
export { resultLimit } from './tools/result-limit.ts';
export { getAgentHost } from './vocabulary/agent-host.ts';
export { DEFAULT_REASK_BUDGET } from './llm/agent-defaults.ts';
export type { UncommittedState } from './vocabulary/agent-host.ts';
export { appendedEvents, appendedEventsAlone } from './session/appended-events.ts';
export { checkAppendedEvent, omitTempKeys } from './session/check-appended-event.ts';
export {
  MAX_ITERATIONS,
  outcomeIn,
  outcomeNext,
  outcomeWaiting,
} from './outcomes/outcome-places.ts';
export { OUTCOMES_NAMES } from './outcomes/outcomes-option.ts';
export { toOutcome } from './outcomes/define-outcome.ts';
export { agentMessageEvent } from './vocabulary/agent-message.ts';
export type { AgentIdentity } from './vocabulary/agent-identity.ts';
export { resultEvent } from './tool-calls/call-events.ts';
export { toCallResult } from './tool-calls/call-result.ts';
export { runTool } from './tools/run-tool.ts';
export { turnResumed } from './turn/turn-wait.ts';
export type { Batch, Call } from './vocabulary/tool-call.ts';
export { toModelAnswer } from './model/model-step.ts';
export { eventIn, pendingContent, type AppendedEvent } from './vocabulary/appended-event.ts';
export { interruptIn, rewindIn } from './vocabulary/control.ts';
export { conversation } from './vocabulary/conversation.ts';
export { listAnsweringAgents } from './agent/answering-agents.ts';
export { createMetadataReader } from './vocabulary/read-metadata.ts';
export { promptUndecided, readPromptFormat, withPromptChoice } from './vocabulary/prompt-format.ts';
export { isTempMetadataKey } from './vocabulary/temp-metadata.ts';
export { archiveIn, completeIn, pauseIn, resumeIn } from './vocabulary/session.ts';
export { answerIn, eventOut, userIn } from './vocabulary/messages.ts';
export { state, type SessionWrite } from './vocabulary/state.ts';
export { turnCurrent } from './vocabulary/turn.ts';
