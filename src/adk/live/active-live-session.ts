import type { CallId, Json } from '../../core/index.ts';
import { decodeJson, encodeJson } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import { LiveRequestQueue } from './live-request-queue.ts';
import type { LiveRequest } from './live-request-queue.ts';

/** A result of a streaming tool: what it yielded, or the message of the error that ended it. */
export interface StreamResult {
  readonly toolName: string;
  readonly callId: CallId;
  readonly agentName: string;
  /** The number of the result, from 0. */
  readonly index: number;
  readonly value?: Json;
  readonly error?: string;
}

/** What a streaming tool runs with. */
export interface StreamContext {
  /** Aborts when the tool is to stop. */
  readonly signal: AbortSignal;
  /** A copy of every request of the live session, such as video frames. */
  readonly inputStream: LiveRequestQueue;
}

/** A streaming tool to start. */
export interface StreamStart {
  readonly toolName: string;
  readonly callId: CallId;
  readonly agentName: string;
  readonly run: (context: StreamContext) => AsyncGenerator;
}

interface Stream {
  readonly stop: () => void;
  readonly ended: Promise<void>;
  readonly input: LiveRequestQueue;
}

/** What ends a streaming tool that is asked to stop. */
export type StopOutcome = 'stopped' | 'not-active' | 'still-running';

const STOP_GRACE_MS = 1_000;

/** One live session of a process: its streaming tools, and the limit of concurrent tools. */
export class ActiveLiveSession {
  readonly #clock: Clock;
  readonly #onResult: (result: StreamResult) => void;
  readonly #streams = new Map<string, Stream>();
  readonly #waiting: (() => void)[] = [];
  #freeWorkers: number;

  constructor(options: {
    readonly clock: Clock;
    /** How many tools run at once. Default: no limit. */
    readonly maxWorkers?: number | undefined;
    readonly onResult: (result: StreamResult) => void;
  }) {
    this.#clock = options.clock;
    this.#onResult = options.onResult;
    this.#freeWorkers = options.maxWorkers ?? Infinity;
  }

  /** Runs a tool as soon as fewer than `maxWorkers` run. */
  async runTool<T>(run: () => T | Promise<T>): Promise<T> {
    if (this.#freeWorkers === 0)
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    else this.#freeWorkers--;
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#freeWorkers++;
      else next();
    }
  }

  /** Starts a streaming tool in the background. A second call of the same tool replaces the first. */
  startStream({ toolName, callId, agentName, run }: StreamStart): void {
    this.#streams.get(toolName)?.stop();
    const controller = new AbortController();
    const input = new LiveRequestQueue();
    const generator = run({ signal: controller.signal, inputStream: input });
    const facts = { toolName, callId, agentName };
    const ended = this.#follow(generator, facts, controller.signal).finally(() => {
      if (this.#streams.get(toolName) === stream) this.#streams.delete(toolName);
      input.close();
    });
    const stop = (): void => {
      controller.abort();
      input.close();
      void generator.return(undefined).catch(() => {});
    };
    const stream: Stream = { stop, ended, input };
    this.#streams.set(toolName, stream);
  }

  /** Stops a streaming tool, and waits a second for its end. */
  async stopStream(toolName: string): Promise<StopOutcome> {
    const stream = this.#streams.get(toolName);
    if (stream === undefined) return 'not-active';
    stream.stop();
    const late = new Promise<'still-running'>((resolve) =>
      this.#clock.at(this.#clock.now() + STOP_GRACE_MS, () => resolve('still-running')),
    );
    return Promise.race([stream.ended.then(() => 'stopped' as const), late]);
  }

  /** Gives every streaming tool a copy of a request. */
  copyInput(request: LiveRequest): void {
    for (const { input } of this.#streams.values()) if (!input.closed) input.send(request);
  }

  /** Stops all streaming tools. */
  close(): void {
    for (const { stop } of this.#streams.values()) stop();
  }

  async #follow(
    generator: AsyncGenerator,
    facts: Pick<StreamResult, 'toolName' | 'callId' | 'agentName'>,
    signal: AbortSignal,
  ): Promise<void> {
    let index = 0;
    try {
      for await (const yielded of generator) {
        if (signal.aborted) return;
        const value = decodeJson(encodeJson(yielded, 'yield'), 'yield');
        this.#onResult({ ...facts, index: index++, value });
      }
    } catch (error) {
      if (signal.aborted) return;
      const message = error instanceof Error ? error.message : 'it failed.';
      this.#onResult({ ...facts, index, error: message });
    }
  }
}
