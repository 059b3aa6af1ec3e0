import { getFunctionCalls, userContent } from '../../../core/index.ts';
import type { Content, FunctionCall, Part } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { ModelError } from '../../../models/index.ts';
import type { Model, ModelResponse } from '../../../models/index.ts';
import { audioByteLength } from '../audio-format.ts';
import type { AudioFormat } from '../audio-format.ts';
import type { LiveCommand, LiveToolResult } from '../live-command.ts';
import { toLiveHistory } from '../live-history.ts';
import type { LiveOpenRequest } from '../live-model.ts';
import type { LiveReporter } from '../live-reporter.ts';
import { EnergyDetector } from './energy-detector.ts';
import type { SpeechSynthesizer, Transcriber } from './speech-services.ts';
import { ReplySpeech } from './reply-speech.ts';

/** What the user is taken to have said when nothing was understood. */
const INAUDIBLE = '(inaudible)';
/** Audio before speech was found that belongs to it. */
const PREFIX_MS = 300;
/** A longer utterance is cut into several. */
const MAX_UTTERANCE_MS = 60_000;

export interface CascadedConversationOptions {
  readonly model: Model;
  readonly transcriber: Transcriber;
  readonly synthesizer: SpeechSynthesizer;
  readonly request: LiveOpenRequest;
  readonly reporter: LiveReporter;
  readonly inputAudio: AudioFormat;
  readonly outputAudio: AudioFormat;
}

/** A reply under way. */
interface RunningReply {
  readonly abort: AbortController;
  readonly speech: ReplySpeech;
  /** Its place in the history, once it has one. */
  content: Content | undefined;
  /** The id that the reporter gave it. */
  id: string | undefined;
}

/** A conversation with three models in turn: one hears, one thinks, one speaks. */
export class CascadedConversation {
  readonly #options: CascadedConversationOptions;
  readonly #detector: EnergyDetector;
  readonly #detectsVoice: boolean;
  readonly #history: Content[];
  readonly #closing = new AbortController();
  readonly #openCalls = new Map<string, FunctionCall>();
  readonly #results: Part[] = [];
  #isMarked = false;
  #audio: Uint8Array[] = [];
  #audioBytes = 0;
  #reply: RunningReply | undefined;
  #lastReply: RunningReply | undefined;
  #wantsReply = false;
  #instruction: string | undefined;
  #callCount = 0;
  /** Utterances are understood in their order. */
  #hearing: Promise<void> = Promise.resolve();

