import cluster from 'node:cluster';
import { EventEmitter } from 'node:events';
import { Metrics } from '../../server/index.ts';
import type { Store } from '../../store/index.ts';
import type { Clock } from '../../net/index.ts';
import type { OutputStream, Signals } from '../command/cli-context.ts';
import { mergeMetrics } from './merge-metrics.ts';
import type { ServeCall } from './serve-options.ts';
import { SessionRouter } from './session-router.ts';
import {
  isServeMessage,
  type PoolMessage,
  type WorkerMessage,
  type WorkerStart,
  type WorkerText,
} from './worker-message.ts';
import { labelLines } from './worker-output.ts';

/** A worker waits this long for the metrics of the others, in milliseconds. */
const METRICS_TIMEOUT_MS = 2000;

class WorkerMetrics extends Metrics {
  readonly #merge: (own: string) => Promise<string>;

  constructor(clock: Clock, merge: (own: string) => Promise<string>) {
    super(clock);
    this.#merge = merge;
  }

  override async text(...sources: Parameters<Metrics['text']>): Promise<string> {
    return this.#merge(await this.ownText(...sources));
  }

  async ownText(...sources: Parameters<Metrics['text']>): Promise<string> {
    return super.text(...sources);
  }
}

/** The connection of a worker to the first process. */
export class WorkerLink {
  readonly worker: number;
  /** Resolves when this worker is to write the address of the server, which one of them does. */
  readonly announcing: Promise<void>;
  /** The call with the output of the server, which names no worker. */
  readonly serverCall: ServeCall;
  /** The signals that the first process passes on. Those of the terminal reach it, too. */
  readonly signals: Signals;
  readonly #clock: Clock;
  readonly #listen = Promise.withResolvers<void>();
  readonly #metrics = new Map<
    number,
    (message: PoolMessage & { petrichor: 'all-metrics' }) => void
  >();
  #requests = 0;
  #ownMetrics: () => Promise<string> = async () => '';

  /** Passes the requests of a session to its worker. */
  readonly router: SessionRouter;

  private constructor(call: ServeCall, start: WorkerStart) {
    this.#clock = call.clock;
    this.serverCall = call;
    this.worker = start.worker;
    this.router = new SessionRouter(start);
    const { promise: announcing, resolve: announce } = Promise.withResolvers<void>();
    this.announcing = announcing;
    const passedOn = new EventEmitter();
    this.signals = passedOn;
    cluster.worker?.on('message', (message: unknown) => {
      if (!isServeMessage(message)) return;
      if (message.petrichor === 'listen') this.#listen.resolve();
      if (message.petrichor === 'announce') announce();
      if (message.petrichor === 'stop') passedOn.emit(message.signal);
      if (message.petrichor === 'metrics-wanted') void this.#sendMetrics(message.id);
      if (message.petrichor === 'all-metrics') this.#metrics.get(message.id)?.(message);
    });
  }

  /** Undefined: this process is not a worker. */
  static async open(call: ServeCall): Promise<WorkerLink | undefined> {
    if (!cluster.isWorker) return undefined;
    // A terminal sends Ctrl-C to all processes. The first one decides.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) call.signals.on(signal, () => {});
    const { promise, resolve } = Promise.withResolvers<WorkerStart>();
    cluster.worker?.once('message', (message: unknown) => {
      if (isServeMessage(message) && message.petrichor === 'start') resolve(message);
    });
    send({ petrichor: 'hello' });
    return new WorkerLink(call, await promise);
  }

  /** The call with output that names the worker, and with the signals of the first process. */
  createWorkerCall(): ServeCall {
    const { stdout, stderr, values } = this.serverCall;
    const label = (output: OutputStream): OutputStream =>
      labelLines(output, this.worker, values.json);
    return {
      ...this.serverCall,
      stdout: label(stdout),
      stderr: label(stderr),
      signals: this.signals,
    };
  }

  /** Says that this worker can listen, and resolves when all can. */
  async untilAllOpened(): Promise<void> {
    send({ petrichor: 'opened' });
    await this.#listen.promise;
  }

  reportListening(): void {
    send({ petrichor: 'listening' });
  }

  /** Drains all workers. */
  requestDrain(): void {
    send({ petrichor: 'drain' });
  }

  /** Metrics whose text also has those of the other workers. */
  createMetrics(store: Store): Metrics {
    const metrics = new WorkerMetrics(this.#clock, async (text) =>
      mergeMetrics([{ worker: this.worker, text }, ...(await this.#otherMetrics())]),
    );
    this.#ownMetrics = async () => metrics.ownText(store);
    return metrics;
  }

  async #sendMetrics(id: number): Promise<void> {
    const text = await this.#ownMetrics().catch(() => '');
    send({ petrichor: 'metrics', id, text });
  }

  async #otherMetrics(): Promise<readonly WorkerText[]> {
    const id = this.#requests++;
    const { promise, resolve } = Promise.withResolvers<
      PoolMessage & { petrichor: 'all-metrics' }
    >();
    this.#metrics.set(id, resolve);
    const cancel = this.#clock.at(this.#clock.now() + METRICS_TIMEOUT_MS, () =>
      resolve({ petrichor: 'all-metrics', id, texts: [] }),
    );
    send({ petrichor: 'all-metrics-wanted', id });
    const { texts } = await promise;
    cancel();
    this.#metrics.delete(id);
    return texts;
  }
}

function send(message: WorkerMessage): void {
  // Without a connection the first process has ended, and this one ends too.
  if (cluster.worker?.isConnected() === true) cluster.worker.send(message);
}
