import { isRecord, omitUndefined } from '../../../core/internal.ts';
import { ModelError, type ModelErrorKind } from '../../../models/index.ts';
import { createRedactor } from '../../../models/internal.ts';
import { classifyError } from '../../../models/response/classify-error.ts';
import type { Clock } from '../../../net/index.ts';
import type { AudioFormat } from '../audio-format.ts';
import type { LiveCommand } from '../live-command.ts';
import { LiveConnectionClosedError, LiveHandleExpiredError } from '../live-errors.ts';
import type { LiveConnection, LiveOpenContext } from '../live-model.ts';
import { LiveReporter } from '../live-reporter.ts';
import type { LiveAccess } from './live-access.ts';
import type { LiveLimits } from './live-limits.ts';
import { ProtocolViolation, type LiveProtocol, type ProtocolHost } from './live-protocol.ts';
import { openSocket, type LiveSocket, type SocketClosing } from './live-socket.ts';

/** What determines one connection. */
export interface ConnectOptions {
  /** The name of the model. */
  readonly model: string;
  readonly access: LiveAccess;
  /** The address of the conversation. It must not contain the key. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly outputAudio: AudioFormat;
  readonly limits: Required<LiveLimits>;
  readonly clock: Clock;
  readonly context: LiveOpenContext;
  readonly createProtocol: (host: ProtocolHost) => LiveProtocol;
}

const NORMAL_CLOSURE = 1000;
const PROTOCOL_ERROR = 1002;

/** Commands are refused while this many times the limit for audio waits to be sent: the server does not read. */
const COMMAND_BUFFER_FACTOR = 16;

/**
 * Opens a socket, lets the protocol open the conversation, and returns when the model accepts input.
 * @throws ModelError, LiveHandleExpiredError, MissingPackageError
 */
export async function connectLive(options: ConnectOptions): Promise<LiveConnection> {
  const connection = new SocketConnection(options);
  await connection.open();
  return connection;
}

class SocketConnection implements LiveConnection {
  readonly inputAudio: AudioFormat;
  readonly outputAudio: AudioFormat;
  readonly #options: ConnectOptions;
  readonly #reporter: LiveReporter;
  readonly #protocol: LiveProtocol;
  readonly #redact: (text: string) => string;
  readonly #opened = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  #phase: 'opening' | 'open' | 'closing' | 'closed' = 'opening';
  /** Why this side closes the connection. */
  #ownReason: 'client' | 'protocol' | 'limit' | undefined;
  #ownMessage: string | undefined;
  #refusal: Error | undefined;
  #socket: LiveSocket | undefined;
  #droppedAudio = false;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#redact = createRedactor([options.access.key]);
    this.#reporter = new LiveReporter(options.context.listener, options.outputAudio, this.#redact);
    this.#protocol = options.createProtocol({
      reporter: this.#reporter,
      send: (message) => this.#sendNow(JSON.stringify(message)),
      ready: () => {
        if (this.#phase !== 'opening') return;
        this.#phase = 'open';
        this.#opened.resolve();
      },
      refuse: (kind, message) => this.#refuse(this.#error(kind, message)),
    });
    this.inputAudio = this.#protocol.inputAudio;
    this.outputAudio = this.#protocol.outputAudio;
    // The rejection is observed by `open`, or not at all once the connection is open.
    this.#opened.promise.catch(() => undefined);
  }

  async open(): Promise<void> {
    const { model, url, headers, access, limits, clock, context } = this.#options;
    const onAbort = (): void => {
      if (this.#phase === 'opening') this.#refuse(this.#error('aborted', 'the call was aborted.'));
      else void this.close();
    };
    if (context.signal.aborted) throw this.#error('aborted', 'the call was aborted.');
    context.signal.addEventListener('abort', onAbort, { once: true });
    void this.#closed.promise.then(() => context.signal.removeEventListener('abort', onAbort));
    const cancelTimeout = clock.at(clock.now() + limits.openTimeoutMs, () => {
      const message = `the server did not accept the conversation within ${limits.openTimeoutMs} ms.`;
      this.#refuse(this.#error('network', message));
    });
    try {
      this.#socket = await openSocket({
        model,
        url: url.href,
        headers,
        limits,
        clock,
        listener: {
          onOpen: () => this.#protocol.start(),
          onMessage: (text) => this.#receive(text),
          onClosed: (closing) => this.#end(closing),
        },
        ...omitUndefined({ address: access.address }),
      });
      // An abort can come while the package is loaded.
      if (this.#phase === 'closed') this.#socket.terminate();
      await this.#opened.promise;
    } finally {
      cancelTimeout();
    }
  }

  readonly send = async (command: LiveCommand): Promise<void> => {
    const { model, limits } = this.#options;
    const socket = this.#socket;
    if (this.#phase !== 'open' || socket === undefined) {
      throw new LiveConnectionClosedError(model, command.kind);
    }
    if (socket.bufferedBytes > limits.maxBufferedBytes * COMMAND_BUFFER_FACTOR) {
      this.#abandon('limit', PROTOCOL_ERROR, 'the server does not read what it is sent.');
      throw new LiveConnectionClosedError(model, command.kind);
    }
    const messages = this.#protocol.command(command);
    const sending = messages.map((message) => socket.send(JSON.stringify(message)));
    const results = await Promise.allSettled(sending);
    if (results.some(({ status }) => status === 'rejected')) {
      throw new LiveConnectionClosedError(model, command.kind);
    }
  };

  readonly sendAudio = (pcm: Uint8Array): boolean =>
    this.#offer(() => this.#protocol.encodeAudio(pcm));

  readonly sendImage = (mimeType: string, data: Uint8Array): boolean =>
    this.#offer(() => this.#protocol.encodeImage(mimeType, data));

  readonly bufferedBytes = (): number => this.#socket?.bufferedBytes ?? 0;

  readonly pause = (): void => this.#socket?.pause();

  readonly resume = (): void => this.#socket?.resume();

  readonly close = async (): Promise<void> => {
    if (this.#phase === 'open') {
      this.#phase = 'closing';
      this.#ownReason ??= 'client';
      this.#socket?.close(NORMAL_CLOSURE);
    }
    await this.#closed.promise;
  };

  #offer(encode: () => string | undefined): boolean {
    if (this.#phase !== 'open' || this.#socket === undefined) return false;
    // Encoding what is dropped would cost most when there is least time.
    if (this.#socket.bufferedBytes <= this.#options.limits.maxBufferedBytes) {
      const text = encode();
      if (text !== undefined && this.#socket.offer(text)) {
        this.#droppedAudio = false;
        return true;
      }
      if (text === undefined) return false;
    }
    if (!this.#droppedAudio) {
      const message = `${this.#socket.bufferedBytes} bytes wait to be sent: audio is dropped.`;
      this.#reporter.diagnostic('audio_dropped', message);
    }
    this.#droppedAudio = true;
    return false;
  }

  #sendNow(text: string): void {
    // A socket that is about to close reports that by itself.
    void this.#socket?.send(text).catch(() => undefined);
  }

  #receive(text: string): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return;
    try {
      const message: unknown = JSON.parse(text);
      if (!isRecord(message)) throw new ProtocolViolation('a message is not a JSON object.');
      this.#protocol.receive(message);
    } catch (error) {
      const isKnown = error instanceof ProtocolViolation;
      this.#abandon('protocol', PROTOCOL_ERROR, isKnown ? error.message : 'a message is not JSON.');
    }
  }

  /** Gives up a connection, because of what the server did. */
  #abandon(reason: 'protocol' | 'limit', code: number, message: string): void {
    if (this.#phase === 'opening') {
      this.#refuse(this.#error('protocol', message));
      return;
    }
    if (this.#phase !== 'open') return;
    this.#phase = 'closing';
    this.#ownReason = reason;
    this.#ownMessage = message;
    this.#socket?.close(code);
  }

  #refuse(error: Error): void {
    if (this.#phase !== 'opening') return;
    this.#refusal = error;
    this.#end({ code: NORMAL_CLOSURE, reason: '' });
    this.#socket?.terminate();
  }

  #end(closing: SocketClosing): void {
    if (this.#phase === 'closed') return;
    const wasOpening = this.#phase === 'opening';
    this.#phase = 'closed';
    this.#protocol.dispose();
    if (wasOpening) {
      this.#reporter.silence();
      this.#opened.reject(this.#refusal ?? this.#openError(closing));
    } else this.#reportClosed(closing);
    this.#closed.resolve();
  }

  #reportClosed({ code, reason, cause }: SocketClosing): void {
    if (this.#ownReason !== undefined) {
      const retryable = this.#ownReason === 'protocol';
      const message = this.#ownMessage;
      this.#reporter.close({ reason: this.#ownReason, retryable, ...omitUndefined({ message }) });
      return;
    }
    if (cause === 'oversized') {
      const message = `a message has more than ${this.#options.limits.maxMessageBytes} bytes.`;
      this.#reporter.close({ reason: 'limit', retryable: false, message });
      return;
    }
    const verdict = this.#protocol.classifyClose(code, reason);
    const message = cause === 'silent' ? 'the server answers no pings.' : reason;
    this.#reporter.close({ reason: verdict.reason, retryable: verdict.retryable, code, message });
  }

  #openError({ code, reason, status, cause, error }: SocketClosing): Error {
    const { model } = this.#options;
    if (status !== undefined) {
      const facts = { name: '', headers: {}, body: undefined, causes: [], errorCodes: '' };
      const message = reason === '' ? `the server answered with status ${status}.` : reason;
      const kind = classifyError({ ...facts, status, message }, { answering: false });
      return this.#error(status < 400 ? 'bad_request' : kind, `${status}: ${message}`);
    }
    if (cause === 'oversized')
      return this.#error('protocol', 'a message is larger than the limit.');
    // No handshake: the message is that of the operating system or of TLS.
    if (reason === '' && error !== undefined) return this.#error('network', error.message);
    const verdict = this.#protocol.classifyClose(code, reason);
    if (verdict.isExpiredHandle === true) return new LiveHandleExpiredError(model);
    return this.#error(verdict.kind, `the server closed the connection (${code}): ${reason}`);
  }

  #error(kind: ModelErrorKind, message: string): ModelError {
    const { model } = this.#options;
    return new ModelError({ model, kind, message: this.#redact(message).slice(0, 500) });
  }
}
