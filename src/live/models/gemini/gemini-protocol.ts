import {
  isJsonObject,
  isTextPart,
  type Content,
  type FinishReason,
  type JsonObject,
  type Usage,
} from '../../../core/index.ts';
import { omitUndefined, readOwn } from '../../../core/internal.ts';
import { normalizeSchema, UnsupportedFeatureError } from '../../../models/index.ts';
import type { AudioFormat } from '../audio-format.ts';
import type { LiveCommand, LiveToolResult, LiveToolResultCommand } from '../live-command.ts';
import { listUnansweredCalls } from '../live-history.ts';
import type { LiveOpenRequest } from '../live-model.ts';
import type { LiveCall } from '../live-signal.ts';
import { GeminiSpeechEdges } from './gemini-speech-edges.ts';
import {
  ProtocolViolation,
  type CloseVerdict,
  type LiveProtocol,
  type ProtocolHost,
} from '../socket/live-protocol.ts';
import {
  readDurationMs,
  readNumber,
  readObject,
  readObjects,
  readString,
  readStrings,
  type WireObject,
} from '../socket/read-wire.ts';
import { classifyGeminiClose } from './gemini-close.ts';
import { toInitialTurns, toSetup, toTurn } from './gemini-setup.ts';

const INPUT_AUDIO: AudioFormat = { encoding: 'pcm16', sampleRate: 16_000 };
export const GEMINI_OUTPUT_AUDIO: AudioFormat = { encoding: 'pcm16', sampleRate: 24_000 };

const MAX_CALLS = 64;

const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  'setupComplete',
  'serverContent',
  'toolCall',
  'toolCallCancellation',
  'usageMetadata',
  'goAway',
  'sessionResumptionUpdate',
  'voiceActivity',
  // A former form of voiceActivity, sent beside it.
  'voiceActivityDetectionSignal',
]);

/** Gemini Live: `BidiGenerateContent` of the Gemini API. */
export class GeminiProtocol implements LiveProtocol {
  readonly inputAudio: AudioFormat = INPUT_AUDIO;
  readonly outputAudio: AudioFormat = GEMINI_OUTPUT_AUDIO;
  readonly #name: string;
  readonly #model: string;
  readonly #request: LiveOpenRequest;
  readonly #host: ProtocolHost;
  readonly #restoreArgs: ReadonlyMap<string, (args: JsonObject) => JsonObject>;
  readonly #openCalls = new Set<string>();
  readonly #canceledCalls = new Set<string>();
  /** Calls of a former session that this one does not know. Their results are sent as text. */
  readonly #unknownCalls: ReadonlySet<string>;
  readonly #speech: GeminiSpeechEdges;
  #usage: Usage | undefined;
  #isLeaving = false;
  #isReady = false;
  /** The transcript of audio that has not arrived: it belongs to the next reply. */
  #earlyTranscript = '';