  constructor(options: CascadedConversationOptions) {
    this.#options = options;
    const { history = [], config } = options.request;
    const detection = config?.realtimeInputConfig?.automaticActivityDetection;
    this.#detectsVoice = detection?.disabled !== true;
    this.#detector = new EnergyDetector(
      options.inputAudio.sampleRate,
      detection?.silenceDurationMs,
    );
    this.#history = [...toLiveHistory(history)];
  }

  /** Reads audio of the user. */
  audio(pcm: Uint8Array): void {
    const { inputAudio } = this.#options;
    this.#audio.push(pcm);
    this.#audioBytes += pcm.byteLength;
    const isSpeech = this.#detectsVoice ? this.#detector.isSpeaking : this.#isMarked;
    const limitMs = isSpeech ? MAX_UTTERANCE_MS : PREFIX_MS;
    if (isSpeech && this.#audioBytes > audioByteLength(inputAudio, limitMs)) this.#endUtterance();
    if (!isSpeech) this.#forgetBefore(audioByteLength(inputAudio, limitMs));
    if (!this.#detectsVoice) return;
    const edge = this.#detector.read(toSamples(pcm));
    if (edge !== undefined) this.#voice(edge);
  }

  /** Runs a command. */
  run(command: LiveCommand): void {
    switch (command.kind) {
      case 'respond':
        return this.#respond();
      case 'nudge':
        this.#instruction = command.instruction;
        return this.#respond();
      case 'text':
        this.#history.push(command.content);
        if (command.respond === false) return undefined;
        this.cut();
        return this.#respond();
      case 'tool-result':
        return this.#acceptResults(command.results, command.respond !== false);
      case 'cut':
        return this.cut();
      case 'truncate':
        return this.#truncate(command.reply, command.playedMs);
      case 'activity':
        if (this.#detectsVoice) return undefined;
        this.#isMarked = command.edge === 'started';
        if (this.#isMarked) this.#interrupt();
        else this.#endUtterance();
        return undefined;
      case 'audio-end':
        if (this.#detectsVoice && this.#detector.stop()) this.#voice('stopped');
        return undefined;
    }
  }

  /** Stops the reply. */
  cut(): void {
    const reply = this.#reply;
    this.#wantsReply = false;
    if (reply === undefined) return;
    this.#reply = undefined;
    reply.abort.abort();
    this.#keep(reply, [{ text: reply.speech.textUntil() }]);
    const { reporter } = this.#options;
    reporter.interrupt();
    reporter.end({ finishReason: 'stop' });
  }

  close(): void {
    this.#closing.abort();
    this.#reply?.abort.abort();
    this.#reply = undefined;
  }

  #voice(edge: 'started' | 'stopped'): void {
    this.#options.reporter.signal({ kind: 'voice', edge });
    if (edge === 'stopped') this.#endUtterance();
    else this.#interrupt();
  }

  #interrupt(): void {
    const { activityHandling } = this.#options.request.config?.realtimeInputConfig ?? {};
    if (activityHandling !== 'NO_INTERRUPTION') this.cut();
  }

  /** Keeps the newest audio. */
  #forgetBefore(bytes: number): void {
    while (this.#audioBytes > bytes) this.#audioBytes -= this.#audio.shift()?.byteLength ?? 0;
  }

  #endUtterance(): void {
    const pcm = Buffer.concat(this.#audio.splice(0));
    this.#audioBytes = 0;
    this.#hearing = this.#understand(pcm, this.#hearing);
  }

  /** Understands what the user said, and replies. Never rejects. */
  async #understand(pcm: Uint8Array, earlier: Promise<void>): Promise<void> {
    const { transcriber, inputAudio, reporter, request } = this.#options;
    const { signal } = this.#closing;
    await earlier;
    let text = '';
    try {
      text = await transcriber.transcribe({ pcm, format: inputAudio }, signal);
    } catch (error) {
      if (!signal.aborted)
        reporter.diagnostic('server_error', `${transcriber.name}: ${String(error)}`);
    }
    if (signal.aborted) return;
    if (request.config?.inputAudioTranscription !== null && text !== '') {
      reporter.heard(text);
      reporter.endTranscript();
    }
    this.#history.push(userContent(text === '' ? INAUDIBLE : text));
    this.#respond();
  }

  #acceptResults(results: readonly LiveToolResult[], responds: boolean): void {
    for (const { callId, name, response, isError, willContinue = false } of results) {
      if (willContinue) continue;
      this.#openCalls.delete(callId);
      this.#results.push({
        functionResponse: { id: callId, name, response, ...omitUndefined({ isError }) },
      });
    }
    if (this.#openCalls.size > 0 || this.#results.length === 0) return;
    this.#history.push({ role: 'tool', parts: this.#results.splice(0) });
    if (responds) this.#respond();
  }

  /** Keeps of a reply what the user heard. */
  #truncate(id: string, playedMs: number): void {
    const reply = this.#lastReply;
    if (reply?.id !== id || reply.content === undefined) return;
    const index = this.#history.indexOf(reply.content);
    const text = reply.speech.textUntil(playedMs);
    if (index === -1) return;
    if (text === '') this.#history.splice(index, 1);
    else this.#history[index] = { role: 'model', parts: [{ text }] };
  }

  /** Starts a reply, or another one after that which is under way. */
  #respond(): void {
    this.#wantsReply = true;
    if (this.#reply === undefined) void this.#runReply();
  }

  /** Never rejects. */
  async #runReply(): Promise<void> {
    const { synthesizer, reporter, outputAudio, request } = this.#options;
    const { config } = request;
    this.#wantsReply = false;
    const abort = new AbortController();
    const isText = config?.responseModalities?.includes('TEXT') === true;
    const speech = new ReplySpeech({
      reporter,
      synthesizer: isText ? undefined : synthesizer,
      outputAudio,
      hasTranscript: config?.outputAudioTranscription !== null,
      signal: abort.signal,
    });
    const reply: RunningReply = { abort, speech, content: undefined, id: undefined };
    this.#reply = reply;
    this.#lastReply = reply;
    try {
      // What is reported comes after the call that caused it.
      await Promise.resolve();
      const response = await this.#generate(reply);
      if (abort.signal.aborted) return;
      await speech.finish();
      if (abort.signal.aborted) return;
      this.#end(reply, response);
    } catch (error) {
      if (abort.signal.aborted || reporter.isClosed) return;
      this.#reply = undefined;
      this.#keep(reply, [{ text: speech.textUntil() }]);
      reporter.begin();
      const code = error instanceof ModelError ? error.code : 'speech_failed';
      const message = error instanceof Error ? error.message : String(error);
      reporter.end({ finishReason: 'other', error: { code, message } });
    }
    if (this.#wantsReply && !this.#closing.signal.aborted) void this.#runReply();
  }

  async #generate(reply: RunningReply): Promise<ModelResponse> {
    const { model, request, reporter } = this.#options;
    const instruction = [request.instruction, this.#instruction]
      .filter((one) => one !== undefined)
      .join('\n\n');
    this.#instruction = undefined;
    const { signal } = reply.abort;
    let text = '';
    let thought = '';
    const begin = (): void => {
      reply.id ??= reporter.begin();
    };
    const response = await model.generate(
      {
        contents: [...this.#history],
        tools: request.tools ?? [],
        ...(instruction !== '' && { instruction }),
      },
      {
        signal,
        firingId: reporter.reply ?? 'reply',
        attempt: 1,
        onDelta: (delta) => {
          if (signal.aborted || delta.text === '') return;
          begin();
          if (delta.kind === 'thinking') {
            thought += delta.text;
            reporter.text('thought', delta.text);
            return;
          }
          text += delta.text;
          reply.speech.add(delta.text);
        },
      },
    );
    if (signal.aborted) return response;
    begin();
    const complete = joinText(response, false);
    if (thought === '') reporter.text('thought', joinText(response, true));
    // Deltas may be lost.
    if (complete.startsWith(text)) reply.speech.add(complete.slice(text.length));
    return response;
  }

  #end(reply: RunningReply, { content, finishReason, usage }: ModelResponse): void {
    const { reporter } = this.#options;
    const calls = getFunctionCalls(content).map((call) => ({
      ...call,
      id: call.id === '' ? `call_${++this.#callCount}` : call.id,
    }));
    this.#reply = undefined;
    this.#keep(reply, [
      { text: joinText({ content }, false) },
      ...calls.map((functionCall) => ({ functionCall })),
    ]);
    if (calls.length > 0) {
      for (const call of calls) this.#openCalls.set(call.id, call);
      reporter.calls(
        calls.map(({ id, name, args, argsError }) => ({
          id,
          name,
          args,
          ...omitUndefined({ argsError }),
        })),
      );
    }
    reporter.end({ finishReason, ...omitUndefined({ usage }) });
  }

  /** Adds a reply to the history. */
  #keep(reply: RunningReply, parts: readonly Part[]): void {
    const kept = parts.filter((part) => !('text' in part) || part.text !== '');
    if (kept.length === 0) return;
    reply.content = { role: 'model', parts: kept };
    this.#history.push(reply.content);
  }
}

function joinText({ content }: Pick<ModelResponse, 'content'>, isThought: boolean): string {
  return content.parts
    .map((part) => ('text' in part && (part.thought === true) === isThought ? part.text : ''))
    .join('');
}

function toSamples(pcm: Uint8Array): Int16Array {
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return Int16Array.from({ length: Math.floor(pcm.byteLength / 2) }, (_, at) =>
    view.getInt16(2 * at, true),
  );
}
