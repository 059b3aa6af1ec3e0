import type { WebSocket } from 'ws';
import { isRecord } from '../../../../src/core/internal.ts';
import { ScriptedConversation } from '../../../../src/live/models/scripted/scripted-conversation.ts';
import type { ScriptedEvent } from '../../../../src/live/models/scripted/scripted-conversation.ts';
import type { LiveScript } from '../../../../src/live/models/scripted/scripted-live-turn.ts';
import {
  readNumber,
  readObject,
  readObjects,
  readString,
  type WireObject,
} from '../../../../src/live/models/socket/read-wire.ts';
import type { Clock } from '../../../../src/net/index.ts';
import { openWireServer, type WireServer, type WireSession } from './wire-server.ts';

/** Options of a scripted Gemini Live server. */
export interface GeminiServerOptions {
  readonly script: LiveScript;
  readonly clock: Clock;
  readonly key: string;
  /** The one model that exists, without `models/`. */
  readonly model: string;
  /** Whether the model reports edges of speech, as some do. Default: true. */
  readonly reportsSpeech?: boolean;
}

const PATH =
  /^\/+ws\/google\.ai\.generativelanguage\.(?<version>v1alpha|v1beta)\.GenerativeService\.BidiGenerateContent$/;

const SETUP_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'generationConfig',
  'systemInstruction',
  'tools',
  'realtimeInputConfig',
  'sessionResumption',
  'contextWindowCompression',
  'inputAudioTranscription',
  'outputAudioTranscription',
  'historyConfig',
]);

/** The sessions that can be resumed, by handle: the next turn of the script. */
type Handles = Map<string, number>;

/** Opens a server that speaks `BidiGenerateContent` and plays a script. */
export async function openGeminiServer(options: GeminiServerOptions): Promise<WireServer> {
  const handles: Handles = new Map();
  let opens = 0;
  return openWireServer({
    refuse: (url) => (PATH.test(url.pathname) ? undefined : { status: 404, body: '{}' }),
    accept: (socket, url, request) => {
      const version = PATH.exec(url.pathname)?.groups?.['version'] ?? '';
      const key = url.searchParams.get('key') ?? request.headers['x-goog-api-key'];
      const outcome = options.script.opens?.[opens] ?? 'accepted';
      opens += 1;
      const session = new GeminiSession(socket, { ...options, version, handles });
      if (key === undefined || key === null) {
        session.fail(1008, "Method doesn't allow unregistered callers. Please use API Key.");
      } else if (key !== options.key) {
        session.fail(1007, `API key not valid: ${String(key)}. Please pass a valid API key.`);
      } else if (outcome === 'expired') session.rejectHandles();
      else if (outcome !== 'accepted') session.fail(1011, 'The service is currently unavailable.');
      return session;
    },
  });
}

class GeminiSession implements WireSession {
  readonly #socket: WebSocket;
  readonly #options: GeminiServerOptions & { readonly version: string; readonly handles: Handles };
  #setup: WireObject | undefined;
  #conversation: ScriptedConversation | undefined;
  #expectsHistory = false;
  #acceptsHandles = true;
  #hasFailed = false;

  constructor(
    socket: WebSocket,
    options: GeminiServerOptions & { readonly version: string; readonly handles: Handles },
  ) {
    this.#socket = socket;
    this.#options = options;
  }

  rejectHandles(): void {
    this.#acceptsHandles = false;
  }

  fail(code: number, reason: string): void {
    this.#hasFailed = true;
    this.#conversation?.close();
    this.#socket.close(code, reason.slice(0, 120));
  }

  readonly onClose = (): void => this.#conversation?.close();

