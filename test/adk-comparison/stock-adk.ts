import {
  BaseAgent,
  createEvent,
  type Event,
  InMemorySessionService,
  type InvocationContext,
  Runner,
  setLogger,
  type Workflow,
} from '@google/adk';

// Its deprecation warnings would clutter the test output.
setLogger(null);

/** Creates the event of a branch once it may answer. */
type AnswerFactory = (context: InvocationContext, createReply: CreateEvent) => Event | undefined;
type CreateEvent = (text: string, actions?: Partial<Event['actions']>) => Event;

/**
 * An agent of stock ADK that answers when the test allows it, so that no timer decides the order.
 */
export class Branch extends BaseAgent {
  readonly #gate = Promise.withResolvers<void>();
  readonly #answering: AnswerFactory;
  isStarted: boolean = false;
  /** True when its work was completed, which would have been paid for. */
  isFinished: boolean = false;

  constructor(
    name: string,
    answering: AnswerFactory = (_, createReply) => createReply(`answer of ${name}`),
  ) {
    super({ name });
    this.#answering = answering;
  }

  answer(): void {
    this.#gate.resolve();
  }

  fail(): void {
    this.#gate.reject(new Error(`${this.name} failed`));
  }

  protected async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    this.isStarted = true;
    // The branch stops when it is aborted.
    const stopped = Promise.withResolvers<never>();
    context.abortSignal?.addEventListener('abort', () => stopped.reject(new Error('stopped')));
    await Promise.race([this.#gate.promise, stopped.promise]);
    const { invocationId, branch } = context;
    const event = this.#answering(context, (text, actions) =>
      createEvent({
        invocationId,
        author: this.name,
        ...(branch !== undefined && { branch }),
        content: { role: 'model', parts: [{ text }] },
        ...(actions !== undefined && { actions }),
      }),
    );
    this.isFinished = true;
    if (event !== undefined) yield event;
  }

  // oxlint-disable-next-line require-yield -- required by stock ADK, and never called
  protected async *runLiveImpl(): AsyncGenerator<Event, void, void> {
    throw new Error('not live');
  }
}

/** A session that several runs may share. */
export interface StockSession {
  readonly sessionService: InMemorySessionService;
}

const key = { appName: 'foils', userId: 'somebody', sessionId: 'one' };

export async function newSession(): Promise<StockSession> {
  const sessionService = new InMemorySessionService();
  await sessionService.createSession(key);
  return { sessionService };
}

/** One message to stock ADK and its run. */
export interface StockRun {
  /** The authors of the events that the caller received, in order. */
  readonly seen: readonly string[];
  /** The state of the run. */
  readonly state: () => 'running' | 'ended' | Error;
  /** The authors of the stored events, in order. */
  readonly kept: () => Promise<readonly string[]>;
  readonly sessionState: () => Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Sends one message. `untilFirst` leaves the stream at the first event, like a caller that needs
 * only one answer.
 */
export async function send(
  agent: BaseAgent | Workflow,
  options: { readonly untilFirst?: boolean; readonly session?: StockSession } = {},
): Promise<StockRun> {
  const { sessionService } = options.session ?? (await newSession());
  const runner = new Runner({ agent, appName: key.appName, sessionService });
  const seen: string[] = [];
  let state: 'running' | 'ended' | Error = 'running';
  const consume = async (): Promise<void> => {
    const newMessage = { role: 'user', parts: [{ text: 'go' }] };
    for await (const event of runner.runAsync({ ...key, newMessage })) {
      seen.push(event.author ?? '');
      if (options.untilFirst === true) break;
    }
  };
  void consume().then(
    () => (state = 'ended'),
    (error: unknown) => (state = error instanceof Error ? error : new Error(String(error))),
  );
  await turns();
  const session = async () => sessionService.getSession(key);
  return {
    seen,
    state: () => state,
    kept: async () =>
      ((await session())?.events ?? [])
        .map(({ author = '' }) => author)
        .filter((author) => author !== 'user'),
    sessionState: async () => (await session())?.state ?? {},
  };
}

/** Waits until all work that needs no input is done. */
export async function turns(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
}
