import { checkOptions, type Content } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { ModelError } from '../../../models/index.ts';
import { systemClock, type Clock } from '../../../net/index.ts';
import type { AudioFormat } from '../audio-format.ts';
import type { LiveCommand } from '../live-command.ts';
import { LIVE_CONFIG } from '../live-config.ts';
import { LiveConnectionClosedError, LiveHandleExpiredError } from '../live-errors.ts';
import type { LiveConnection, LiveOpenContext, LiveModel, LiveOpenRequest } from '../live-model.ts';
import { LiveReporter } from '../live-reporter.ts';
import { ScriptedConversation, type ScriptedEvent } from './scripted-conversation.ts';
import { checkLiveScript, type LiveScript } from './scripted-live-turn.ts';

/** Options of `ScriptedLive`. */
export interface ScriptedLiveOptions {
  /** Default: `scripted-live`. */
  readonly name?: string;
  /** The clock of the turns. A `SimulatedClock` plays them step by step. Default: the system clock. */
  readonly clock?: Clock;
}

const INPUT_AUDIO: AudioFormat = { encoding: 'pcm16', sampleRate: 16_000 };
const OUTPUT_AUDIO: AudioFormat = { encoding: 'pcm16', sampleRate: 24_000 };
const DEFAULT_SILENCE_MS = 100;
const HANDLE = /^scripted:(?<turnIndex>\d+)$/;

/**
 * A live model that replies from a script, for tests and demonstrations. It detects speech by
 * loudness and says one tone for each word. It does everything on its clock, never during a call.
 *
 * The turn is determined by the request alone: the handle names it, and without a handle it is the
 * number of model messages in the history. So another process that reconnects gets the next turn.
 */
export class ScriptedLive implements LiveModel {
  readonly name: string;
  readonly #script: LiveScript;
  readonly #clock: Clock;
  readonly #requests: LiveOpenRequest[] = [];
  readonly #commands: LiveCommand[] = [];

  /** @throws InvalidInputError, UnknownFieldError for an invalid script */
  constructor(script: LiveScript, options: ScriptedLiveOptions = {}) {
    checkLiveScript(script);
    this.#script = script;
    this.name = options.name ?? 'scripted-live';
    this.#clock = options.clock ?? systemClock;
  }

  /** Every request to open a connection, oldest first. */
  get requests(): readonly LiveOpenRequest[] {
    return this.#requests;
  }

  /** Every command that a connection of this object accepted, oldest first. */
  get commands(): readonly LiveCommand[] {
    return this.#commands;
  }

  /** Opens the next connection, as the script has it. */
  readonly open = async (
    request: LiveOpenRequest,
    context: LiveOpenContext,
  ): Promise<LiveConnection> => {
    checkOptions(LIVE_CONFIG, request.config ?? {});
    const outcome = this.#script.opens?.[this.#requests.length] ?? 'accepted';
    this.#requests.push(request);
    const refuse = (kind: ModelError['kind'], message: string): ModelError =>
      new ModelError({ model: this.name, kind, message });
    if (context.signal.aborted) throw refuse('aborted', 'the call was aborted.');
    if (outcome === 'expired') throw new LiveHandleExpiredError(this.name);
    if (outcome !== 'accepted') throw refuse(outcome.error, `the script says ${outcome.error}.`);
    const turnIndex = this.#findTurnIndex(request);
    return this.#connect(request, context, turnIndex);
  };

