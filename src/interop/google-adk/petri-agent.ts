import { BaseAgent } from '@google/adk';
import type { Event as StockEvent, InvocationContext } from '@google/adk';
import type { Agent } from '../../agents/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { BaseAgent as OwnBaseAgent } from '../../adk/index.ts';
import { NetSession } from './net-session.ts';
import { cleanerOwned } from './session-registry.ts';
import type { SessionRegistry } from './session-registry.ts';
import { SharedRunners } from './shared-runners.ts';
import type { SharedRunnerOptions } from './shared-runners.ts';

/**
 * Which agent runs under the stock Runner, and whose life the nets of its sessions share; services and plugins are
 * those of `petrichor/adk`.
 */
export interface PetriAgentOptions extends SharedRunnerOptions {
  /** The agent to run: of `petrichor/adk`, or made by `agent()` and its like. */
  readonly agent: OwnBaseAgent | Agent;
  /** Where the runners of sessions are kept, and how they end; `cleanerOwned()` unless given. Not shared by two agents. */
  readonly registry?: SessionRegistry<NetSession>;
  /** Whose life a session's runner shares; the session service of the stock runner unless given. */
  readonly getOwner?: (context: InvocationContext) => object;
}

/**
 * Runs an agent of ours under the Runner of stock `@google/adk`, as its root or as a child of its Sequential-, Parallel-
 * and LoopAgent. Each session has one net, which lives from its first message until its owner is gone or `close` is
 * called; what it says, and the state it writes, are events of the stock session. Without a session service of ours, the
 * net's own memory ends with it.
 */
export class PetriAgent extends BaseAgent implements AsyncDisposable {
  readonly #registry: SessionRegistry<NetSession>;
  readonly #runners: SharedRunners;
  readonly #getOwner: (context: InvocationContext) => object;
  readonly #names: readonly string[];

  constructor({ agent, registry, getOwner, ...options }: PetriAgentOptions) {
    const { name, description } = agent;
    super({ name, description });
    this.#registry = registry ?? cleanerOwned();
    this.#names = listAgentNames(agent);
    this.#runners = new SharedRunners(agent, options);
    this.#getOwner = getOwner ?? (({ sessionService, session }) => sessionService ?? session);
  }

  /** A second one would have the same nets: make another PetriAgent. @throws InvalidInputError */
  override clone(): never {
    throw new InvalidInputError(
      'clone',
      `makes no second "${this.name}": make another PetriAgent of its agent.`,
    );
  }

  /** Ends a session's net; false when it has none. */
  async close(key: SessionKey): Promise<boolean> {
    return this.#registry.close(key);
  }

  /** Ends the nets of all sessions in its registry. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#registry[Symbol.asyncDispose]();
  }

  protected async *runAsyncImpl(
    context: InvocationContext,
  ): AsyncGenerator<StockEvent, void, void> {
    const { appName, userId, id: sessionId } = context.session;
    const key = { appName, userId, sessionId };
    const owner = this.#getOwner(context);
    const session = await this.#registry.getOrCreate(key, owner, async () =>
      NetSession.open(this.#runners, key, this.#names),
    );
    if (!session.usesRunners(this.#runners))
      throw new InvalidInputError(
        'registry',
        `has the net of another agent for this session: give "${this.name}" a registry of its own.`,
      );
    yield* session.turn(context);
  }

  // oxlint-disable-next-line require-yield -- it refuses before it could
  protected async *runLiveImpl(): AsyncGenerator<StockEvent, void, void> {
    throw new InvalidInputError(
      'runLive',
      'is for live sessions, which this version has not: use runAsync.',
    );
  }
}

/** The agent's name, and then those of all agents below it. */
function listAgentNames(agent: OwnBaseAgent | Agent): readonly string[] {
  const below: readonly (OwnBaseAgent | Agent)[] =
    'role' in agent ? agent.role.subAgents : agent.subAgents;
  return [agent.name, ...below.flatMap(listAgentNames)];
}