  readonly onMessage = (message: unknown): void => {
    if (this.#hasFailed) return;
    const names = isRecord(message) ? Object.keys(message) : [];
    if (!isRecord(message) || names.length !== 1) {
      this.fail(1007, 'Request contains an invalid argument.');
      return;
    }
    const setup = readObject(message, 'setup');
    if ((setup === undefined) === (this.#conversation === undefined)) {
      this.fail(1007, 'setup must be the first message and only the first');
      return;
    }
    if (setup !== undefined) this.#start(setup);
    else this.#input(message);
  };

  #start(setup: WireObject): void {
    const { version, model, handles, script, clock } = this.#options;
    const allowed = version === 'v1alpha' ? [...SETUP_FIELDS, 'proactivity'] : [...SETUP_FIELDS];
    const unknown = Object.keys(setup).find((name) => !allowed.includes(name));
    const generation = readObject(setup, 'generationConfig') ?? {};
    const affective = generation['enableAffectiveDialog'] !== undefined && version !== 'v1alpha';
    if (unknown !== undefined || affective) {
      const name = unknown ?? 'enableAffectiveDialog';
      this.fail(1007, `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`);
      return;
    }
    const named = readString(setup, 'model') ?? '';
    if (named !== `models/${model}`) {
      this.fail(
        1008,
        `${named} is not found for API version ${version}, or is not supported for bidiGenerateContent.`,
      );
      return;
    }
    const resumption = readObject(setup, 'sessionResumption');
    if (resumption?.['transparent'] !== undefined) {
      this.fail(1007, 'transparent is not supported in the Gemini API.');
      return;
    }
    const handle = readString(resumption, 'handle');
    const resumed = handle === undefined || !this.#acceptsHandles ? undefined : handles.get(handle);
    if (handle !== undefined && resumed === undefined) {
      this.fail(1008, 'BidiGenerateContent session not found');
      return;
    }
    this.#setup = setup;
    const history = readObject(setup, 'historyConfig');
    this.#expectsHistory = history?.['initialHistoryInClientContent'] === true;
    const input = readObject(setup, 'realtimeInputConfig');
    const detection = readObject(input, 'automaticActivityDetection');
    this.#conversation = new ScriptedConversation({
      turns: script.turns,
      turnIndex: resumed ?? 0,
      clock,
      inputAudio: { encoding: 'pcm16', sampleRate: 16_000 },
      outputAudio: { encoding: 'pcm16', sampleRate: 24_000 },
      detectsVoice: detection?.['disabled'] !== true,
      silenceMs: readNumber(detection, 'silenceDurationMs') ?? 100,
      interrupts: readString(input, 'activityHandling') !== 'NO_INTERRUPTION',
      emit: (event) => this.#emit(event),
    });
    if (this.#expectsHistory && resumed === undefined) this.#turnsOfHistory = 0;
    this.#send({ setupComplete: {} });
  }

  #turnsOfHistory: number | undefined;

