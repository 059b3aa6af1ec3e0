import { decodeJson, isJsonObject, type JsonObject, type Usage } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { UnsupportedFeatureError } from '../../../models/index.ts';
import type { Clock } from '../../../net/index.ts';
import { audioDurationMs, type AudioFormat } from '../audio-format.ts';
import type { LiveCommand, LiveToolResultCommand } from '../live-command.ts';
import type { LiveOpenRequest } from '../live-model.ts';
import type { ReplyEnd } from '../live-reporter.ts';
import type { LiveCall } from '../live-signal.ts';
import {
  ProtocolViolation,
  type CloseVerdict,
  type LiveProtocol,
  type ProtocolHost,
} from '../socket/live-protocol.ts';
import {
  readNumber,
  readObject,
  readObjects,
  readString,
  type WireObject,
} from '../socket/read-wire.ts';
import { classifyRealtimeClose, classifyRealtimeError } from './realtime-close.ts';
import {
  toCallId,
  toHistoryItems,
  toItems,
  toOutputItem,
  toSessionUpdate,
} from './realtime-session.ts';

export const REALTIME_AUDIO: AudioFormat = { encoding: 'pcm16', sampleRate: 24_000 };

const MAX_CALLS = 64;
const MAX_ARGS_ERROR = 200;
const GO_AWAY_MS = 60_000;

/** Where the audio of a reply is, to truncate it. */
interface AudibleItem {
  readonly itemId: string;
  audioBytes: number;
}

/** What `RealtimeProtocol` needs. */
export interface RealtimeProtocolOptions {
  readonly name: string;
  readonly request: LiveOpenRequest;
  readonly transcriptionModel: string;
  readonly clock: Clock;
  readonly host: ProtocolHost;
}

/** Messages that change nothing here. */
const IGNORED: ReadonlySet<string> = new Set([
  'conversation.created',
  'conversation.item.added',
  'conversation.item.created',
  'conversation.item.deleted',
  'conversation.item.done',
  'conversation.item.retrieved',
  'conversation.item.truncated',
  'conversation.item.input_audio_transcription.segment',
  'input_audio_buffer.cleared',
  'input_audio_buffer.committed',
  'input_audio_buffer.timeout_triggered',
  'rate_limits.updated',
  'response.content_part.added',
  'response.content_part.done',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  'response.output_audio.done',
  'response.output_audio_transcript.done',
  'response.output_item.added',
  'response.output_item.done',
  'response.output_text.done',
]);

/** Errors that mean that a command came too late. Nothing is lost. */
const LATE: ReadonlySet<string> = new Set(['response_cancel_not_active']);

/** OpenAI's Realtime API. */
export class RealtimeProtocol implements LiveProtocol {
  readonly inputAudio: AudioFormat = REALTIME_AUDIO;
  readonly outputAudio: AudioFormat = REALTIME_AUDIO;
  readonly #name: string;
  readonly #request: LiveOpenRequest;
  readonly #transcriptionModel: string;
  readonly #clock: Clock;
  readonly #host: ProtocolHost;
  readonly #openCalls = new Set<string>();
  /** By reply. */
  readonly #audible = new Map<string, AudibleItem>();
  #phase: 'connected' | 'configured' | 'ready' = 'connected';
  #responseId: string | undefined;
  /** A reply was requested while another one was active. */
  #respondsNext = false;
  #detectsSpeech = false;
  #isExpired = false;
  #cancelGoAway: () => void = () => undefined;

  constructor({ name, request, transcriptionModel, clock, host }: RealtimeProtocolOptions) {
    this.#name = name;
    this.#request = request;
    this.#transcriptionModel = transcriptionModel;
    this.#clock = clock;
    this.#host = host;
  }

  // The server speaks first: session.created.
  readonly start = (): void => undefined;

