import {
  isFunctionCallPart,
  isFunctionResponsePart,
  isInlineDataPart,
  isTextPart,
  type Content,
  type JsonObject,
  type Part,
} from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { normalizeSchema } from '../../../models/index.ts';
import type { LiveCompressionConfig, LiveConfig } from '../live-config.ts';
import { toLiveHistory } from '../live-history.ts';
import type { LiveOpenRequest } from '../live-model.ts';
import { listProviderTools, listTrue } from '../socket/check-live-config.ts';

const AUDIO = { type: 'audio/pcm', rate: 24_000 } as const;

/** Loudness that counts as speech, by sensitivity. The protocol's default is 0.5. */
const THRESHOLDS = { START_SENSITIVITY_HIGH: 0.3, START_SENSITIVITY_LOW: 0.7 } as const;

/** The options and tools that the Realtime API does not have. */
export function listUnsupportedByRealtime({
  config = {},
  tools = [],
}: LiveOpenRequest): readonly string[] {
  const { realtimeInputConfig = {}, contextWindowCompression: compression } = config;
  const detection = realtimeInputConfig.automaticActivityDetection;
  return listTrue({
    ...listProviderTools(tools, () => false),
    'speechConfig.languageCode': config.speechConfig?.languageCode !== undefined,
    'realtimeInputConfig.automaticActivityDetection.endOfSpeechSensitivity':
      detection?.endOfSpeechSensitivity !== undefined,
    'realtimeInputConfig.turnCoverage':
      realtimeInputConfig.turnCoverage === 'TURN_INCLUDES_ALL_INPUT',
    enableAffectiveDialog: config.enableAffectiveDialog === true,
    'proactivity.proactiveAudio': config.proactivity?.proactiveAudio === true,
    sessionResumption: config.sessionResumption !== undefined && config.sessionResumption !== null,
    // A target alone has no meaning: the protocol keeps a part of a limit.
    'contextWindowCompression.slidingWindow.targetTokens':
      compression?.triggerTokens === undefined &&
      compression?.slidingWindow?.targetTokens !== undefined,
    temperature: config.temperature !== undefined,
    'inputAudioTranscription.languageCodes':
      (config.inputAudioTranscription?.languageCodes?.length ?? 0) > 1,
    'outputAudioTranscription.languageCodes':
      config.outputAudioTranscription?.languageCodes !== undefined,
  });
}

/** The message that configures a session. */
export function toSessionUpdate(request: LiveOpenRequest, transcriptionModel: string): JsonObject {
  const { instruction, tools = [], config = {} } = request;
  const isText = config.responseModalities?.includes('TEXT') === true;
  const transcription = config.inputAudioTranscription;
  const voice = config.speechConfig?.voiceConfig?.prebuiltVoiceConfig?.voiceName;
  return {
    type: 'session.update',
    session: omitUndefined({
      type: 'realtime',
      output_modalities: [isText ? 'text' : 'audio'],
      instructions: instruction,
      audio: omitUndefined({
        input: {
          format: AUDIO,
          transcription:
            transcription === null
              ? null
              : omitUndefined({
                  model: transcriptionModel,
                  language: transcription?.languageCodes?.[0],
                }),
          turn_detection: toTurnDetection(config),
        },
        output: isText ? undefined : omitUndefined({ format: AUDIO, voice }),
      }),
      tools: tools
        .filter(({ provider }) => provider === undefined)
        .map(({ name, description, parameters }) => ({
          type: 'function',
          name,
          description,
          parameters: normalizeSchema(parameters, 'compatible').schema,
        })),
      max_output_tokens: config.maxOutputTokens,
      truncation: toTruncation(config.contextWindowCompression),
    }),
  };
}

/** The items of a history. Audio messages of the model cannot be restored, their text can. */
export function toHistoryItems({ history = [] }: LiveOpenRequest): readonly JsonObject[] {
  return toLiveHistory(history).flatMap(toItems);
}

/** The messages that add a message to the conversation. */
export function toItems({ role, parts }: Content): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let content: JsonObject[] = [];
  const endMessage = (): void => {
    if (content.length > 0) items.push(toMessage(role, content));
    content = [];
  };
  for (const part of parts) {
    if (isFunctionCallPart(part)) {
      endMessage();
      const { id, name, args } = part.functionCall;
      items.push({
        type: 'function_call',
        call_id: toCallId(id),
        name,
        arguments: JSON.stringify(args),
      });
    } else if (isFunctionResponsePart(part)) {
      endMessage();
      const { id, response } = part.functionResponse;
      items.push(toOutputItem(toCallId(id), response));
    } else content.push(...toContentPart(role, part));
  }
  endMessage();
  return items.map((item) => ({ type: 'conversation.item.create', item }));
}

/** The item with the result of a call. */
export function toOutputItem(callId: string, response: JsonObject): JsonObject {
  return { type: 'function_call_output', call_id: callId, output: JSON.stringify(response) };
}

function toMessage(role: Content['role'], content: readonly JsonObject[]): JsonObject {
  return { type: 'message', role: role === 'model' ? 'assistant' : 'user', content };
}

function toContentPart(role: Content['role'], part: Part): readonly JsonObject[] {
  if (isTextPart(part)) {
    return [{ type: role === 'model' ? 'output_text' : 'input_text', text: part.text }];
  }
  if (!isInlineDataPart(part) || role === 'model') return [];
  const { mimeType, data } = part.inlineData;
  return mimeType.startsWith('image/')
    ? [{ type: 'input_image', image_url: `data:${mimeType};base64,${data}` }]
    : [];
}

/** The API accepts at most 32 characters. Both sides of a call are shortened alike. */
export function toCallId(id: string): string {
  return id.slice(-32);
}

function toTurnDetection({ realtimeInputConfig = {} }: LiveConfig): JsonObject | null {
  const { automaticActivityDetection: detection = {}, activityHandling } = realtimeInputConfig;
  if (detection.disabled === true) return null;
  const { startOfSpeechSensitivity: sensitivity } = detection;
  return omitUndefined({
    type: 'server_vad',
    create_response: true,
    interrupt_response: activityHandling !== 'NO_INTERRUPTION',
    threshold: sensitivity === undefined ? undefined : THRESHOLDS[sensitivity],
    prefix_padding_ms: detection.prefixPaddingMs,
    silence_duration_ms: detection.silenceDurationMs,
  });
}

function toTruncation(compression: LiveCompressionConfig | undefined): JsonObject | undefined {
  const { triggerTokens, slidingWindow = {} } = compression ?? {};
  if (triggerTokens === undefined) return undefined;
  const { targetTokens = triggerTokens / 2 } = slidingWindow;
  return {
    type: 'retention_ratio',
    retention_ratio: Math.min(1, Math.max(0, targetTokens / triggerTokens)),
    token_limits: { post_instructions: triggerTokens },
  };
}
