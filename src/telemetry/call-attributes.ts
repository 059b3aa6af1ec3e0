import { omitUndefined } from '../core/internal.ts';
import type { Attributes } from '@opentelemetry/api';
import type { InterceptedCall } from '../agents/index.ts';
import { isJsonObject } from '../core/index.ts';
import type { SessionKey, Usage } from '../core/index.ts';
import type { GenerationConfig, ModelResponse } from '../models/index.ts';
import { GenAi, Petrichor } from './attribute-names.ts';
import { parseModelName } from './model-name.ts';

export function invocationAttributes(
  { appName, userId, sessionId }: SessionKey,
  invocationId: string,
): Attributes {
  return {
    [GenAi.conversationId]: sessionId,
    [Petrichor.app]: appName,
    [Petrichor.user]: userId,
    [Petrichor.invocationId]: invocationId,
  };
}

/** Attributes that are known before a call. */
export function callAttributes(call: InterceptedCall): Attributes {
  return {
    [GenAi.conversationId]: call.sessionKey.sessionId,
    ...omitUndefined({ [GenAi.agentName]: call.agentName }),
    [Petrichor.attempt]: call.attempt,
    ...(call.kind === 'model' ? modelAttributes(call) : toolAttributes(call)),
  };
}

function modelAttributes(call: Extract<InterceptedCall, { readonly kind: 'model' }>): Attributes {
  const { provider, model } = parseModelName(call.name);
  return {
    [GenAi.operationName]: 'chat',
    [GenAi.providerName]: provider,
    [GenAi.requestModel]: model,
    ...configAttributes(call.config ?? {}),
  };
}

function toolAttributes({
  name,
  callId,
  description,
}: Extract<InterceptedCall, { readonly kind: 'tool' }>): Attributes {
  return {
    [GenAi.operationName]: 'execute_tool',
    [GenAi.toolName]: name,
    [GenAi.toolCallId]: callId,
    [GenAi.toolType]: 'function',
    ...omitUndefined({ [GenAi.toolDescription]: description !== '' ? description : undefined }),
  };
}

function configAttributes(config: GenerationConfig): Attributes {
  return omitUndefined({
    [GenAi.requestTemperature]: config.temperature,
    [GenAi.requestTopP]: config.topP,
    [GenAi.requestTopK]: config.topK,
    [GenAi.requestMaxTokens]: config.maxOutputTokens,
    [GenAi.requestStopSequences]:
      config.stopSequences === undefined ? undefined : [...config.stopSequences],
    [GenAi.requestPresencePenalty]: config.presencePenalty,
    [GenAi.requestFrequencyPenalty]: config.frequencyPenalty,
    [GenAi.requestSeed]: config.seed,
    [GenAi.outputType]:
      config.json === true || config.responseSchema !== undefined ? 'json' : undefined,
  });
}

/** Attributes from a model's answer. */
export function responseAttributes(returned: unknown): Attributes {
  if (!isModelResponse(returned)) return {};
  const { finishReason, usage } = returned;
  return {
    [GenAi.responseFinishReasons]: [finishReason],
    ...(usage !== undefined && usageAttributes(usage)),
  };
}

export function usageAttributes(usage: Usage): Attributes {
  return omitUndefined({
    [GenAi.usageInputTokens]: usage.inputTokens,
    [GenAi.usageOutputTokens]: usage.outputTokens,
    [GenAi.usageReasoningOutputTokens]: usage.thinkingTokens,
    [GenAi.usageCacheReadInputTokens]: usage.cacheReadTokens,
    [GenAi.usageCacheCreationInputTokens]: usage.cacheWriteTokens,
  });
}

function isModelResponse(value: unknown): value is ModelResponse {
  return isJsonObject(value) && typeof value['finishReason'] === 'string';
}