  readonly receive = (message: WireObject): void => {
    const type = readString(message, 'type') ?? '';
    const { reporter } = this.#host;
    switch (type) {
      case 'session.created':
        return this.#sessionCreated(readObject(message, 'session'));
      case 'session.updated':
        return this.#sessionUpdated();
      case 'input_audio_buffer.speech_started':
        return this.#voice('started', readNumber(message, 'audio_start_ms'));
      case 'input_audio_buffer.speech_stopped':
        return this.#voice('stopped', readNumber(message, 'audio_end_ms'));
      case 'conversation.item.input_audio_transcription.delta':
        return reporter.heard(readString(message, 'delta') ?? '');
      case 'conversation.item.input_audio_transcription.completed':
        return reporter.endTranscript(readString(message, 'transcript'));
      case 'conversation.item.input_audio_transcription.failed':
        return this.#error(readObject(message, 'error'), 'The transcription failed');
      case 'response.created':
        return this.#responseCreated(readObject(message, 'response'));
      case 'response.output_audio.delta':
        return this.#audio(message);
      case 'response.output_audio_transcript.delta':
        return this.#text('audio', message);
      case 'response.output_text.delta':
        return this.#text('text', message);
      case 'response.done':
        return this.#responseDone(readObject(message, 'response') ?? {});
      case 'error':
        return this.#error(readObject(message, 'error'), 'The server reported');
      default:
        if (IGNORED.has(type)) return undefined;
        return reporter.diagnostic('unknown_message', `"${type.slice(0, 100)}" is not known.`);
    }
  };