  #findTurnIndex({ handle, history = [] }: LiveOpenRequest): number {
    if (handle === undefined) return history.filter(isModelText).length;
    const turnIndex = HANDLE.exec(handle)?.groups?.['turnIndex'];
    if (turnIndex === undefined) throw new LiveHandleExpiredError(this.name);
    return Number(turnIndex);
  }

  #connect(request: LiveOpenRequest, context: LiveOpenContext, turnIndex: number): LiveConnection {
    const { config = {} } = request;
    const detection = config.realtimeInputConfig?.automaticActivityDetection ?? {};
    const reporter = new LiveReporter(context.listener, OUTPUT_AUDIO);
    const conversation = new ScriptedConversation({
      turns: this.#script.turns,
      turnIndex,
      clock: this.#clock,
      inputAudio: INPUT_AUDIO,
      outputAudio: OUTPUT_AUDIO,
      detectsVoice: detection.disabled !== true,
      silenceMs: detection.silenceDurationMs ?? DEFAULT_SILENCE_MS,
      interrupts: config.realtimeInputConfig?.activityHandling !== 'NO_INTERRUPTION',
      emit: (event) => reportEvent(event, reporter, request),
    });
    const close = (): void => {
      conversation.close();
      reporter.close({ reason: 'client', retryable: false });
    };
    context.signal.addEventListener('abort', close, { once: true });
    return {
      inputAudio: INPUT_AUDIO,
      outputAudio: OUTPUT_AUDIO,
      send: async (command) => {
        if (reporter.isClosed) throw new LiveConnectionClosedError(this.name, command.kind);
        this.#commands.push(command);
        runCommand(command, conversation);
      },
      sendAudio: (pcm) => {
        if (reporter.isClosed) return false;
        conversation.audio(pcm);
        return true;
      },
      sendImage: () => !reporter.isClosed,
      bufferedBytes: () => 0,
      pause: () => undefined,
      resume: () => undefined,
      close: async () => {
        context.signal.removeEventListener('abort', close);
        close();
      },
    };
  }
}

function isModelText(content: Content): boolean {
  return content.role === 'model';
}

function runCommand(command: LiveCommand, conversation: ScriptedConversation): void {
  switch (command.kind) {
    case 'respond':
    case 'nudge':
      return conversation.respond();
    case 'text':
      if (command.respond === false) return undefined;
      conversation.cut();
      return conversation.respond();
    case 'tool-result': {
      const accepted = command.results.filter(
        ({ callId, willContinue = false }) => willContinue || conversation.toolResult(callId),
      );
      const isComplete = accepted.some(({ willContinue = false }) => !willContinue);
      if (isComplete && command.respond !== false && !conversation.hasOpenCalls) {
        conversation.respond();
      }
      return undefined;
    }
    case 'cut':
      return conversation.cut();
    case 'activity':
      return conversation.activity(command.edge);
    case 'audio-end':
      return conversation.endAudio();
    case 'truncate':
      return undefined;
  }
}

function reportEvent(event: ScriptedEvent, reporter: LiveReporter, request: LiveOpenRequest): void {
  const { config = {} } = request;
  const isText = config.responseModalities?.includes('TEXT') === true;
  switch (event.type) {
    case 'voice':
      return reporter.signal({ kind: 'voice', edge: event.edge, atMs: event.atMs });
    case 'heard':
      if (config.inputAudioTranscription === null) return undefined;
      reporter.heard(event.text);
      return reporter.endTranscript();
    case 'begun':
      return void reporter.begin();
    case 'thought':
      return reporter.text('thought', event.text);
    case 'word':
      if (isText) return reporter.text('text', event.text);
      reporter.audio(event.pcm);
      if (config.outputAudioTranscription !== null) reporter.text('audio', event.text);
      return undefined;
    case 'calls':
      return reporter.calls(event.calls.map(({ id, name, args = {} }) => ({ id, name, args })));
    case 'calls-canceled':
      return reporter.signal({ kind: 'call-canceled', callIds: event.ids });
    case 'interrupted':
      return reporter.interrupt();
    case 'done':
      return reporter.end(event);
    case 'position':
      if (config.sessionResumption === null) return undefined;
      return reporter.handle(`scripted:${event.turnIndex}`);
    case 'go-away':
      return reporter.signal({ kind: 'go-away', timeLeftMs: event.timeLeftMs });
    case 'close': {
      const { code, reason } = event;
      const message = reason === '' ? undefined : reason;
      const details = { code, ...omitUndefined({ message }) };
      if (code === 1000) return reporter.close({ reason: 'ended', retryable: true, ...details });
      return reporter.close({ reason: 'lost', retryable: true, ...details });
    }
  }
}
