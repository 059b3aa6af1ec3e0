import type { WebSocket } from 'ws';
import { isRecord } from '../../../../src/core/internal.ts';
import { audioDurationMs } from '../../../../src/live/models/audio-format.ts';
import { ScriptedConversation } from '../../../../src/live/models/scripted/scripted-conversation.ts';
import type { ScriptedEvent } from '../../../../src/live/models/scripted/scripted-conversation.ts';
import type {
  LiveScript,
  ScriptedLiveCall,
} from '../../../../src/live/models/scripted/scripted-live-turn.ts';
import {
  readNumber,
  readObject,
  readString,
  type WireObject,
} from '../../../../src/live/models/socket/read-wire.ts';
import type { Clock } from '../../../../src/net/index.ts';
import { openWireServer, type WireServer, type WireSession } from './wire-server.ts';

/** Options of a scripted Realtime server. */
export interface RealtimeServerOptions {
  readonly script: LiveScript;
  readonly clock: Clock;
  readonly key: string;
  /** The one model that exists. */
  readonly model: string;
  /** How long a session lasts, in milliseconds. Default: an hour. */
  readonly sessionMs?: number;
}

const AUDIO = { encoding: 'pcm16', sampleRate: 24_000 } as const;

const SESSION_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'model',
  'audio',
  'include',
  'instructions',
  'max_output_tokens',
  'output_modalities',
  'parallel_tool_calls',
  'prompt',
  'reasoning',
  'tool_choice',
  'tools',
  'tracing',
  'truncation',
]);

/** Opens a server that speaks the Realtime API and plays a script. */
export async function openRealtimeServer(options: RealtimeServerOptions): Promise<WireServer> {
  let opens = 0;
  return openWireServer({
    refuse: (url, request) => {
      if (url.pathname !== '/v1/realtime') return { status: 404, body: '{}' };
      const offered = request.headers['sec-websocket-protocol'] ?? '';
      const subprotocol = /openai-insecure-api-key\.(?<key>[^,\s]+)/.exec(offered)?.groups?.['key'];
      const key = request.headers.authorization?.replace(/^Bearer /, '') ?? subprotocol;
      if (key === options.key) return undefined;
      const message = `Incorrect API key provided: ${key}.`;
      const error = {
        message,
        type: 'invalid_request_error',
        code: 'invalid_api_key',
        param: null,
      };
      return { status: 401, body: JSON.stringify({ error }) };
    },
    accept: (socket, url) => {
      const session = new RealtimeSession(socket, options);
      const outcome = options.script.opens?.[opens] ?? 'accepted';
      opens += 1;
      const model = url.searchParams.get('model') ?? '';
      if (model !== options.model) {
        session.error('model_not_found', `The model "${model}" does not exist.`);
        socket.close(4000, 'invalid_request_error.model_not_found');
      } else if (outcome === 'accepted') session.start();
      else socket.close(1011, 'The server had an error.');
      return session;
    },
  });
}

interface Item {
  readonly id: string;
  readonly role: string;
  audioBytes: number;
}

/** The response in progress. */
interface ActiveResponse {
  readonly id: string;
  readonly item: Item;
  transcript: string;
  hasMessage: boolean;
  readonly calls: ScriptedLiveCall[];
}

class RealtimeSession implements WireSession {
  readonly #socket: WebSocket;
  readonly #options: RealtimeServerOptions;
  readonly #items = new Map<string, Item>();
  #conversation: ScriptedConversation | undefined;
  #session: WireObject = {};
  #response: ActiveResponse | undefined;
  #ids = 0;
  #bufferedBytes = 0;
  #cutByClient = false;
  #cancelExpiry: () => void = () => undefined;

