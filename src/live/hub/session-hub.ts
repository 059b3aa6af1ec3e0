import { omitUndefined } from '../../core/internal.ts';
import { deriveInvocationId, newMessageId } from '../../core/index.ts';
import { outletValue } from '../../net/index.ts';
import type { Step, TokenPlace } from '../../net/index.ts';
import type { AttachableSession, SessionAttachment } from '../../runtime/index.ts';
import type { AudioFormat } from '../models/audio-format.ts';
import type { LiveMedia, LivePartial } from '../models/live-model.ts';
import type { LiveSignal } from '../models/live-signal.ts';
import type { CommandToSend, LinkOpening, LiveHost } from '../vocabulary/live-host.ts';
import { linkClosed, linkGoAway, linkHandleArrived, linkStop } from '../vocabulary/link-places.ts';
import { playOut } from '../vocabulary/play-outlet.ts';
import { MAX_SIGNAL_TEXT } from '../vocabulary/signal-schema.ts';
import type { PlayDecision } from '../vocabulary/play-outlet.ts';
import {
  callCanceled,
  playbackEnded,
  playbackMark,
  playbackStopped,
  replyBegun,
  replyCalls,
  replyDone,
  replyInterrupted,
  replySegment,
  utteranceTranscript,
  voiceLost,
  voiceStarted,
  voiceStopped,
} from '../vocabulary/reply-places.ts';
import type { DoneReply, PlaybackStop } from '../vocabulary/reply-places.ts';
import { InputQueue } from './input-queue.ts';
import type { ClientEdge, QueuedEdge } from './input-queue.ts';
import { LinkConnection } from './link-connection.ts';
import type { LiveClient } from './live-client.ts';
import { ReplyMedia } from './reply-media.ts';
import type { TextRest } from './reply-media.ts';
import { findRequestInput } from './request-input.ts';
import { Resampler } from '../models/resampler.ts';

/** Options of the media plane. */
export interface MediaOptions {
  /** The length of a window of audio, in milliseconds. */
  readonly windowMs: number;
  /** How much audio of a reply is kept in memory before the connection is no longer read, in milliseconds. */
  readonly maxBufferedMs: number;
  /** How much audio of the user is kept while no connection is open, in milliseconds. */
  readonly maxQueuedMs: number;
  /** How long a session without a client keeps its connection, in milliseconds. */
  readonly clientTimeoutMs: number;
}

/**
 * The connections and the client of one session, while this process owns it. Media flows here, beside the net; what
 * happened is injected in the net, and what the net decided comes back as committed decisions.
 */
export class SessionHub implements LiveHost, SessionAttachment {
  readonly #session: AttachableSession;
  readonly #options: MediaOptions;
  readonly #onDetached: () => void;
  readonly #connections = new Map<string, LinkConnection>();
  readonly #replies = new Map<string, ReplyMedia>();
  /** The ends of replies whose text and audio the net has not all accepted. */
  readonly #ends = new Map<string, DoneReply>();
  /** The replies whose end is injected and not committed, by the key of that input. */
  readonly #endKeys = new Map<string, ReplyMedia>();
  /** The replies whose end has arrived. */
  readonly #complete = new Set<string>();
  /** Connections that have closed, until the ends of their replies are reported. */
  readonly #closing = new Set<string>();
  /** The connection that has the speech of an invocation. */
  readonly #speechConnections = new Map<string, string>();
  #client: LiveClient | undefined;
  /** What the user says while no connection is open. */
  readonly #queue = new InputQueue();
  /** Whether the model detects speech. Undefined until the first connection is being opened. */
  #detectsVoice: boolean | undefined;
  /** Whether the client has reported the start of speech, and not its end. */
  #isClientSpeaking = false;
  #resampled:
    | {
        readonly connection: LinkConnection;
        readonly fromRate: number;
        readonly resampler: Resampler;
      }
    | undefined;
  /** Names what no connection names. No other owner of the session has the same name. */
  readonly #name = newMessageId();
  #inputs = 0;
  #utterance: string | undefined;
  /** The connection whose model hears the user speak. */
  #speaking: LinkConnection | undefined;
  #transcripts = 0;
  #isPaused = false;
  #isHungUp = false;
  #isDetached = false;
  #cancelTimeout: () => void = () => {};
  #cancelStop: () => void = () => {};

