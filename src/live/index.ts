export { audioByteLength, audioDurationMs, type AudioFormat } from './models/audio-format.ts';
export type {
  LiveActivityCommand,
  LiveAudioEndCommand,
  LiveCommand,
  LiveCutCommand,
  LiveNudgeCommand,
  LiveRespondCommand,
  LiveTextCommand,
  LiveToolResult,
  LiveToolResultCommand,
  LiveTruncateCommand,
} from './models/live-command.ts';
export type {
  LiveActivityDetection,
  LiveCompressionConfig,
  LiveConfig,
  LiveInputConfig,
  LiveSpeechConfig,
  LiveTranscriptionConfig,
} from './models/live-config.ts';
export { LiveConnectionClosedError, LiveHandleExpiredError } from './models/live-errors.ts';
export type {
  LiveConnection,
  LiveOpenContext,
  LiveDiagnostic,
  LiveListener,
  LiveMedia,
  LiveModel,
  LiveOpenRequest,
  LivePartial,
  LiveToolDeclaration,
} from './models/live-model.ts';
export {
  MAX_LIVE_SIGNAL_BYTES,
  type LiveBegunSignal,
  type LiveCall,
  type LiveCallCanceledSignal,
  type LiveCallSignal,
  type LiveClosedSignal,
  type LiveCloseReason,
  type LiveDoneSignal,
  type LiveGoAwaySignal,
  type LiveHandleSignal,
  type LiveTranscriptSignal,
  type LiveInterruptedSignal,
  type LiveReplyError,
  type LiveReplyTextSignal,
  type LiveSignal,
  type LiveVoiceSignal,
} from './models/live-signal.ts';
export { ScriptedLive, type ScriptedLiveOptions } from './models/scripted/scripted-live.ts';
export type {
  LiveScript,
  ScriptedLiveCall,
  ScriptedLiveTurn,
  ScriptedOpen,
} from './models/scripted/scripted-live-turn.ts';
export { cascadedLive, type CascadedLiveOptions } from './models/cascaded/cascaded-live.ts';
export {
  aiSdkSynthesizer,
  aiSdkTranscriber,
  type AiSdkSpeechModel,
  type AiSdkSpeechOptions,
  type AiSdkTranscriptionModel,
} from './models/cascaded/ai-sdk-speech.ts';
export type {
  SpeechSynthesizer,
  PcmAudio,
  Transcriber,
} from './models/cascaded/speech-services.ts';
export { geminiLive, type GeminiLiveOptions } from './models/gemini/gemini-live.ts';
export { openaiRealtime, type OpenaiRealtimeOptions } from './models/openai/openai-realtime.ts';
export type { LiveAccessOptions } from './models/socket/live-access.ts';
export type { LiveLimits } from './models/socket/live-limits.ts';
export { liveAgent, type LiveAgentDefinition } from './agent/live-agent.ts';
export { LiveHub, type CallOptions, type LiveHubOptions } from './hub/live-hub.ts';
export type {
  AcceptedReply,
  ClientPartial,
  LiveClient,
  OpenConnection,
  VoiceCall,
} from './hub/live-client.ts';
export { LiveSessionElsewhereError } from './hub/live-session-elsewhere-error.ts';
export { liveIsSmall } from './vocabulary/live-is-small.ts';
export { MissingLiveHubError } from './vocabulary/live-host.ts';