  #input(message: WireObject): void {
    const conversation = this.#conversation;
    if (conversation === undefined) return;
    const content = readObject(message, 'clientContent');
    const realtime = readObject(message, 'realtimeInput');
    const toolResponse = readObject(message, 'toolResponse');
    if (content !== undefined) this.#clientContent(conversation, content);
    else if (realtime !== undefined) this.#realtimeInput(conversation, realtime);
    else if (toolResponse !== undefined) {
      let isComplete = false;
      for (const response of readObjects(toolResponse, 'functionResponses')) {
        if (readString(response, 'name') === undefined || !isRecord(response['response'])) {
          this.fail(1007, 'Request contains an invalid argument.');
          return;
        }
        if (response['willContinue'] === true) continue;
        const accepted = conversation.toolResult(readString(response, 'id') ?? '');
        if (accepted && response['scheduling'] !== 'SILENT') isComplete = true;
      }
      if (isComplete && !conversation.hasOpenCalls) conversation.respond();
    } else this.fail(1007, 'Request contains an invalid argument.');
  }

  #clientContent(conversation: ScriptedConversation, content: WireObject): void {
    const isComplete = content['turnComplete'] === true;
    if (this.#turnsOfHistory !== undefined) {
      const turns = readObjects(content, 'turns');
      this.#turnsOfHistory += turns.filter((turn) => turn['role'] === 'model').length;
      if (!isComplete) return;
      conversation.skipTurns(this.#turnsOfHistory);
      this.#turnsOfHistory = undefined;
      return;
    }
    if (!isComplete) return;
    conversation.cut();
    conversation.respond();
  }

  #realtimeInput(conversation: ScriptedConversation, input: WireObject): void {
    const [name = ''] = Object.keys(input);
    const detection = readObject(
      readObject(this.#setup, 'realtimeInputConfig'),
      'automaticActivityDetection',
    );
    const isManual = detection?.['disabled'] === true;
    switch (name) {
      case 'audio': {
        const audio = readObject(input, 'audio');
        const data = readString(audio, 'data') ?? '';
        const pcm = Buffer.from(data, 'base64');
        if (
          readString(audio, 'mimeType') !== 'audio/pcm;rate=16000' ||
          pcm.toString('base64') !== data
        ) {
          this.fail(1007, 'Request contains an invalid argument.');
        } else conversation.audio(pcm);
        return;
      }
      case 'text':
        conversation.cut();
        conversation.respond();
        return;
      case 'activityStart':
      case 'activityEnd':
        if (isManual) conversation.activity(name === 'activityStart' ? 'started' : 'stopped');
        else
          this.fail(
            1007,
            'Explicit activity control is not supported when automatic activity detection is enabled.',
          );
        return;
      case 'audioStreamEnd':
        conversation.endAudio();
        return;
      case 'video':
        return;
      default:
        this.fail(
          1007,
          `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`,
        );
    }
  }

  #emit(event: ScriptedEvent): void {
    const setup = this.#setup ?? {};
    const isText = JSON.stringify(setup['generationConfig'] ?? {}).includes('"TEXT"');
    switch (event.type) {
      case 'voice':
        if (this.#options.reportsSpeech === false) return;
        this.#send({
          voiceActivity: {
            voiceActivityType: event.edge === 'started' ? 'ACTIVITY_START' : 'ACTIVITY_END',
            audioOffset: `${event.atMs / 1000}s`,
          },
        });
        return;
      case 'heard':
        if (setup['inputAudioTranscription'] === undefined) return;
        // As it is recognized, word by word, and without an end.
        for (const text of event.text.match(/\s*\S+/g) ?? []) {
          this.#send({ serverContent: { inputTranscription: { text } } });
        }
        return;
      case 'begun':
        if (setup['sessionResumption'] === undefined) return;
        this.#send({ sessionResumptionUpdate: { newHandle: '', resumable: false } });
        return;
      case 'thought':
        this.#send({
          serverContent: { modelTurn: { parts: [{ text: event.text, thought: true }] } },
        });
        return;
      case 'word':
        this.#word(event.text, event.pcm, isText);
        return;
      case 'calls':
        this.#send({
          toolCall: {
            functionCalls: event.calls.map(({ id, name, args = {} }) => ({ id, name, args })),
          },
        });
        return;
      case 'calls-canceled':
        this.#send({ toolCallCancellation: { ids: event.ids } });
        return;
      case 'interrupted':
        this.#send({ serverContent: { interrupted: true } });
        return;
      case 'done':
        this.#done(event);
        return;
      case 'position': {
        if (setup['sessionResumption'] === undefined) return;
        const newHandle = `handle-${this.#options.handles.size}`;
        this.#options.handles.set(newHandle, event.turnIndex);
        this.#send({ sessionResumptionUpdate: { newHandle, resumable: true } });
        return;
      }
      case 'go-away':
        this.#send({ goAway: { timeLeft: `${event.timeLeftMs / 1000}s` } });
        return;
      case 'close':
        this.#socket.close(event.code, event.reason);
    }
  }

  #word(text: string, pcm: Uint8Array, isText: boolean): void {
    if (isText) {
      this.#send({ serverContent: { modelTurn: { parts: [{ text }] } } });
      return;
    }
    const data = Buffer.from(pcm).toString('base64');
    const inlineData = { mimeType: 'audio/pcm;rate=24000', data };
    this.#send({ serverContent: { modelTurn: { parts: [{ inlineData }] } } });
    if (this.#setup?.['outputAudioTranscription'] === undefined) return;
    this.#send({ serverContent: { outputTranscription: { text } } });
  }

  #done(event: Extract<ScriptedEvent, { readonly type: 'done' }>): void {
    // After calls the turn goes on: its end comes after their results.
    if (event.finishReason === 'tool_calls') return;
    if (event.error !== undefined) {
      this.fail(1011, event.error.message);
      return;
    }
    if (!event.interrupted) this.#send({ serverContent: { generationComplete: true } });
    const { usage } = event;
    const usageMetadata = usage && {
      promptTokenCount: usage.inputTokens,
      responseTokenCount: usage.outputTokens,
      totalTokenCount: usage.totalTokens,
    };
    this.#send({
      serverContent: { turnComplete: true },
      ...(usageMetadata === undefined ? {} : { usageMetadata }),
    });
  }

  // Binary frames, as the service sends them.
  #send(message: unknown): void {
    if (!this.#hasFailed) this.#socket.send(Buffer.from(JSON.stringify(message)));
  }
}
