/**
 * Attribute names of the OpenTelemetry semantic conventions for generative AI, version 1.41. A test compares them with
 * the published list.
 */
export const GenAi = {
  operationName: 'gen_ai.operation.name',
  providerName: 'gen_ai.provider.name',
  conversationId: 'gen_ai.conversation.id',
  agentName: 'gen_ai.agent.name',
  agentDescription: 'gen_ai.agent.description',
  requestModel: 'gen_ai.request.model',
  requestTemperature: 'gen_ai.request.temperature',
  requestTopP: 'gen_ai.request.top_p',
  requestTopK: 'gen_ai.request.top_k',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  requestStopSequences: 'gen_ai.request.stop_sequences',
  requestPresencePenalty: 'gen_ai.request.presence_penalty',
  requestFrequencyPenalty: 'gen_ai.request.frequency_penalty',
  requestSeed: 'gen_ai.request.seed',
  outputType: 'gen_ai.output.type',
  responseFinishReasons: 'gen_ai.response.finish_reasons',
  usageInputTokens: 'gen_ai.usage.input_tokens',
  usageOutputTokens: 'gen_ai.usage.output_tokens',
  usageReasoningOutputTokens: 'gen_ai.usage.reasoning.output_tokens',
  usageCacheReadInputTokens: 'gen_ai.usage.cache_read.input_tokens',
  usageCacheCreationInputTokens: 'gen_ai.usage.cache_creation.input_tokens',
  toolName: 'gen_ai.tool.name',
  toolDescription: 'gen_ai.tool.description',
  toolCallId: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  errorType: 'error.type',
} as const;

/** Attribute names of this package, for which the conventions have none. */
export const Petrichor = {
  app: 'petrichor.app',
  user: 'petrichor.user',
  invocationId: 'petrichor.invocation.id',
  /** True for an invocation that another process started. */
  resumed: 'petrichor.invocation.resumed',
  stopReason: 'petrichor.stop_reason',
  /** Starts at 1 and grows with each retry or crash. */
  attempt: 'petrichor.attempt',
  step: 'petrichor.step',
  records: 'petrichor.records',
  events: 'petrichor.events',
  /** How a waiting call was answered, or ended. */
  decision: 'petrichor.park.decision',
  /** True if this process ended while the invocation was running; another process may continue it. */
  left: 'petrichor.left',
} as const;
