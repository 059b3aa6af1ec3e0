import { InvalidInputError } from '../../core/index.ts';
import type { JsonObject, OptionNames } from '../../core/index.ts';
import {
  type Agent,
  type CustomContext,
  type CustomReply,
  type CustomYield,
  custom,
} from '../../agents/index.ts';
import { fromGeminiSchema } from '../tools/gemini-schema.ts';
import type { GeminiSchema } from '../tools/gemini-schema.ts';
import type { ToolParameters } from '../../tools/index.ts';
import type { AgentCallback, OneOrMany } from '../contracts/agent-callbacks.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { toNetCallbacks, toToolInfo } from './to-net-callbacks.ts';

/** Options common to all agents. ADK's `BaseAgentConfig`. */
export interface BaseAgentConfig {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description?: string;
  readonly subAgents?: readonly BaseAgent[];
  /** The arguments when the agent is called as a tool. Default: one string, `request`. */
  readonly inputSchema?: ToolParameters | GeminiSchema;
  readonly beforeAgentCallback?: OneOrMany<AgentCallback>;
  readonly afterAgentCallback?: OneOrMany<AgentCallback>;
}

/** The option names common to all agents. */
export const BASE_AGENT_NAMES: OptionNames<BaseAgentConfig> = {
  name: true,
  description: true,
  subAgents: true,
  inputSchema: true,
  beforeAgentCallback: true,
  afterAgentCallback: true,
};

/**
 * What a custom agent may yield: text, content, an `Event` with content, actions and output, or a run of a sub-agent.
 */
export type AgentYield = CustomYield;

/** The context of `runAsyncImpl`. */
export interface CustomAgentContext extends CustomContext {
  /** The session, with all state at the last yield: `context.session.state['topic']`, as in ADK. */
  readonly session: {
    readonly id: string;
    readonly appName: string;
    readonly userId: string;
    readonly state: JsonObject;
  };
}

/**
 * Base class of agents. Override `runAsyncImpl` to write a custom agent: each yield, with its state changes, is
 * committed before the agent continues. After a crash it runs again from the start, and what it had already yielded is
 * skipped.
 */
export class BaseAgent {
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly BaseAgent[];
  /** The arguments when the agent is called as a tool. Default: one string, `request`. */
  readonly inputSchema: ToolParameters | undefined;
  protected readonly config: BaseAgentConfig;

  constructor(config: BaseAgentConfig) {
    this.name = config.name;
    this.description = config.description ?? '';
    this.subAgents = config.subAgents ?? [];
    this.inputSchema = config.inputSchema && fromGeminiSchema(config.inputSchema);
    this.config = config;
  }

  /** Finds this agent or one of its descendants by name. */
  findAgent(name: string): BaseAgent | undefined {
    if (this.name === name) return this;
    for (const sub of this.subAgents) {
      const found = sub.findAgent(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Runs this agent as a sub-agent of the agent that owns `context`. Delegate to it: `yield* sub.runAsync(context)`.
   */
  async *runAsync(
    context: CustomContext,
  ): AsyncGenerator<CustomYield, CustomReply, CustomReply | undefined> {
    return yield* context.run(this.name);
  }

  // oxlint-disable-next-line require-yield -- subclasses override it
  protected async *runAsyncImpl(
    _context: CustomAgentContext,
  ): AsyncGenerator<AgentYield, void, never> {
    throw new InvalidInputError('agent', `"${this.name}" must override runAsyncImpl.`);
  }

  /**
   * Compiles the agent to a net. Called by the runner.
   * @throws InvalidInputError if the agent's options are invalid
   * @throws NetBuildError if the net cannot be built
   */
  async compile(compileContext: CompileContext): Promise<Agent> {
    const subAgents = await compileAgents(this.subAgents, compileContext);
    return custom({
      name: this.name,
      description: this.description,
      subAgents,
      callbacks: toNetCallbacks(this, this.config, toToolInfo, compileContext),
      run: (context) => this.runAsyncImpl(withSession(context)),
    });
  }
}

/** Adds `session`. The other members stay getters, because they change with each step. */
function withSession(context: CustomContext): CustomAgentContext {
  const { sessionId: id, appName, userId } = context.sessionKey;
  const session: CustomAgentContext['session'] = {
    id,
    appName,
    userId,
    get state() {
      return context.stateEntries;
    },
  };
  return Object.create(context, { session: { value: session, enumerable: true } });
}

/**
 * Checks that no agent is below itself, which would never end.
 * @throws InvalidInputError with the path from the agent to itself
 */
export function assertNoCycle(agent: BaseAgent, above: readonly BaseAgent[] = []): void {
  const path = [...above, agent];
  if (above.includes(agent))
    throw new InvalidInputError(
      'subAgents',
      `of "${above.at(-1)?.name ?? ''}" contains "${agent.name}", which is above it: ${path.map(({ name }) => name).join(' > ')}. Remove it there.`,
    );
  for (const sub of agent.subAgents) assertNoCycle(sub, path);
}

export async function compileAgents(
  agents: readonly BaseAgent[],
  context: CompileContext,
): Promise<readonly Agent[]> {
  const compiled: Agent[] = [];
  for (const agent of agents) compiled.push(await agent.compile(context));
  return compiled;
}
