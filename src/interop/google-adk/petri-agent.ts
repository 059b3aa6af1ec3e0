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
 * Options of `PetriAgent`: the agent, the services and plugins of `petrichor/adk`, and the lifetime
 * of the nets of its sessions.
 */
export interface PetriAgentOptions extends SharedRunnerOptions {
  /** The agent to run: from `petrichor/adk`, or created by `agent()` and similar functions. */
  readonly agent: OwnBaseAgent | Agent;
  /**
   * Holds the nets of sessions and ends them. Two agents cannot share one. Default:
   * `cleanerOwned()`.
   */
  readonly registry?: SessionRegistry<NetSession>;
  /**
   * The object whose lifetime a session's net shares. Default: the session service of the stock
   * runner.
   */
  readonly getOwner?: (context: InvocationContext) => object;
}

/**
 * Runs a Petrichor agent under the Runner of stock `@google/adk`, as its root agent or as a
 * sub-agent of its SequentialAgent, ParallelAgent and LoopAgent. Each session has one net, which
 * lives from its first message until its owner is garbage-collected or `close` is called. Its
 * messages and state changes are events of the stock session. Without a `sessionService`, the net's
 * own history is lost when it ends.
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

  /**
   * Not supported: a clone would share the nets. Create another PetriAgent.
   * @throws InvalidInputError always
   */
  override clone(): never {
    throw new InvalidInputError(
      'clone',
      `cannot copy "${this.name}": create another PetriAgent for its agent.`,
    );
  }

  /** Ends the net of a session. False if it has none. */
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
        `already has the net of another agent for this session: pass a separate registry to "${this.name}".`,
      );
    yield* session.turn(context);
  }

  // oxlint-disable-next-line require-yield -- it throws before it could
  protected async *runLiveImpl(): AsyncGenerator<StockEvent, void, void> {
    throw new InvalidInputError(
      'runLive',
      'needs live sessions, which this version does not support: use runAsync.',
    );
  }
}

/** The name of the agent, followed by those of all its sub-agents. */
function listAgentNames(agent: OwnBaseAgent | Agent): readonly string[] {
  const below: readonly (OwnBaseAgent | Agent)[] =
    'role' in agent ? agent.role.subAgents : agent.subAgents;
  return [agent.name, ...below.flatMap(listAgentNames)];
}