  readonly command = (command: LiveCommand): readonly JsonObject[] => {
    switch (command.kind) {
      case 'respond':
        return this.#respond();
      case 'text': {
        const items = toItems(command.content);
        return command.respond === false ? items : [...items, ...this.#cut(), ...this.#respond()];
      }
      case 'nudge':
        // A nudge is for silence. During a reply there is none.
        if (this.#responseId !== undefined) return [];
        return [{ type: 'response.create', response: { instructions: command.instruction } }];
      case 'tool-result':
        return this.#toolResults(command);
      case 'cut':
        return this.#cut();
      case 'truncate':
        return this.#truncate(command.reply, command.playedMs);
      case 'activity':
        return this.#activity(command.edge);
      case 'audio-end':
      default:
        return this.#endAudio();
    }
  };

  // Written as text, because it is sent fifty times a second.
  readonly encodeAudio = (pcm: Uint8Array): string =>
    `{"type":"input_audio_buffer.append","audio":"${toBase64(pcm)}"}`;

  readonly encodeImage = (mimeType: string, data: Uint8Array): string => {
    const imageUrl = `data:${mimeType};base64,${toBase64(data)}`;
    const content = [{ type: 'input_image', image_url: imageUrl }];
    const item = { type: 'message', role: 'user', content };
    return JSON.stringify({ type: 'conversation.item.create', item });
  };

  readonly classifyClose = (code: number, reason: string): CloseVerdict =>
    classifyRealtimeClose(code, reason, { isExpired: this.#isExpired });

  readonly dispose = (): void => this.#cancelGoAway();

  #sessionCreated(session: WireObject | undefined): void {
    if (this.#phase !== 'connected') return;
    this.#phase = 'configured';
    this.#host.send(toSessionUpdate(this.#request, this.#transcriptionModel));
    // The server closes at this time without a word before.
    const expiresAt = readNumber(session, 'expires_at');
    if (expiresAt === undefined) return;
    const at = expiresAt * 1000 - GO_AWAY_MS;
    if (at <= this.#clock.now()) return;
    this.#cancelGoAway = this.#clock.at(at, () => {
      this.#isExpired = true;
      this.#host.reporter.signal({ kind: 'go-away', timeLeftMs: GO_AWAY_MS });
    });
  }

  #sessionUpdated(): void {
    if (this.#phase !== 'configured') return;
    this.#phase = 'ready';
    for (const item of toHistoryItems(this.#request)) this.#host.send(item);
    this.#host.ready();
  }

  #voice(edge: 'started' | 'stopped', atMs: number | undefined): void {
    this.#detectsSpeech = edge === 'started';
    this.#host.reporter.signal({ kind: 'voice', edge, ...omitUndefined({ atMs }) });
  }

  #responseCreated(response: WireObject | undefined): void {
    const id = readString(response, 'id');
    if (id === undefined) throw new ProtocolViolation('a response has no id.');
    const { reporter } = this.#host;
    // Another response without the end of the first one: the first one has no end.
    if (this.#responseId !== undefined) reporter.end({ finishReason: 'other' });
    this.#responseId = id;
    this.#respondsNext = false;
    reporter.begin();
  }

  #isOfActiveResponse(message: WireObject): boolean {
    const id = readString(message, 'response_id');
    return this.#responseId !== undefined && id === this.#responseId;
  }

  #audio(message: WireObject): void {
    if (!this.#isOfActiveResponse(message)) return;
    const { reporter } = this.#host;
    const data = Buffer.from(readString(message, 'delta') ?? '', 'base64');
    const itemId = readString(message, 'item_id');
    const reply = reporter.begin();
    if (itemId !== undefined) {
      const audible = this.#audible.get(reply) ?? { itemId, audioBytes: 0 };
      if (!reporter.interrupted) audible.audioBytes += data.byteLength;
      this.#audible.set(reply, audible);
      this.#forgetOldItems();
    }
    reporter.audio(data);
  }

  // Only the newest replies can still be playing.
  #forgetOldItems(): void {
    const [oldest] = this.#audible.keys();
    if (this.#audible.size > 8 && oldest !== undefined) this.#audible.delete(oldest);
  }

  #text(form: 'audio' | 'text', message: WireObject): void {
    if (!this.#isOfActiveResponse(message)) return;
    if (form === 'audio' && this.#request.config?.outputAudioTranscription === null) return;
    this.#host.reporter.text(form, readString(message, 'delta') ?? '');
  }

  #responseDone(response: WireObject): void {
    const { reporter } = this.#host;
    if (this.#responseId === undefined || readString(response, 'id') !== this.#responseId) {
      reporter.diagnostic('unexpected_value', 'The end of an unknown response was ignored.');
      return;
    }
    this.#responseId = undefined;
    const status = readString(response, 'status') ?? 'completed';
    if (status === 'cancelled') reporter.interrupt();
    const calls = status === 'completed' ? toCalls(readObjects(response, 'output')) : [];
    if (calls.length > MAX_CALLS) {
      throw new ProtocolViolation(`a response has ${calls.length} calls.`);
    }
    if (calls.length > 0) {
      // The call is made, even if nobody listens to this reply any more.
      if (reporter.interrupted) reporter.end({ finishReason: 'stop' });
      for (const { id } of calls) this.#openCalls.add(id);
      reporter.calls(calls);
    }
    const usage = toUsage(readObject(response, 'usage'));
    const end = toEnd(status, response, calls.length > 0);
    reporter.end({ ...end, ...omitUndefined({ usage }) });
    if (this.#respondsNext) for (const message of this.#respond()) this.#host.send(message);
  }

  #error(error: WireObject | undefined, what: string): void {
    const code = readString(error, 'code') ?? readString(error, 'type') ?? 'unknown';
    const message = readString(error, 'message') ?? '';
    if (code === 'session_expired') this.#isExpired = true;
    if (this.#phase !== 'ready') {
      const codes = `${readString(error, 'type') ?? ''} ${code}`;
      this.#host.refuse(classifyRealtimeError(codes, message), message);
      return;
    }
    if (LATE.has(code)) return;
    this.#host.reporter.diagnostic('server_error', `${what} ${code}: ${message}`);
  }

  #respond(): readonly JsonObject[] {
    if (this.#responseId !== undefined) {
      this.#respondsNext = true;
      return [];
    }
    this.#respondsNext = false;
    return [{ type: 'response.create' }];
  }

  #cut(): readonly JsonObject[] {
    const responseId = this.#responseId;
    if (responseId === undefined || this.#host.reporter.interrupted) return [];
    this.#host.reporter.interrupt();
    return [{ type: 'response.cancel', response_id: responseId }];
  }

  #toolResults({ results, respond = true }: LiveToolResultCommand): readonly JsonObject[] {
    if (results.some(({ willContinue = false }) => willContinue)) {
      throw new UnsupportedFeatureError(this.#name, 'willContinue', 'a call has one result');
    }
    if (results.length === 0) return [];
    // A call of a former session is an item of the history.
    for (const { callId } of results) this.#openCalls.delete(callId);
    const items = results.map(({ callId, response, isError }) => ({
      type: 'conversation.item.create',
      item: toOutputItem(toCallId(callId), isError === true ? { error: response } : response),
    }));
    const isSilent = results.every(({ scheduling }) => scheduling === 'silent');
    if (!respond || isSilent || this.#openCalls.size > 0) return items;
    const interrupts = results.some(({ scheduling }) => scheduling === 'interrupt');
    return [...items, ...(interrupts ? this.#cut() : []), ...this.#respond()];
  }

  #truncate(reply: string, playedMs: number): readonly JsonObject[] {
    const audible = this.#audible.get(reply);
    if (audible === undefined) return [];
    // The server rejects a position after the end of the audio.
    const sentMs = audioDurationMs(REALTIME_AUDIO, audible.audioBytes);
    const endMs = Math.floor(Math.max(0, Math.min(playedMs, sentMs)));
    return [
      {
        type: 'conversation.item.truncate',
        item_id: audible.itemId,
        content_index: 0,
        audio_end_ms: endMs,
      },
    ];
  }

  #activity(edge: 'started' | 'stopped'): readonly JsonObject[] {
    const { automaticActivityDetection: detection, activityHandling } =
      this.#request.config?.realtimeInputConfig ?? {};
    if (detection?.disabled !== true) {
      const details = 'the model detects speech: set automaticActivityDetection.disabled';
      throw new UnsupportedFeatureError(this.#name, 'activity', details);
    }
    if (edge === 'started') return activityHandling === 'NO_INTERRUPTION' ? [] : this.#cut();
    return [{ type: 'input_audio_buffer.commit' }, ...this.#respond()];
  }

  // Without silence after it, the server would wait for the end of the utterance.
  #endAudio(): readonly JsonObject[] {
    if (!this.#detectsSpeech) return [];
    this.#detectsSpeech = false;
    return [{ type: 'input_audio_buffer.commit' }, ...this.#respond()];
  }
}

function toEnd(status: string, response: WireObject, hasCalls: boolean): ReplyEnd {
  const details = readObject(response, 'status_details');
  if (status === 'failed') {
    const error = readObject(details, 'error');
    const code = readString(error, 'code') ?? readString(error, 'type') ?? 'failed';
    const message = readString(error, 'message') ?? 'The response failed.';
    return { finishReason: 'other', error: { code, message } };
  }
  if (status === 'incomplete') {
    const reason = readString(details, 'reason');
    if (reason === 'max_output_tokens') return { finishReason: 'max_tokens' };
    return { finishReason: reason === 'content_filter' ? 'refusal' : 'other' };
  }
  return { finishReason: hasCalls ? 'tool_calls' : 'stop' };
}

function toCalls(output: readonly WireObject[]): readonly LiveCall[] {
  return output.filter((item) => readString(item, 'type') === 'function_call').map(toCall);
}

function toCall(item: WireObject): LiveCall {
  const id = readString(item, 'call_id');
  const name = readString(item, 'name');
  if (id === undefined || name === undefined) {
    throw new ProtocolViolation('a call has no id or no name.');
  }
  const raw = readString(item, 'arguments') ?? '';
  try {
    const args = decodeJson(raw === '' ? '{}' : raw, 'arguments');
    if (isJsonObject(args)) return { id, name, args };
  } catch {
    // Answered below, like arguments that are not an object.
  }
  const message = 'The arguments are not a JSON object.';
  return { id, name, args: {}, argsError: { message, raw: raw.slice(0, MAX_ARGS_ERROR) } };
}

function toUsage(usage: WireObject | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  const inputTokens = readNumber(usage, 'input_tokens') ?? 0;
  const outputTokens = readNumber(usage, 'output_tokens') ?? 0;
  const cacheReadTokens = readNumber(readObject(usage, 'input_token_details'), 'cached_tokens');
  return {
    inputTokens,
    outputTokens,
    totalTokens: readNumber(usage, 'total_tokens') ?? inputTokens + outputTokens,
    ...omitUndefined({ cacheReadTokens }),
  };
}

function toBase64(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
}
