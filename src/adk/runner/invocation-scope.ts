import { eventIn, interruptIn } from '../../agents/internal.ts';
import { createEventActions, newMessageId, toAdkSeconds } from '../../core/index.ts';
import type { Content, Event, InvocationId } from '../../core/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { Session as RuntimeSession } from '../../runtime/index.ts';
import { toolArtifacts, toolMemory } from '../../tools/internal.ts';
import type { InvocationContext } from '../contracts/contexts.ts';
import type { CheckedRunConfig } from '../contracts/run-config.ts';
import type { RunnerParts } from './runner-parts.ts';

/** The invocation and its environment. */
export interface InvocationScopeOptions extends Pick<RunnerParts, 'app' | 'options'> {
  readonly session: RuntimeSession;
  readonly invocationId: InvocationId;
  readonly runConfig: CheckedRunConfig;
  readonly userContent: Content | undefined;
}

/** An invocation as the plugins of a runner see it, with what they did before its agents run. */
export class InvocationScope {
  readonly context: InvocationContext;
  readonly #options: InvocationScopeOptions;
  readonly #saved = new Map<string, number>();
  #userContent: Content | undefined;
  #ended = false;
  #started: boolean;

  constructor(options: InvocationScopeOptions, started: boolean) {
    this.#options = options;
    this.#userContent = options.userContent;
    this.#started = started;
    this.context = this.#createContext();
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** Replaces the message of the invocation. */
  setUserContent(message: Content): void {
    this.#userContent = message;
  }

  /** Marks the invocation as started: from now on, ending it is an interrupt. Logs the artifacts saved so far. */
  async begin(): Promise<void> {
    this.#started = true;
    if (this.#saved.size === 0) return;
    const { session, invocationId, options } = this.#options;
    const event: Event = {
      id: newMessageId(),
      timestamp: toAdkSeconds(options.clock?.now() ?? Date.now()),
      invocationId,
      author: 'user',
      actions: createEventActions({ artifactDelta: Object.fromEntries(this.#saved) }),
    };
    const dedupeKey = `${eventIn.name}:saved:${invocationId}`;
    await session.inject(eventIn, { event, stateDelta: {} }, { dedupeKey });
  }

  #createContext(): InvocationContext {
    const { app, options, session, invocationId, runConfig } = this.#options;
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
        onSaved: (name, version) => this.#saved.set(name, version),
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
        if (!this.#started) return;
        void session
          .inject(interruptIn, { invocationId }, { dedupeKey: `interrupt:${invocationId}` })
          .catch((error: unknown) => options.onError?.(error, session.key));
      },
    };
  }
}
