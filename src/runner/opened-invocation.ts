import { interruptIn } from '../agents/index.ts';
import { eventActions, newMessageId, toAdkSeconds } from '../core/index.ts';
import type { Content, Event, InvocationId } from '../core/index.ts';
import { SessionNotFoundError } from '../store/store-errors.ts';
import type { Session as RuntimeSession } from '../runtime/index.ts';
import { toolArtifacts } from '../tools/tool-artifacts.ts';
import { toolMemory } from '../tools/tool-memory.ts';
import type { App } from './app.ts';
import type { InvocationContext } from './contexts.ts';
import type { CheckedRunConfig } from './run-config.ts';
import type { RunnerOptions } from './runner-options.ts';
import { eventIn } from './session-events.ts';

/** What an invocation is of. */
export interface InvocationFacts {
  readonly app: App;
  readonly options: RunnerOptions;
  readonly session: RuntimeSession;
  readonly invocationId: InvocationId;
  readonly runConfig: CheckedRunConfig;
  readonly userContent: Content | undefined;
}

/** An invocation as the plugins of a runner see it, and what they did with it before its agents run. */
export class OpenedInvocation {
  readonly context: InvocationContext;
  readonly #facts: InvocationFacts;
  readonly #saved = new Map<string, number>();
  #userContent: Content | undefined;
  #ended = false;
  #begun: boolean;

  constructor(facts: InvocationFacts, begun: boolean) {
    this.#facts = facts;
    this.#userContent = facts.userContent;
    this.#begun = begun;
    this.context = this.#contextOf();
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** From here on this is the message. */
  hears(message: Content): void {
    this.#userContent = message;
  }

  /** From here on its end is an interrupt. Puts into the log what was saved until now. */
  async begin(): Promise<void> {
    this.#begun = true;
    if (this.#saved.size === 0) return;
    const { session, invocationId, options } = this.#facts;
    const event: Event = {
      id: newMessageId(),
      timestamp: toAdkSeconds(options.clock?.now() ?? Date.now()),
      invocationId,
      author: 'user',
      actions: eventActions({ artifactDelta: Object.fromEntries(this.#saved) }),
    };
    const dedupeKey = `${eventIn.name}:saved:${invocationId}`;
    await session.inject(eventIn, { event, stateDelta: {} }, { dedupeKey });
  }

  #contextOf(): InvocationContext {
    const { app, options, session, invocationId, runConfig } = this.#facts;
    const { artifactService, memoryService, sessionService } = options;
    const userContent = (): Content | undefined => this.#userContent;
    const ended = (): boolean => this.#ended;
    return {
      invocationId,
      ...session.key,
      get userContent() {
        return userContent();
      },
      runConfig,
      agent: app.rootAgent,
      artifacts: toolArtifacts({
        service: artifactService,
        session: session.key,
        firingId: invocationId,
        saved: (name, version) => this.#saved.set(name, version),
      }),
      memory: toolMemory(memoryService, session.key),
      get ended() {
        return ended();
      },
      session: async (config = { numRecentEvents: 0 }) => {
        const found = await sessionService.getSession({ ...session.key, config });
        if (found === undefined) throw new SessionNotFoundError(session.key, false);
        return found;
      },
      endInvocation: () => {
        this.#ended = true;
        if (!this.#begun) return;
        void session
          .inject(interruptIn, { invocationId }, { dedupeKey: `interrupt:${invocationId}` })
          .catch((error: unknown) => options.onError?.(error, session.key));
      },
    };
  }
}
