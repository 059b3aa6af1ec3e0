import cluster, { type Worker } from 'node:cluster';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT_FAILURE, EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import type { Signal } from '../command/cli-context.ts';
import { RestartLimit } from './restart-limit.ts';
import type { ServeCall } from './serve-options.ts';
import { isServeMessage, type PoolMessage, type WorkerText } from './worker-message.ts';

/** A worker that has not sent its metrics by then is left out, in milliseconds. Less than the asking one waits. */
const METRICS_TIMEOUT_MS = 1000;
/** After the drain, a worker closes its connections in 5 s. One that has not ended then is killed. */
const CLOSE_MS = 10_000;

interface Slot {
  readonly number: number;
  readonly process: Worker;
  hasOpened: boolean;
  hasListened: boolean;
}

/**
 * Runs `petrichor serve` in several processes that share one port, until a signal stops it. Returns the exit code of a
 * worker that could not start, and 1 if workers die again and again.
 */
export async function serveWithWorkers(
  call: ServeCall,
  { workers, drainMs }: { readonly workers: number; readonly drainMs: number },
): Promise<ExitCode> {
  // Others cannot enter it.
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-workers-'));
  try {
    return await new WorkerPool(call, { workers, folder, drainMs }).run();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface PoolPlan {
  readonly workers: number;
  /** For the sockets of the workers. */
  readonly folder: string;
  readonly drainMs: number;
}

class WorkerPool {
  readonly #call: ServeCall;
  readonly #plan: PoolPlan;
  readonly #slots = new Map<number, Slot>();
  readonly #restarts: RestartLimit;
  readonly #ended = Promise.withResolvers<ExitCode>();
  readonly #metrics = new Map<string, (text: WorkerText) => void>();
  #onOpened: () => void = () => {};
  #metricsRequests = 0;
  #allOpened = false;
  #announced = false;
  /** What is returned when all workers have ended. Undefined: the server is not stopping. */
  #exitCode: ExitCode | undefined;

  constructor(call: ServeCall, plan: PoolPlan) {
    this.#call = call;
    this.#restarts = new RestartLimit(call.clock);
    this.#plan = plan;
  }

  async run(): Promise<ExitCode> {
    const { workers } = this.#plan;
    const { signals, stdout, values } = this.#call;
    const stops: readonly [Signal, () => void][] = (['SIGINT', 'SIGTERM'] as const).map(
      (signal) => [signal, () => this.#stop(signal, EXIT_OK)],
    );
    for (const [signal, onSignal] of stops) signals.on(signal, onSignal);
    // Each worker accepts connections itself. Otherwise this process would pass each one on, with two messages.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    // The first worker creates the tables and registers the agents. Then the others find them.
    const first = this.#start(1);
    const opened = Promise.withResolvers<void>();
    this.#onOpened = () => opened.resolve();
    await Promise.race([opened.promise, this.#ended.promise]);
    if (first.hasOpened && this.#exitCode === undefined) {
      for (let number = 2; number <= workers; number++) this.#start(number);
      this.#onOpened = () => this.#listenWhenAllOpened();
      this.#listenWhenAllOpened();
    }
    const code = await this.#ended.promise;
    for (const [signal, onSignal] of stops) signals.off(signal, onSignal);
    if (!values.json && code === EXIT_OK)
      stdout.write('Stopped. Run the same command to continue.\n');
    return code;
  }

  #start(number: number): Slot {
    const { workers, folder } = this.#plan;
    const worker = cluster.fork();
    const slot: Slot = { number, process: worker, hasOpened: false, hasListened: false };
    this.#slots.set(number, slot);
    worker.on('message', (message: unknown) => {
      if (!isServeMessage(message)) return;
      if (message.petrichor === 'hello')
        send(worker, { petrichor: 'start', worker: number, workers, folder });
      if (message.petrichor === 'opened') {
        slot.hasOpened = true;
        this.#onOpened();
        if (this.#allOpened) send(worker, { petrichor: 'listen' });
      }
      if (message.petrichor === 'listening') {
        slot.hasListened = true;
        this.#log('started', slot, {});
        this.#announceWhenAllListen();
      }
      if (message.petrichor === 'drain' && this.#exitCode === undefined)
        this.#stop('SIGTERM', EXIT_OK);
      if (message.petrichor === 'metrics')
        this.#metrics.get(`${message.id}/${number}`)?.({ worker: number, text: message.text });
      if (message.petrichor === 'all-metrics-wanted') void this.#sendMetrics(slot, message.id);
    });
    worker.once('exit', (code: number | null, signal: string | null) =>
      this.#onExit(slot, code ?? EXIT_FAILURE, signal ?? undefined),
    );
    return slot;
  }

  #listenWhenAllOpened(): void {
    const slots = [...this.#slots.values()];
    if (this.#allOpened || slots.some(({ hasOpened }) => !hasOpened)) return;
    this.#allOpened = true;
    for (const { process: worker } of slots) send(worker, { petrichor: 'listen' });
  }

  #announceWhenAllListen(): void {
    const slots = [...this.#slots.values()];
    if (this.#announced || slots.some(({ hasListened }) => !hasListened)) return;
    this.#announced = true;
    const [first] = slots;
    if (first !== undefined) send(first.process, { petrichor: 'announce' });
  }

  #onExit(slot: Slot, code: number, signal: string | undefined): void {
    this.#slots.delete(slot.number);
    if (this.#exitCode !== undefined) {
      if (this.#slots.size === 0) this.#ended.resolve(this.#exitCode);
      return;
    }
    // What stops one worker at the start, such as an invalid file, stops them all.
    if (!this.#allOpened) {
      this.#stop('SIGTERM', code === EXIT_OK ? EXIT_FAILURE : code);
      return;
    }
    this.#log('ended', slot, signal === undefined ? { code } : { signal });
    const { clock } = this.#call;
    const delayMs = this.#restarts.next();
    if (delayMs === undefined) {
      this.#log('given_up', slot, {});
      this.#stop('SIGTERM', EXIT_FAILURE);
      return;
    }
    clock.at(clock.now() + delayMs, () => {
      if (this.#exitCode === undefined) this.#start(slot.number);
    });
  }

  #stop(signal: 'SIGINT' | 'SIGTERM', code: ExitCode): void {
    const { clock, stdout, values } = this.#call;
    const processes = (): readonly Worker[] =>
      [...this.#slots.values()].map(({ process: worker }) => worker);
    if (this.#exitCode !== undefined) {
      // The second signal: at once.
      for (const worker of processes()) worker.process.kill('SIGKILL');
      return;
    }
    this.#exitCode = code;
    if (this.#slots.size === 0) {
      this.#ended.resolve(code);
      return;
    }
    if (!values.json && signal === 'SIGTERM' && code === EXIT_OK)
      stdout.write('Handing over the sessions.\n');
    for (const worker of processes()) send(worker, { petrichor: 'stop', signal });
    // One that has not opened has no sessions, and does not listen to signals yet.
    for (const { hasOpened, process: worker } of this.#slots.values())
      if (!hasOpened) worker.process.kill('SIGKILL');
    clock.at(clock.now() + this.#plan.drainMs + CLOSE_MS, () => {
      for (const worker of processes()) worker.process.kill('SIGKILL');
    });
  }

  /** Collects the metrics of the other workers. One that does not answer is left out: the asking worker waits 2 s. */
  async #sendMetrics(asking: Slot, id: number): Promise<void> {
    const others = [...this.#slots.values()].filter(
      ({ number, hasOpened }) => number !== asking.number && hasOpened,
    );
    const request = this.#metricsRequests++;
    const texts = await Promise.all(others.map(async (slot) => this.#readMetrics(slot, request)));
    send(asking.process, {
      petrichor: 'all-metrics',
      id,
      texts: texts.filter((text) => text !== undefined),
    });
  }

  async #readMetrics(slot: Slot, request: number): Promise<WorkerText | undefined> {
    const { clock } = this.#call;
    const key = `${request}/${slot.number}`;
    const { promise, resolve } = Promise.withResolvers<WorkerText | undefined>();
    this.#metrics.set(key, resolve);
    const cancel = clock.at(clock.now() + METRICS_TIMEOUT_MS, () => resolve(undefined));
    send(slot.process, { petrichor: 'metrics-wanted', id: request });
    const text = await promise;
    cancel();
    this.#metrics.delete(key);
    return text;
  }

  #log(
    event: 'started' | 'ended' | 'given_up',
    { number, process: worker }: Slot,
    facts: { readonly code?: number; readonly signal?: string },
  ): void {
    const { stdout, stderr, values } = this.#call;
    const { pid } = worker.process;
    if (values.json) {
      stdout.write(`${JSON.stringify({ type: 'worker', event, worker: number, pid, ...facts })}\n`);
      return;
    }
    if (event === 'started') stdout.write(`worker ${number}: process ${pid}\n`);
    if (event === 'ended')
      stderr.write(
        `worker ${number}: process ${pid} ended with ${facts.signal ?? `exit code ${facts.code}`}. It is started again.\n`,
      );
    if (event === 'given_up')
      stderr.write(
        'Too many workers have ended in the last minute. The server stops. Read their errors above.\n',
      );
  }
}

function send(worker: Worker, message: PoolMessage): void {
  if (!worker.isConnected()) return;
  // A worker that has just died is started again, or was to end anyway.
  worker.send(message, () => {});
}