  constructor(session: AttachableSession, options: MediaOptions, onDetached: () => void) {
    this.#session = session;
    this.#options = options;
    this.#onDetached = onDetached;
  }

  get isActive(): boolean {
    return this.#connections.size > 0;
  }

  get inputAudio(): AudioFormat | undefined {
    return this.#current?.inputAudio;
  }

  /** Sets the client. Undefined: it is gone, and the connection follows unless it comes back in time. */
  setClient(client: LiveClient | undefined): void {
    const isReplaced = this.#client !== undefined && this.#client !== client;
    this.#client = client;
    if (client !== undefined) this.#isHungUp = false;
    this.#cancelTimeout();
    this.#cancelTimeout = () => {};
    if (isReplaced) {
      // Nobody reports any more how much the former client has played.
      for (const media of this.#replies.values()) media.playedAll();
    }
    if (isReplaced || client === undefined)
      for (const media of this.#replies.values()) this.#flow(media);
    if (client === undefined && this.isActive) this.#awaitClient();
    for (const connection of this.#connections.values()) this.#greet(connection);
  }

  readonly openLink = async (opening: LinkOpening): Promise<void> => {
    const { conn, model, request, signal } = opening;
    const connection = new LinkConnection(opening, {
      onSignal: (one) => this.#onSignal(connection, one),
      onMedia: (media) => this.#onMedia(connection, media),
      onPartial: (partial) => this.#onPartial(connection, partial),
    });
    this.#connections.set(conn, connection);
    this.#detectsVoice = connection.detectsVoice;
    try {
      await connection.open(model, request, signal);
    } catch (error) {
      this.#connections.delete(conn);
      this.#client?.onConnectFailed?.(error);
      throw error;
    }
    this.#greet(connection);
    // The net may have had the end of the call together with its start.
    if (this.#isHungUp) this.#inject(linkStop, null);
    else if (this.#client === undefined) this.#awaitClient();
    this.#sendQueued(connection);
  };

  readonly sendCommand = async ({ command, links, conversation }: CommandToSend): Promise<void> => {
    if (command.kind === 'cut') this.#dropUnheard(command.reply);
    const connection = this.#connections.get(command.conn);
    if (connection === undefined) return;
    switch (command.kind) {
      case 'request': {
        const link = links.find(({ conn }) => conn === command.conn);
        const input = findRequestInput(conversation, {
          invocationId: command.invocationId ?? '',
          conn: command.conn,
          historyLength: link?.historyLength ?? 0,
          isSpeech:
            command.round === 0 &&
            this.#speechConnections.get(command.invocationId ?? '') === command.conn,
        });
        if (input !== undefined) await connection.send(input);
        return;
      }
      case 'cut':
        await connection.cut(command.reply);
        return;
      case 'nudge':
        await connection.send({ kind: 'nudge', instruction: NUDGE });
        return;
      case 'close':
        this.#connections.delete(command.conn);
        await connection.close();
        return;
      default:
        command.kind satisfies never;
    }
  };

  readonly onCommitted = ({ outlets, injected }: Pick<Step, 'outlets' | 'injected'>): void => {
    const ended: ReplyMedia[] = [];
    for (const { place, key } of injected) {
      if (place !== replyDone.name || key === undefined) continue;
      const media = this.#endKeys.get(key);
      this.#endKeys.delete(key);
      if (media === undefined) continue;
      // A decision of the same step has its text.
      media.grantEnd();
      ended.push(media);
    }
    for (const output of outlets) {
      const decision = outletValue(playOut, output);
      if (decision !== undefined) this.#decide(decision);
    }
    for (const media of ended) this.#flow(media);
  };

  readonly detach = (): void => {
    if (this.#isDetached) return;
    this.#isDetached = true;
    this.#onDetached();
    this.#cancelTimeout();
    this.#cancelStop();
    for (const connection of this.#connections.values()) void connection.close();
    this.#connections.clear();
  };

  /** The client hangs up, and calls no more. */
  hungUp(): void {
    this.#isHungUp = true;
    for (const conn of this.#connections.keys()) this.#breakOff(conn);
  }

  sendAudio(pcm: Uint8Array): void {
    if (pcm.byteLength === 0) return;
    const connection = this.#current;
    if (connection?.isOpen === true) {
      // A connection that replaces another one has not heard the start.
      if (this.#isClientSpeaking) connection.activity('started');
      this.#send(connection, pcm);
      return;
    }
    const bytesPerSecond = 2 * (this.#client?.inputRate ?? DEFAULT_INPUT_RATE);
    this.#queue.addAudio(pcm, (this.#options.maxQueuedMs / 1000) * bytesPerSecond);
  }

  sendImage(mimeType: string, data: Uint8Array): boolean {
    return this.#current?.sendImage(mimeType, data) ?? false;
  }

  audioEnded(): void {
    this.#current?.audioEnded();
  }

  /** Sends audio of the user in the rate of the connection. */
  #send(connection: LinkConnection, pcm: Uint8Array): void {
    const fromRate = this.#client?.inputRate;
    const toRate = connection.inputAudio?.sampleRate;
    if (fromRate === undefined || toRate === undefined || fromRate === toRate) {
      connection.sendAudio(pcm);
      return;
    }
    if (this.#resampled?.connection !== connection || this.#resampled.fromRate !== fromRate)
      this.#resampled = { connection, fromRate, resampler: new Resampler(fromRate, toRate) };
    connection.sendAudio(this.#resampled.resampler.convert(pcm));
  }

  /** An edge of the client's voice detection. */
  edge(edge: ClientEdge): void {
    const current = this.#current;
    // Two detectors would start two turns for one utterance.
    if (current?.detectsVoice ?? this.#detectsVoice) return;
    if (edge === 'stopped' && !this.#isClientSpeaking) return;
    this.#isClientSpeaking = edge === 'started';
    if (current?.isOpen === true) {
      const isReceived = current.isReceivingSpeech;
      current.activity(edge);
      this.#edge(edge, isReceived ? current : undefined);
      return;
    }
    // Until it is known who detects speech, the net does not have the edge.
    if (this.#detectsVoice === undefined) {
      this.#queue.addEdge(edge);
      return;
    }
    this.#edge(edge);
    this.#queue.addEdge(edge, this.#utterance);
  }

  /** Sends what the user said before this connection was open. */
  #sendQueued(connection: LinkConnection): void {
    const inputs = this.#queue.takeAll();
    const firstEdge = inputs.find((input) => 'edge' in input);
    let isSpeaking =
      firstEdge === undefined ? this.#isClientSpeaking : firstEdge.edge === 'stopped';
    for (const input of inputs) {
      if ('pcm' in input) {
        if (isSpeaking) connection.activity('started');
        this.#send(connection, input.pcm);
        continue;
      }
      isSpeaking = input.edge === 'started';
      this.#sendQueuedEdge(connection, input);
    }
  }

  #sendQueuedEdge(connection: LinkConnection, { edge, utterance }: QueuedEdge): void {
    if (connection.detectsVoice) {
      // The call has other options now, and its client's edges have no effect any more.
      if (edge === 'started' && utterance !== undefined) this.#inject(voiceLost, { utterance });
      return;
    }
    const isReceived = connection.isReceivingSpeech;
    connection.activity(edge);
    if (utterance === undefined) this.#edge(edge, isReceived ? connection : undefined);
    else if (edge === 'stopped' && isReceived)
      this.#speechConnections.set(deriveInvocationId(utterance), connection.conn);
  }

  played(reply: string, playedMs: number): void {
    const media = this.#replies.get(reply);
    if (media === undefined) return;
    for (const earlier of this.#replies.values()) {
      if (earlier === media) break;
      // Replies are played in their order.
      if (!earlier.isPlaying) continue;
      earlier.playedAll();
      this.#flow(earlier);
    }
    media.played(playedMs);
    this.#flow(media);
  }

  stopped(reply: string, playedMs: number): void {
    this.#cancelStop();
    const rest = this.#replies.get(reply)?.openText ?? [];
    this.#inject(playbackStopped, {
      reply,
      playedMs,
      ...(rest.length > 0 && { rest: limitTexts(rest) }),
    });
  }

  get #current(): LinkConnection | undefined {
    return this.#connections.values().next().value;
  }

  #greet({ opened }: LinkConnection): void {
    if (opened !== undefined) this.#client?.onConnected?.(opened);
  }

  /** @param receiver the connection that has the speech, if it has ended */
  #edge(edge: ClientEdge, receiver?: LinkConnection): void {
    if (edge === 'started') {
      this.#utterance = `${this.#current?.conn ?? this.#name}/u${++this.#inputs}`;
      this.#transcripts = 0;
    }
    const playing = [...this.#replies.values()].find(({ isPlaying }) => isPlaying);
    if (edge === 'started' && playing !== undefined) {
      this.#isPaused = true;
      this.#client?.onPause();
    }
    const utterance = this.#getUtterance(this.#current?.conn ?? this.#name);
    if (edge === 'stopped' && receiver !== undefined)
      this.#speechConnections.set(deriveInvocationId(utterance), receiver.conn);
    if (edge === 'stopped') this.#inject(voiceStopped, { utterance });
    else
      this.#inject(voiceStarted, { utterance, ...(playing && { playing: toPosition(playing) }) });
  }

  /** The utterance that was begun last. */
  #getUtterance(conn: string): string {
    return (this.#utterance ??= `${conn}/u${++this.#inputs}`);
  }

  #onSignal(connection: LinkConnection, signal: LiveSignal): void {
    const { conn } = connection;
    const reply = 'reply' in signal ? `${conn}/${signal.reply}` : '';
    switch (signal.kind) {
      case 'voice':
        this.#speaking = signal.edge === 'started' ? connection : undefined;
        this.#edge(signal.edge, connection);
        return;
      case 'heard': {
        const utterance = this.#getUtterance(conn);
        const part = this.#transcripts++;
        this.#inject(utteranceTranscript, { conn, utterance, part, text: signal.text });
        return;
      }
      case 'begun':
        this.#addReply(reply);
        this.#inject(replyBegun, { conn, reply, toMs: this.#options.windowMs });
        return;
      case 'said':
        if (signal.form !== 'thought') this.#replies.get(reply)?.setFinalText(signal.text);
        return;
      case 'call':
        this.#update(reply, (media) => media.addCalls(signal.calls));
        return;
      case 'call-canceled':
        for (const callId of signal.callIds) this.#inject(callCanceled, { callId });
        return;
      case 'interrupted':
        this.#update(reply, (media) => media.interrupted());
        return;
      case 'done': {
        const { finishReason, usage } = signal;
        const media = this.#replies.get(reply);
        if (media === undefined) return;
        media.done({ isBrokenOff: false });
        this.#complete.add(reply);
        this.#ends.set(reply, { reply, finishReason, ...omitUndefined({ usage }) });
        this.#flow(media);
        return;
      }
      case 'go-away':
        this.#client?.onSignal?.(signal);
        this.#inject(linkGoAway, { conn });
        return;
      case 'handle':
        this.#client?.onSignal?.(signal);
        this.#inject(linkHandleArrived, { conn, handle: signal.handle });
        return;
      case 'closed':
        this.#connections.delete(conn);
        this.#closing.add(conn);
        this.#breakOff(conn);
        if (this.#speaking === connection) this.#loseSpeech();
        this.#reportClosed(conn);
        return;
      default:
        signal satisfies never;
    }
  }

  #onMedia({ conn }: LinkConnection, frame: LiveMedia): void {
    const media = this.#replies.get(`${conn}/${frame.reply}`);
    if (media === undefined) return;
    media.addFrame({ ...frame, reply: media.reply });
    this.#flow(media);
  }

  #onPartial({ conn }: LinkConnection, partial: LivePartial): void {
    if (partial.kind === 'heard') {
      const invocationId = deriveInvocationId(this.#getUtterance(conn));
      this.#client?.onPartial?.({ ...partial, invocationId });
      return;
    }
    const media = this.#replies.get(`${conn}/${partial.reply}`);
    if (media === undefined) return;
    if (partial.form !== 'thought') media.addText(partial.text);
    this.#client?.onPartial?.({ ...partial, reply: media.reply });
  }

  #decide({ kind, reply = '', window = 0, playedMs = 0, invocationId }: PlayDecision): void {
    if (kind === 'resume') {
      if (!this.#isPaused) return;
      this.#isPaused = false;
      this.#client?.onResume();
      return;
    }
    if (kind === 'truncate') {
      const { audioMs = 0 } = this.#replies.get(reply) ?? {};
      this.#removeReply(reply);
      this.#command(reply, async (connection) =>
        connection.truncate(reply, Math.min(playedMs, audioMs)),
      );
      return;
    }
    if (kind === 'flush') {
      this.#isPaused = false;
      if (reply !== '') this.#awaitStop(reply);
      this.#command(reply, async (connection) => connection.cut(reply));
      // The next reply may have arrived before this decision was committed.
      for (const media of this.#replies.values()) if (media.isAccepted) media.flush();
      this.#client?.onFlush();
      return;
    }
    const media = this.#replies.get(reply);
    if (media === undefined) return;
    if (invocationId !== undefined) this.#client?.onReply?.({ reply: media.reply, invocationId });
    media.grant(window);
    this.#flow(media);
  }

  /** Sends a command to the connection of a reply, if it is open. */
  #command(reply: string, send: (connection: LinkConnection) => Promise<void>): void {
    const connection = this.#connections.get(toConn(reply));
    // If the connection breaks, its `closed` signal says so. A protocol may not have the command.
    if (connection !== undefined) send(connection).catch(() => {});
  }

  /** Reports what the client has played of a cut reply, if it does not report it soon. */
  #awaitStop(reply: string): void {
    const media = this.#replies.get(reply);
    if (media === undefined) return;
    const { playedMs } = media;
    const { clock } = this.#session;
    this.#cancelStop();
    this.#cancelStop = clock.at(clock.now() + STOP_REPORT_MS, () => this.stopped(reply, playedMs));
  }

  /** Moves what can be moved: frames to the client; marks, text and the end of the reply to the net. */
  #flow(media: ReplyMedia): void {
    const { reply } = media;
    const client = this.#client;
    for (const frame of media.takeReleased()) {
      // Without a client nobody listens: the audio is over at once, so that the reply ends.
      if (client === undefined) media.played(frame.toMs);
      else client.onAudio(frame);
    }
    const conn = toConn(reply);
    if (!this.#isHeld(media)) this.#report(media);
    this.#reportClosed(conn);
    this.#connections.get(conn)?.limit(media.bufferedMs > this.#options.maxBufferedMs);
  }

  /** The net refuses a reply that begins while another is under way. Until it has, it hears of the beginning alone. */
  #isHeld(media: ReplyMedia): boolean {
    return !media.isAccepted && [...this.#replies.values()].some(({ isUnderWay }) => isUnderWay);
  }

  /** Reports to the net what is new of a reply. */
  #report(media: ReplyMedia): void {
    const { reply } = media;
    for (const calls of media.takeCalls()) this.#inject(replyCalls, { reply, calls });
    if (media.takeInterrupted()) this.#inject(replyInterrupted, { reply });
    const segment = media.nextSegment();
    const end = this.#ends.get(reply);
    if (segment !== undefined) this.#inject(replySegment, { reply, ...segment });
    const taken = end && media.takeEnd();
    if (end !== undefined && taken !== undefined) {
      this.#ends.delete(reply);
      this.#endKeys.set(this.#inject(replyDone, { ...end, ...taken }), media);
    }
    if (media.takePlayed()) this.#inject(playbackEnded, { reply });
    for (const window of media.takePlayedWindows()) this.#inject(playbackMark, { reply, window });
  }

  /** The connection that would have noticed the end of the user's speech is gone. */
  #loseSpeech(): void {
    this.#speaking = undefined;
    const utterance = this.#utterance ?? '';
    this.#inject(voiceLost, { utterance });
  }

  /** Updates a reply with what its connection has reported. Nothing, if the net has refused the reply. */
  #update(reply: string, update: (media: ReplyMedia) => void): void {
    const media = this.#replies.get(reply);
    if (media === undefined) return;
    update(media);
    this.#flow(media);
  }

  /** The replies of a connection have ended. What the client has of them is in the net before the loss is. */
  #breakOff(conn: string): void {
    for (const media of this.#replies.values()) {
      if (!media.reply.startsWith(`${conn}/`)) continue;
      media.done({ isBrokenOff: true });
      this.#flow(media);
    }
  }

