import type { Content, JsonObject, Part } from '../../../core/index.ts';
import {
  isFunctionCallPart,
  isFunctionResponsePart,
  isInlineDataPart,
  isTextPart,
} from '../../../core/index.ts';
import { omitUndefined, readOwn } from '../../../core/internal.ts';
import { normalizeSchema } from '../../../models/index.ts';
import type { LiveConfig, LiveTranscriptionConfig } from '../live-config.ts';
import { listUnansweredCalls, toLiveHistory } from '../live-history.ts';
import type { LiveOpenRequest, LiveToolDeclaration } from '../live-model.ts';
import { listProviderTools, listTrue } from '../socket/check-live-config.ts';

/** The tools that Gemini Live runs itself, by their ids. */
const GEMINI_TOOLS: Readonly<Record<string, string>> = {
  'google.google_search': 'googleSearch',
  'google.url_context': 'urlContext',
  'google.code_execution': 'codeExecution',
};

/** The options and tools that Gemini Live does not have. */
export function listUnsupportedByGemini({
  config = {},
  tools = [],
}: LiveOpenRequest): readonly string[] {
  return listTrue({
    ...listProviderTools(tools, (id) => Object.hasOwn(GEMINI_TOOLS, id)),
    'sessionResumption.transparent': config.sessionResumption?.transparent === true,
    // Vertex AI has it. The Gemini API reports edges of speech with some models, without an option.
    explicitVadSignal: config.explicitVadSignal === true,
  });
}

/** The version of the API that has the options of a conversation. */
export function chooseApiVersion({ enableAffectiveDialog, proactivity }: LiveConfig): string {
  return enableAffectiveDialog === true || proactivity !== undefined ? 'v1alpha' : 'v1beta';
}

/** The first message of a conversation. */
export function toSetup(model: string, request: LiveOpenRequest): JsonObject {
  const { instruction, tools = [], handle, config = {} } = request;
  const { sessionResumption, contextWindowCompression: compression } = config;
  const hasHistory = toInitialTurns(request).length > 0;
  return {
    setup: omitUndefined({
      model: model.includes('/') ? model : `models/${model}`,
      generationConfig: omitUndefined({
        responseModalities: [...(config.responseModalities ?? ['AUDIO'])],
        speechConfig: config.speechConfig,
        temperature: config.temperature,
        maxOutputTokens: config.maxOutputTokens,
        enableAffectiveDialog: config.enableAffectiveDialog,
      }),
      systemInstruction: instruction === undefined ? undefined : { parts: [{ text: instruction }] },
      tools: toTools(tools),
      realtimeInputConfig: config.realtimeInputConfig,
      inputAudioTranscription: toTranscription(config.inputAudioTranscription),
      outputAudioTranscription: toTranscription(config.outputAudioTranscription),
      proactivity: config.proactivity,
      sessionResumption: sessionResumption === null ? undefined : omitUndefined({ handle }),
      contextWindowCompression:
        compression === undefined
          ? undefined
          : omitUndefined({
              triggerTokens: compression.triggerTokens?.toString(),
              slidingWindow: omitUndefined({
                targetTokens: compression.slidingWindow?.targetTokens?.toString(),
              }),
            }),
      historyConfig: hasHistory ? { initialHistoryInClientContent: true } : undefined,
    }),
  };
}

/** The history as turns. Empty with a handle, because the server has it. */
export function toInitialTurns({ handle, history = [] }: LiveOpenRequest): readonly JsonObject[] {
  if (handle !== undefined) return [];
  // Gemini would wait for the results of these calls.
  const unanswered = new Set(listUnansweredCalls(history));
  return toLiveHistory(history)
    .map(({ role, parts }) => ({
      role,
      parts: parts.filter(
        (part) => !isFunctionCallPart(part) || !unanswered.has(part.functionCall.id),
      ),
    }))
    .filter(({ parts }) => parts.length > 0)
    .map(toTurn);
}

/** A message in Gemini's form. */
export function toTurn({ role, parts }: Content): JsonObject {
  return { role: role === 'model' ? 'model' : 'user', parts: parts.flatMap(toWirePart) };
}

function toWirePart(part: Part): readonly JsonObject[] {
  if (isTextPart(part)) return [{ text: part.text }];
  if (isInlineDataPart(part)) {
    const { mimeType, data } = part.inlineData;
    return [{ inlineData: { mimeType, data } }];
  }
  if (isFunctionCallPart(part)) {
    const { id, name, args } = part.functionCall;
    return [{ functionCall: { id, name, args } }];
  }
  if (!isFunctionResponsePart(part)) return [];
  const { id, name, response } = part.functionResponse;
  return [{ functionResponse: { id, name, response } }];
}

function toTools(tools: readonly LiveToolDeclaration[]): readonly JsonObject[] | undefined {
  const functions = tools.filter(({ provider }) => provider === undefined).map(toDeclaration);
  const own = tools.flatMap(({ provider }) => {
    const name = provider && readOwn(GEMINI_TOOLS, provider.id);
    return name === undefined ? [] : [{ [name]: provider?.args ?? {} }];
  });
  const all = [...(functions.length === 0 ? [] : [{ functionDeclarations: functions }]), ...own];
  return all.length === 0 ? undefined : all;
}

function toDeclaration(tool: LiveToolDeclaration): JsonObject {
  const { name, description, parameters, nonBlocking = false } = tool;
  return omitUndefined({
    name,
    description,
    parameters: normalizeSchema(parameters, 'gemini-openapi').schema,
    behavior: nonBlocking ? 'NON_BLOCKING' : undefined,
  });
}

function toTranscription(
  config: LiveTranscriptionConfig | null | undefined,
): JsonObject | undefined {
  if (config === null) return undefined;
  const languageCodes = config?.languageCodes;
  return omitUndefined({ languageCodes: languageCodes && [...languageCodes] });
}
