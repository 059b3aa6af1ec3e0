import { InvalidInputError } from '../../core/index.ts';
import type { OptionNames } from '../../core/index.ts';
import { custom } from '../../agents/index.ts';
import { NodeEvent, toYieldedEvent } from '../../agents/workflow/node-event.ts';
import type { Agent, CustomContext, CustomReply, CustomYield } from '../../agents/index.ts';
import type { ToolParameters } from '../../tools/index.ts';
import type { AgentCallback, OneOrMany } from '../contracts/agent-callbacks.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { toNetCallbacks } from './to-net-callbacks.ts';

/**
 * What every agent has, of whatever kind: who it is, who works below it, and what is asked before and after it runs.
 * ADK's `BaseAgentConfig`.
 */
export interface BaseAgentConfig {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description?: string;
  readonly subAgents?: readonly BaseAgent[];
  /** Where it is called as a tool: what it is called with. A text called `request` unless given. */
  readonly inputSchema?: ToolParameters;
  readonly beforeAgentCallback?: OneOrMany<AgentCallback>;
  readonly afterAgentCallback?: OneOrMany<AgentCallback>;
}

/** What every agent may be given. */
export const BASE_AGENT_NAMES: OptionNames<BaseAgentConfig> = {
  name: true,
  description: true,
  subAgents: true,
  inputSchema: true,
  beforeAgentCallback: true,
  afterAgentCallback: true,
};

/** What a custom agent may yield: words, content, an event's content, actions and output, or a run of a sub-agent. */
export type AgentYield = CustomYield | NodeEvent;

/**
 * An agent. Override `runAsyncImpl` to write one yourself: what it yields is committed before it goes on, state included.
 * After a crash it runs again from its beginning, and what it had yielded is skipped.
 */
export class BaseAgent {
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly BaseAgent[];
  /** Where it is called as a tool: what it is called with. A text called `request` unless given. */
  readonly inputSchema: ToolParameters | undefined;
  protected readonly config: BaseAgentConfig;

  constructor(config: BaseAgentConfig) {
    this.name = config.name;
    this.description = config.description ?? '';
    this.subAgents = config.subAgents ?? [];
    this.inputSchema = config.inputSchema;
    this.config = config;
  }

  /** This agent or one below it, by name. */
  findAgent(name: string): BaseAgent | undefined {
    if (this.name === name) return this;
    for (const sub of this.subAgents) {
      const found = sub.findAgent(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Runs this agent as a sub-agent of the one whose context it is: yield what it yields. */
  async *runAsync(
    context: CustomContext,
  ): AsyncGenerator<CustomYield, CustomReply, CustomReply | undefined> {
    return yield* context.run(this.name);
  }

  // oxlint-disable-next-line require-yield -- it is there to be overridden
  protected async *runAsyncImpl(_context: CustomContext): AsyncGenerator<AgentYield, void, never> {
    throw new InvalidInputError('agent', `"${this.name}" must override runAsyncImpl.`);
  }

  /** The agent's net. The runner asks for it. @throws InvalidInputError, NetBuildError */
  async compile(compileContext: CompileContext): Promise<Agent> {
    const subAgents = await compileAgents(this.subAgents, compileContext);
    return custom({
      name: this.name,
      description: this.description,
      subAgents,
      callbacks: toNetCallbacks(this, this.config, toToolInfo, compileContext),
      run: (context) => toCustomYields(this.runAsyncImpl(context)),
    });
  }
}

export async function compileAgents(
  agents: readonly BaseAgent[],
  context: CompileContext,
): Promise<readonly Agent[]> {
  const compiled: Agent[] = [];
  for (const agent of agents) compiled.push(await agent.compile(context));
  return compiled;
}

function toToolInfo(name: string): { readonly name: string; readonly description: string } {
  return { name, description: '' };
}

/** What an agent yields as the net takes it. */
async function* toCustomYields(
  run: AsyncGenerator<AgentYield, void, never>,
): AsyncGenerator<CustomYield, void, CustomReply | undefined> {
  try {
    let reply: CustomReply | undefined;
    for (;;) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a run of a sub-agent takes the reply; nobody else looks at it
      const next = await run.next(reply as never);
      if (next.done === true) return;
      reply = yield next.value instanceof NodeEvent ? toYieldedEvent(next.value) : next.value;
    }
  } finally {
    // The agent cleans up when it is ended between two yields.
    await run.return();
  }
}