  /** Removes a reply that the net has not accepted, and never will. What follows of it is dropped. */
  #dropUnheard(reply = ''): void {
    if (this.#replies.get(reply)?.isAccepted !== false) return;
    this.#removeReply(reply);
    this.#reportClosed(toConn(reply));
  }

  #removeReply(reply: string): void {
    this.#replies.delete(reply);
    this.#ends.delete(reply);
    this.#complete.delete(reply);
  }

  /** Reports that a connection has closed, when the net has accepted the replies that were complete, and their ends. */
  #reportClosed(conn: string): void {
    const isAhead = ({ reply, isWaiting }: ReplyMedia): boolean =>
      this.#ends.has(reply) || (isWaiting && this.#complete.has(reply));
    const replies = [...this.#replies.values()].filter(({ reply }) => reply.startsWith(`${conn}/`));
    if (!this.#closing.has(conn) || replies.some(isAhead)) return;
    this.#closing.delete(conn);
    this.#inject(linkClosed, { conn });
  }

  #addReply(reply: string): void {
    this.#replies.set(reply, new ReplyMedia(reply, this.#options.windowMs));
    for (const [old] of [...this.#replies].slice(0, -MAX_REPLIES)) {
      this.#removeReply(old);
    }
  }

  /** Ends the connection if no client comes in time. */
  #awaitClient(): void {
    const { clock } = this.#session;
    this.#cancelTimeout();
    this.#cancelTimeout = clock.at(clock.now() + this.#options.clientTimeoutMs, () => {
      if (this.#client === undefined) this.#inject(linkStop, null);
    });
  }

  /** Injects a signal. Returns the key of the input. */
  #inject<T>(place: TokenPlace<T>, value: T): string {
    const key = `${this.#current?.conn ?? this.#name}:${++this.#inputs}`;
    if (!this.#isDetached) this.#session.inject({ place: place.name, value, key });
    return key;
  }
}

/** The beginning of these texts, as much of it as one signal may have. */
function limitTexts(texts: readonly TextRest[]): readonly TextRest[] {
  let left = MAX_SIGNAL_TEXT;
  return texts.filter(({ text }) => (left -= text.length) >= 0);
}

function toPosition({ reply, playedMs }: ReplyMedia): PlaybackStop {
  return { reply, playedMs };
}

/** The connection of a reply. */
function toConn(reply: string): string {
  return reply.slice(0, reply.lastIndexOf('/'));
}

/** How long a cut reply waits for the report of its client: less than the net waits for any report. */
const STOP_REPORT_MS = 250;
/** Replies whose audio is kept: the current one, and one that was cut. */
const MAX_REPLIES = 4;
/** Samples per second by which audio of the user is counted until a connection states its format. */
const DEFAULT_INPUT_RATE = 16_000;
const NUDGE = 'Continue. If you did not understand the user, ask.';
