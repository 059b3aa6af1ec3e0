import { getFunctionResponses } from '../../core/index.ts';
import type { Content, FunctionResponse, Part, StateDelta } from '../../core/index.ts';
import type { VoiceCall } from '../../live/index.ts';
import type { ActiveLiveSession } from '../live/active-live-session.ts';
import { decodeBlob, isAudio, readSampleRate } from '../live/live-request-queue.ts';
import type { LiveRequest, LiveRequestQueue } from '../live/live-request-queue.ts';
import type { LiveRecorder } from './live-recorder.ts';
import type { LiveStream } from './live-stream.ts';

/** Where the requests of a live session go. */
export interface LiveInputOptions {
  readonly queue: LiveRequestQueue;
  readonly call: VoiceCall;
  readonly stream: LiveStream;
  readonly active: ActiveLiveSession;
  readonly recorder: LiveRecorder | undefined;
  readonly sendMessage: (message: Content, stateDelta: StateDelta | undefined) => Promise<void>;
  readonly answerCalls: (answers: readonly FunctionResponse[]) => Promise<void>;
  readonly writeState: (stateDelta: StateDelta) => Promise<void>;
  readonly warn: (message: string) => void;
}

/** Reads the requests of a live session, and does what each asks for. */
export class LiveInput {
  readonly #options: LiveInputOptions;
  /** The parts of a message of which more follows. */
  #parts: readonly Part[] = [];
  #hasWarned = false;

  constructor(options: LiveInputOptions) {
    this.#options = options;
  }

  /** Reads until the queue is closed, or the signal aborts. @throws errors of a message or an answer */
  async read(signal: AbortSignal): Promise<void> {
    for await (const request of this.#options.queue.read(signal)) {
      this.#warnAboutLoss();
      this.#options.active.copyInput(request);
      await this.#handle(request);
    }
  }

  async #handle({ content, blob, stateDelta, ...request }: LiveRequest): Promise<void> {
    const { call, answerCalls, writeState } = this.#options;
    const isMedia =
      request.activityStart !== undefined ||
      request.activityEnd !== undefined ||
      request.audioStreamEnd === true ||
      blob !== undefined;
    const message = isMedia ? undefined : content;
    const answers = message === undefined ? [] : getFunctionResponses(message);
    if (stateDelta !== undefined && (message === undefined || answers.length > 0))
      await writeState(stateDelta);
    if (request.activityStart !== undefined) call.speechStarted();
    else if (request.activityEnd !== undefined) call.speechStopped();
    else if (request.audioStreamEnd === true) call.audioEnded();
    else if (blob !== undefined) this.#sendMedia(blob);
    else if (answers.length > 0) await answerCalls(answers);
    else if (message !== undefined)
      await this.#sendContent(message, request.partial === true, stateDelta);
  }

  async #sendContent(
    { parts }: Content,
    isPartial: boolean,
    stateDelta: StateDelta | undefined,
  ): Promise<void> {
    this.#parts = [...this.#parts, ...parts];
    if (isPartial) {
      if (stateDelta !== undefined) await this.#options.writeState(stateDelta);
      return;
    }
    const message: Content = { role: 'user', parts: this.#parts };
    this.#parts = [];
    await this.#options.sendMessage(message, stateDelta);
  }

  #sendMedia(blob: NonNullable<LiveRequest['blob']>): void {
    const { call, stream, recorder } = this.#options;
    const bytes = decodeBlob(blob);
    if (isAudio(blob)) {
      stream.inputRate = readSampleRate(blob);
      recorder?.add('input_audio', blob.mimeType, bytes);
      call.sendAudio(bytes);
      return;
    }
    recorder?.add('input_image', blob.mimeType, bytes);
    call.sendImage(blob.mimeType, bytes);
  }

  #warnAboutLoss(): void {
    const { queue, warn } = this.#options;
    if (this.#hasWarned || queue.droppedMs === 0) return;
    this.#hasWarned = true;
    warn('liveRequestQueue: audio was dropped, because it was sent faster than it was read.');
  }
}
