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

// Its notices of what is deprecated would stand between our lines.
setLogger(null);

/** What a branch does once it may answer. */
type Answering = (context: InvocationContext, say: Say) => Event | undefined;
type Say = (text: string, actions?: Partial<Event['actions']>) => Event;

/** An agent of stock ADK that answers when the test lets it: no clock decides what comes first. */
export class Branch extends BaseAgent {
  readonly #gate = Promise.withResolvers<void>();
  readonly #answering: Answering;
  isStarted: boolean = false;
  /** It did its work to the end: a model would have been paid. */
  isFinished: boolean = false;

  constructor(name: string, answering: Answering = (_, say) => say(`answer of ${name}`)) {
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
    // Who is told to stop, stops.
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

  // oxlint-disable-next-line require-yield -- stock ADK asks for it; nobody goes live here
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

/** One message to stock ADK, run to its end. */
export interface StockRun {
  /** Authors of what the caller saw, in order. */
  readonly seen: readonly string[];
  /** Whether the run is over, and how. */
  readonly state: () => 'running' | 'ended' | Error;
  /** Authors of what the session keeps, in order. */
  readonly kept: () => Promise<readonly string[]>;
  readonly sessionState: () => Promise<Readonly<Record<string, unknown>>>;
}

/** Sends one message; `untilFirst` leaves the stream at the first answer, as a caller who needs no more would. */
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

/** Lets everything happen that needs nobody. */
export async function turns(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
}