  constructor(socket: WebSocket, options: RealtimeServerOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  readonly onClose = (): void => {
    this.#cancelExpiry();
    this.#conversation?.close();
  };

  start(): void {
    const { sessionMs = 3_600_000, clock, model } = this.#options;
    const expiresAt = clock.now() + sessionMs;
    this.#session = {
      type: 'realtime',
      object: 'realtime.session',
      id: this.#id('sess'),
      model,
      output_modalities: ['audio'],
      instructions: 'Be helpful.',
      tools: [],
      tool_choice: 'auto',
      max_output_tokens: 'inf',
      truncation: 'auto',
      expires_at: Math.round(expiresAt / 1000),
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: null,
          turn_detection: { type: 'server_vad', silence_duration_ms: 500 },
        },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'alloy' },
      },
    };
    this.#cancelExpiry = clock.at(expiresAt, () => {
      this.error('session_expired', 'Your session hit the maximum duration of 60 minutes.');
      this.#socket.close(1001, '');
    });
    this.#configure();
    this.#send('session.created', { session: this.#session });
  }

  error(code: string, message: string, cause: WireObject = {}): void {
    const eventId = readString(cause, 'event_id') ?? null;
    const error = { type: 'invalid_request_error', code, message, param: null, event_id: eventId };
    this.#send('error', { error });
  }

  readonly onMessage = (message: unknown): void => {
    const conversation = this.#conversation;
    if (!isRecord(message) || conversation === undefined) return;
    switch (readString(message, 'type')) {
      case 'session.update':
        this.#update(message);
        return;
      case 'input_audio_buffer.append': {
        const data = readString(message, 'audio') ?? '';
        const pcm = Buffer.from(data, 'base64');
        if (pcm.toString('base64') !== data) {
          this.error('invalid_value', 'The audio is not base64.', message);
          return;
        }
        this.#bufferedBytes += pcm.byteLength;
        conversation.audio(pcm);
        return;
      }
      case 'input_audio_buffer.commit':
        if (this.#bufferedBytes === 0) {
          this.error('input_audio_buffer_commit_empty', 'The buffer is empty.', message);
          return;
        }
        this.#commit();
        conversation.endUtterance();
        return;
      case 'input_audio_buffer.clear':
        this.#bufferedBytes = 0;
        this.#send('input_audio_buffer.cleared', {});
        return;
      case 'conversation.item.create':
        this.#create(readObject(message, 'item') ?? {}, message);
        return;
      case 'conversation.item.truncate':
        this.#truncate(message);
        return;
      case 'response.create':
        if (this.#response !== undefined) {
          this.error('conversation_already_has_active_response', 'There is one already.', message);
        } else conversation.respond();
        return;
      case 'response.cancel': {
        // It may come when the response that it names is over, and the next one has begun.
        const { id } = this.#response ?? {};
        if (id === undefined || (readString(message, 'response_id') ?? id) !== id) {
          this.error(
            'response_cancel_not_active',
            'Cancellation failed: no active response.',
            message,
          );
          return;
        }
        this.#cutByClient = true;
        conversation.cut();
        return;
      }
      default:
        this.error('invalid_value', `Invalid value: '${readString(message, 'type')}'.`, message);
    }
  };

  #update(message: WireObject): void {
    const session = readObject(message, 'session') ?? {};
    const unknown = Object.keys(session).find((name) => !SESSION_FIELDS.has(name));
    if (unknown !== undefined || session['type'] !== 'realtime') {
      this.error('unknown_parameter', `Unknown parameter: 'session.${unknown}'.`, message);
      return;
    }
    const audio = readObject(session, 'audio');
    const old = readObject(this.#session, 'audio');
    this.#session = {
      ...this.#session,
      ...session,
      audio: {
        input: { ...readObject(old, 'input'), ...readObject(audio, 'input') },
        output: { ...readObject(old, 'output'), ...readObject(audio, 'output') },
      },
    };
    this.#configure();
    this.#send('session.updated', { session: this.#session });
  }

  #configure(): void {
    const input = readObject(readObject(this.#session, 'audio'), 'input');
    const detection = readObject(input, 'turn_detection');
    this.#conversation?.close();
    this.#conversation = new ScriptedConversation({
      turns: this.#options.script.turns,
      turnIndex: 0,
      clock: this.#options.clock,
      inputAudio: AUDIO,
      outputAudio: AUDIO,
      detectsVoice: detection !== undefined && detection['create_response'] !== false,
      silenceMs: readNumber(detection, 'silence_duration_ms') ?? 500,
      interrupts: detection?.['interrupt_response'] !== false,
      emit: (event) => this.#emit(event),
    });
  }

  #create(item: WireObject, message: WireObject): void {
    const type = readString(item, 'type');
    const role = readString(item, 'role') ?? 'system';
    const isOutput = type === 'function_call_output';
    if (isOutput && this.#conversation?.toolResult(readString(item, 'call_id') ?? '') === false) {
      this.error('invalid_tool_call_id', 'The call was canceled.', message);
      return;
    }
    // The script goes on after the messages of the model in the history.
    if (role === 'assistant' || type === 'function_call') this.#conversation?.skipTurns(1);
    const id = this.#id('item');
    this.#items.set(id, { id, role, audioBytes: 0 });
    const created = { id, object: 'realtime.item', status: 'completed', ...item };
    this.#send('conversation.item.added', { previous_item_id: null, item: created });
    this.#send('conversation.item.done', { previous_item_id: null, item: created });
  }

  #truncate(message: WireObject): void {
    const item = this.#items.get(readString(message, 'item_id') ?? '');
    const endMs = readNumber(message, 'audio_end_ms');
    const isValid = item?.role === 'assistant' && endMs !== undefined && Number.isInteger(endMs);
    if (!isValid || endMs > audioDurationMs(AUDIO, item.audioBytes)) {
      this.error(
        'invalid_value',
        'audio_end_ms is not in the audio of an assistant item.',
        message,
      );
      return;
    }
    this.#send('conversation.item.truncated', {
      item_id: item.id,
      content_index: 0,
      audio_end_ms: endMs,
    });
  }

  #commit(): string {
    this.#bufferedBytes = 0;
    const id = this.#id('item');
    this.#items.set(id, { id, role: 'user', audioBytes: 0 });
    this.#send('input_audio_buffer.committed', { item_id: id, previous_item_id: null });
    const item = { id, type: 'message', role: 'user', content: [{ type: 'input_audio' }] };
    this.#send('conversation.item.added', { previous_item_id: null, item });
    return id;
  }

  #emit(event: ScriptedEvent): void {
    switch (event.type) {
      case 'voice': {
        const isStart = event.edge === 'started';
        const at = isStart ? { audio_start_ms: event.atMs } : { audio_end_ms: event.atMs };
        this.#send(`input_audio_buffer.speech_${event.edge}`, { item_id: 'item_speech', ...at });
        if (!isStart) this.#commit();
        return;
      }
      case 'heard': {
        const input = readObject(readObject(this.#session, 'audio'), 'input');
        if (readObject(input, 'transcription') === undefined) return;
        const type = 'conversation.item.input_audio_transcription';
        const place = { item_id: 'item_speech', content_index: 0 };
        this.#send(`${type}.delta`, { ...place, delta: event.text.slice(0, 3) });
        const usage = { type: 'duration', seconds: 1 };
        this.#send(`${type}.completed`, { ...place, transcript: event.text, usage });
        return;
      }
      case 'begun':
        this.#begin();
        return;
      case 'word':
        this.#word(event.text, event.pcm);
        return;
      case 'calls':
        this.#response?.calls.push(...event.calls);
        return;
      case 'done':
        this.#done(event);
        return;
      case 'close':
        this.#socket.close(event.code, event.reason);
        return;
      case 'thought':
      case 'calls-canceled':
      case 'interrupted':
      case 'position':
      case 'go-away':
        // The protocol has no such messages.
        return;
    }
  }

  #begin(): void {
    const item: Item = { id: this.#id('item'), role: 'assistant', audioBytes: 0 };
    this.#response = { id: this.#id('resp'), item, transcript: '', hasMessage: false, calls: [] };
    this.#cutByClient = false;
    const response = {
      object: 'realtime.response',
      id: this.#response.id,
      status: 'in_progress',
      output: [],
    };
    this.#send('response.created', { response });
  }

  #word(text: string, pcm: Uint8Array): void {
    const response = this.#response;
    if (response === undefined) return;
    const isText = JSON.stringify(this.#session['output_modalities']) === '["text"]';
    const place = {
      response_id: response.id,
      item_id: response.item.id,
      output_index: 0,
      content_index: 0,
    };
    if (!response.hasMessage) {
      response.hasMessage = true;
      this.#items.set(response.item.id, response.item);
      const item = {
        id: response.item.id,
        object: 'realtime.item',
        type: 'message',
        role: 'assistant',
        content: [],
        status: 'in_progress',
      };
      this.#send('response.output_item.added', { response_id: response.id, output_index: 0, item });
      this.#send('conversation.item.added', { previous_item_id: null, item });
      this.#send('response.content_part.added', {
        ...place,
        part: { type: isText ? 'text' : 'audio' },
      });
    }
    response.transcript += text;
    if (isText) {
      this.#send('response.output_text.delta', { ...place, delta: text });
      return;
    }
    this.#send('response.output_audio_transcript.delta', { ...place, delta: text });
    response.item.audioBytes += pcm.byteLength;
    const delta = Buffer.from(pcm).toString('base64');
    this.#send('response.output_audio.delta', { ...place, delta });
  }

  #done({
    interrupted,
    finishReason,
    usage,
    error,
  }: Extract<ScriptedEvent, { readonly type: 'done' }>): void {
    const response = this.#response;
    if (response === undefined) return;
    this.#response = undefined;
    const output: WireObject[] = [];
    const place = {
      response_id: response.id,
      item_id: response.item.id,
      output_index: 0,
      content_index: 0,
    };
    if (response.hasMessage) {
      this.#send('response.output_audio.done', place);
      const transcript = response.transcript;
      this.#send('response.output_audio_transcript.done', { ...place, transcript });
      const content = [{ type: 'output_audio', transcript }];
      const item = {
        id: response.item.id,
        type: 'message',
        role: 'assistant',
        content,
        status: interrupted ? 'incomplete' : 'completed',
      };
      this.#send('response.content_part.done', { ...place, part: { type: 'audio', transcript } });
      this.#send('response.output_item.done', { response_id: response.id, output_index: 0, item });
      output.push(item);
    }
    for (const [index, { id, name, args = {} }] of response.calls.entries()) {
      const itemId = this.#id('item');
      const call = {
        response_id: response.id,
        item_id: itemId,
        output_index: index + 1,
        call_id: id,
      };
      const item = {
        id: itemId,
        type: 'function_call',
        name,
        call_id: id,
        arguments: JSON.stringify(args),
        status: 'completed',
      };
      this.#send('response.output_item.added', {
        response_id: response.id,
        output_index: index + 1,
        item: { ...item, arguments: '', status: 'in_progress' },
      });
      this.#send('response.function_call_arguments.delta', { ...call, delta: item.arguments });
      this.#send('response.function_call_arguments.done', {
        ...call,
        name,
        arguments: item.arguments,
      });
      this.#send('response.output_item.done', {
        response_id: response.id,
        output_index: index + 1,
        item,
      });
      output.push(item);
    }
    const details = {
      output_modalities: this.#session['output_modalities'],
      output,
      usage: usage && {
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        total_tokens: usage.totalTokens,
        input_token_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
      },
    };
    this.#send('response.done', {
      response: {
        object: 'realtime.response',
        id: response.id,
        ...this.#status(interrupted, finishReason, error),
        ...details,
      },
    });
    this.#send('rate_limits.updated', {
      rate_limits: [{ name: 'requests', limit: 100, remaining: 99, reset_seconds: 1 }],
    });
  }

  #status(interrupted: boolean, finishReason: string, error: unknown): WireObject {
    if (interrupted) {
      const reason = this.#cutByClient ? 'client_cancelled' : 'turn_detected';
      return { status: 'cancelled', status_details: { type: 'cancelled', reason } };
    }
    if (error !== undefined) return { status: 'failed', status_details: { type: 'failed', error } };
    if (finishReason === 'max_tokens' || finishReason === 'refusal') {
      const reason = finishReason === 'refusal' ? 'content_filter' : 'max_output_tokens';
      return { status: 'incomplete', status_details: { type: 'incomplete', reason } };
    }
    return { status: 'completed', status_details: null };
  }

  #id(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${this.#ids}`;
  }

  #send(type: string, members: WireObject): void {
    this.#socket.send(JSON.stringify({ type, event_id: this.#id('event'), ...members }));
  }
}
