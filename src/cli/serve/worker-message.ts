/** What the first process of `petrichor serve --workers` and its workers tell each other. */

export interface WorkerStart {
  readonly petrichor: 'start';
  /** The number of the worker, from 1. */
  readonly worker: number;
  readonly workers: number;
  /** A folder for the sockets of the workers. */
  readonly folder: string;
}

/** From the first process to a worker. */
export type PoolMessage =
  /** The answer to `hello`: its number. */
  | WorkerStart
  /** All workers have opened the store: listen. */
  | { readonly petrichor: 'listen' }
  /** All workers listen: write the address of the server. */
  | { readonly petrichor: 'announce' }
  | { readonly petrichor: 'stop'; readonly signal: 'SIGINT' | 'SIGTERM' }
  /** Asks for the metrics of this worker. */
  | { readonly petrichor: 'metrics-wanted'; readonly id: number }
  /** The metrics of the other workers. */
  | {
      readonly petrichor: 'all-metrics';
      readonly id: number;
      readonly texts: readonly WorkerText[];
    };

/** From a worker to the first process. */
export type WorkerMessage =
  /** It reads messages. */
  | { readonly petrichor: 'hello' }
  | { readonly petrichor: 'opened' }
  | { readonly petrichor: 'listening' }
  /** An operator drains the server over HTTP. */
  | { readonly petrichor: 'drain' }
  /** Asks for the metrics of the other workers. */
  | { readonly petrichor: 'all-metrics-wanted'; readonly id: number }
  | { readonly petrichor: 'metrics'; readonly id: number; readonly text: string };

/** Metrics of one worker, in the text format of Prometheus. */
export interface WorkerText {
  readonly worker: number;
  readonly text: string;
}

/** Whether a message is one of these. The agents of a file may send others. */
export function isServeMessage(message: unknown): message is PoolMessage | WorkerMessage {
  return typeof message === 'object' && message !== null && 'petrichor' in message;
}