  constructor(name: string, model: string, request: LiveOpenRequest, host: ProtocolHost) {
    this.#name = name;
    this.#model = model;
    this.#request = request;
    this.#host = host;
    this.#speech = new GeminiSpeechEdges(host.reporter, detectsSpeech(request));
    this.#unknownCalls = new Set(
      request.handle === undefined ? listUnansweredCalls(request.history ?? []) : [],
    );
    this.#restoreArgs = new Map(
      (request.tools ?? []).map(({ name, parameters }) => [
        name,
        normalizeSchema(parameters, 'gemini-openapi').restore,
      ]),
    );
  }

  readonly start = (): void => this.#host.send(toSetup(this.#model, this.#request));

  readonly receive = (message: WireObject): void => {
    const { reporter } = this.#host;
    for (const name of Object.keys(message)) {
      if (!KNOWN_MEMBERS.has(name)) {
        reporter.diagnostic('unknown_message', `"${name.slice(0, 100)}" is not known.`);
      }
    }
    if (message['setupComplete'] !== undefined) this.#setupComplete();
    const usage = readObject(message, 'usageMetadata');
    if (usage !== undefined) this.#usage = toUsage(usage);
    const voice = readObject(message, 'voiceActivity');
    if (voice !== undefined) this.#voice(voice);
    const content = readObject(message, 'serverContent');
    if (content !== undefined) this.#content(content);
    const toolCall = readObject(message, 'toolCall');
    if (toolCall !== undefined) this.#calls(readObjects(toolCall, 'functionCalls'));
    const cancellation = readObject(message, 'toolCallCancellation');
    if (cancellation !== undefined) this.#cancelCalls(readStrings(cancellation, 'ids'));
    const update = readObject(message, 'sessionResumptionUpdate');
    const handle = readString(update, 'newHandle') ?? '';
    // While the model generates, it sends an update that is not resumable. The older handle stays valid.
    if (update?.['resumable'] === true && handle !== '') reporter.handle(handle);
    const goAway = readObject(message, 'goAway');
    if (goAway !== undefined) {
      this.#isLeaving = true;
      const timeLeftMs = readDurationMs(goAway, 'timeLeft');
      reporter.signal({ kind: 'go-away', ...omitUndefined({ timeLeftMs }) });
    }
  };

  readonly command = (command: LiveCommand): readonly JsonObject[] => {
    const detectsActivity = detectsSpeech(this.#request);
    if (asksForReply(command)) this.#speech.asked();
    switch (command.kind) {
      case 'respond':
        return [{ clientContent: { turnComplete: true } }];
      case 'text':
        return [toTextMessage(command.content, command.respond ?? true)];
      case 'nudge':
        return [{ realtimeInput: { text: command.instruction } }];
      case 'tool-result':
        return this.#toolResults(command);
      case 'cut':
        // The protocol has no such message: the rest of the reply is dropped as it arrives.
        this.#host.reporter.interrupt();
        return [];
      case 'truncate':
        // The server counts what was played itself.
        return [];
      case 'activity':
        if (detectsActivity) {
          const details = 'the model detects speech: set automaticActivityDetection.disabled';
          throw new UnsupportedFeatureError(this.#name, 'activity', details);
        }
        return [
          {
            realtimeInput: command.edge === 'started' ? { activityStart: {} } : { activityEnd: {} },
          },
        ];
      case 'audio-end':
      default:
        return detectsActivity ? [{ realtimeInput: { audioStreamEnd: true } }] : [];
    }
  };

  // Written as text, because it is sent fifty times a second.
  readonly encodeAudio = (pcm: Uint8Array): string =>
    `{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"${toBase64(pcm)}"}}}`;

  readonly encodeImage = (mimeType: string, data: Uint8Array): string =>
    JSON.stringify({ realtimeInput: { video: { mimeType, data: toBase64(data) } } });

  readonly classifyClose = (code: number, reason: string): CloseVerdict => {
    const hasHandle = this.#request.handle !== undefined && !this.#isReady;
    return classifyGeminiClose(code, reason, { isLeaving: this.#isLeaving, hasHandle });
  };

  readonly dispose = (): void => undefined;

  #toolResults({ results, respond = true }: LiveToolResultCommand): readonly JsonObject[] {
    const wanted = results.filter(({ callId }) => !this.#canceledCalls.has(callId));
    for (const { callId, willContinue = false } of wanted) {
      if (!willContinue) this.#openCalls.delete(callId);
    }
    const known = wanted.filter(({ callId }) => !this.#unknownCalls.has(callId));
    const functionResponses = known.map((result) => toFunctionResponse(result, !respond));
    return [
      ...(functionResponses.length > 0 ? [{ toolResponse: { functionResponses } }] : []),
      ...wanted
        .filter(({ callId }) => this.#unknownCalls.has(callId))
        .map(({ name, response }) => ({
          realtimeInput: { text: `Result of ${name}: ${JSON.stringify(response)}` },
        })),
    ];
  }

  #setupComplete(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    const turns = toInitialTurns(this.#request);
    if (turns.length > 0) this.#host.send({ clientContent: { turns, turnComplete: true } });
    this.#host.ready();
  }

  #content(content: WireObject): void {
    const { reporter } = this.#host;
    const input = readString(readObject(content, 'inputTranscription'), 'text');
    if (input !== undefined) {
      if (input !== '') this.#speech.heard();
      reporter.heard(input);
    }
    if (readObject(content, 'inputTranscription')?.['finished'] === true) reporter.endTranscript();
    if (content['interrupted'] === true) reporter.interrupt();
    for (const part of readObjects(readObject(content, 'modelTurn'), 'parts')) this.#part(part);
    const output = readString(readObject(content, 'outputTranscription'), 'text') ?? '';
    if (reporter.reply === undefined) this.#earlyTranscript += output;
    else reporter.text('audio', output);
    if (content['turnComplete'] === true) this.#turnComplete(content);
  }

  #part(part: WireObject): void {
    const { reporter } = this.#host;
    const text = readString(part, 'text');
    const media = readObject(part, 'inlineData');
    if (text !== undefined) {
      this.#begin();
      reporter.text(part['thought'] === true ? 'thought' : 'text', text);
    } else if (media !== undefined) this.#media(media);
    // A signature of thinking comes alone, too.
    else if (Object.keys(part).some((key) => key !== 'thought' && key !== 'thoughtSignature')) {
      const names = Object.keys(part).join(', ').slice(0, 100);
      reporter.diagnostic('unexpected_value', `A part with "${names}" was ignored.`);
    }
  }

  #media(media: WireObject): void {
    const { reporter } = this.#host;
    const mimeType = readString(media, 'mimeType') ?? '';
    const rate = /^audio\/(?:pcm|l16)\b(?:.*\brate=(?<rate>\d+))?/i.exec(mimeType);
    const sampleRate = Number(rate?.groups?.['rate'] ?? GEMINI_OUTPUT_AUDIO.sampleRate);
    if (rate === null || sampleRate !== GEMINI_OUTPUT_AUDIO.sampleRate) {
      const shown = mimeType.slice(0, 100);
      reporter.diagnostic('unexpected_value', `Media of type "${shown}" was ignored.`);
      return;
    }
    this.#begin();
    // Reads both alphabets of base64, with and without padding.
    reporter.audio(Buffer.from(readString(media, 'data') ?? '', 'base64'));
  }

  #begin(): void {
    const { reporter } = this.#host;
    if (reporter.reply !== undefined) return;
    this.#speech.replying();
    // A transcript has no end of its own: it ends when the model replies.
    reporter.endTranscript();
    reporter.begin();
    reporter.text('audio', this.#earlyTranscript);
    this.#earlyTranscript = '';
  }

  #turnComplete(content: WireObject): void {
    const { reporter } = this.#host;
    // The turn of a reply with calls: the reply has ended with them.
    if (reporter.reply === undefined && this.#openCalls.size > 0) return;
    // The model may stay silent. Whoever waits for its reply learns that there is none.
    if (reporter.reply === undefined) {
      if (!this.#speech.isReplyAwaited) return;
      this.#begin();
    }
    reporter.endTranscript();
    reporter.end({
      finishReason: toFinishReason(readString(content, 'turnCompleteReason')),
      ...omitUndefined({ usage: this.#takeUsage() }),
    });
  }

  #calls(wireCalls: readonly WireObject[]): void {
    if (wireCalls.length === 0) return;
    if (wireCalls.length > MAX_CALLS) {
      throw new ProtocolViolation(`a message has ${wireCalls.length} calls.`);
    }
    const { reporter } = this.#host;
    // The model waits for the results, even if nobody listens to this reply any more.
    if (reporter.interrupted) {
      reporter.end({ finishReason: 'stop' });
      this.#speech.asked();
    }
    this.#begin();
    const calls = wireCalls.map((call) => this.#toCall(call));
    for (const { id } of calls) this.#openCalls.add(id);
    reporter.calls(calls);
    reporter.end({
      finishReason: 'tool_calls',
      ...omitUndefined({ usage: this.#takeUsage() }),
    });
  }

  #toCall(wireCall: WireObject): LiveCall {
    const id = readString(wireCall, 'id');
    const name = readString(wireCall, 'name');
    if (id === undefined || name === undefined) {
      throw new ProtocolViolation('a call has no id or no name.');
    }
    const given = wireCall['args'] ?? {};
    if (!isJsonObject(given)) {
      const argsError = { message: 'The arguments are not an object.', raw: JSON.stringify(given) };
      return { id, name, args: {}, argsError };
    }
    return { id, name, args: this.#restoreArgs.get(name)?.(given) ?? given };
  }

  #cancelCalls(ids: readonly string[]): void {
    const callIds = ids.filter((id) => !this.#canceledCalls.has(id));
    for (const id of callIds) {
      this.#openCalls.delete(id);
      this.#canceledCalls.add(id);
    }
    if (callIds.length > 0) this.#host.reporter.signal({ kind: 'call-canceled', callIds });
  }

  #voice(voice: WireObject): void {
    const edge = readOwn(VOICE_EDGES, readString(voice, 'voiceActivityType') ?? '');
    if (edge === undefined) return;
    this.#speech.reported(edge, readDurationMs(voice, 'audioOffset'));
  }

  #takeUsage(): Usage | undefined {
    const usage = this.#usage;
    this.#usage = undefined;
    return usage;
  }
}

const VOICE_EDGES: Readonly<Record<string, 'started' | 'stopped' | undefined>> = {
  ACTIVITY_START: 'started',
  ACTIVITY_END: 'stopped',
};

/** True if the server detects speech. Otherwise the client sends its edges. */
function detectsSpeech({ config }: LiveOpenRequest): boolean {
  return config?.realtimeInputConfig?.automaticActivityDetection?.disabled !== true;
}

/** True for a command after which the model replies. */
function asksForReply(command: LiveCommand): boolean {
  if (command.kind === 'text' || command.kind === 'tool-result') return command.respond ?? true;
  return command.kind === 'respond' || command.kind === 'nudge';
}

function toTextMessage(content: Content, respond: boolean): JsonObject {
  const { role, parts } = content;
  const texts = parts.flatMap((part) => (isTextPart(part) ? part.text : []));
  // Newer models read `clientContent` only before the conversation begins.
  if (respond && role === 'user' && texts.length === parts.length) {
    return { realtimeInput: { text: texts.join('') } };
  }
  return { clientContent: { turns: [toTurn(content)], turnComplete: respond } };
}

function toFunctionResponse(result: LiveToolResult, isSilent: boolean): JsonObject {
  const { callId: id, name, response, isError, willContinue, scheduling } = result;
  const named = isError === true && response['error'] === undefined;
  return omitUndefined({
    id,
    name,
    response: named ? { error: response } : response,
    willContinue,
    scheduling: isSilent ? 'SILENT' : scheduling?.toUpperCase().replace('-', '_'),
  });
}

function toFinishReason(reason: string | undefined): FinishReason {
  if (reason === undefined || /UNSPECIFIED|NEED_MORE_INPUT/.test(reason)) return 'stop';
  return /REJECTED|SAFETY|PROHIBITED|BLOCK/.test(reason) ? 'refusal' : 'other';
}

function toUsage(usage: WireObject): Usage {
  const inputTokens =
    (readNumber(usage, 'promptTokenCount') ?? 0) +
    (readNumber(usage, 'toolUsePromptTokenCount') ?? 0);
  const thinkingTokens = readNumber(usage, 'thoughtsTokenCount');
  const outputTokens = (readNumber(usage, 'responseTokenCount') ?? 0) + (thinkingTokens ?? 0);
  return {
    inputTokens,
    outputTokens,
    totalTokens: readNumber(usage, 'totalTokenCount') ?? inputTokens + outputTokens,
    ...omitUndefined({
      thinkingTokens,
      cacheReadTokens: readNumber(usage, 'cachedContentTokenCount'),
    }),
  };
}

function toBase64(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
}
