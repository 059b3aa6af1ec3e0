import { type Agent, START } from '../../agents/index.ts';
import type { NodeLike } from '../workflow/node.ts';
import { Workflow } from '../workflow/workflow.ts';
import { InvalidInputError } from '../../core/index.ts';
import { App } from '../app/app.ts';
import { BaseAgent } from '../agents/base-agent.ts';
import { node } from '../workflow/node.ts';
import type { RunnerOptions } from './runner-options.ts';

/**
 * Creates the app from the options.
 * @throws InvalidInputError if the options contradict each other
 */
export function resolveApp(options: RunnerOptions): App {
  const { app, agent, node: nodeLike, appName, plugins, onWarning } = options;
  const roots = [app, agent, nodeLike].filter((one) => one !== undefined);
  if (roots.length !== 1)
    throw new InvalidInputError(
      'app',
      `pass exactly one of app, agent and node; there are ${roots.length}.`,
    );
  if (plugins !== undefined)
    onWarning?.('Runner({ plugins }) is deprecated: pass them to App({ plugins }).');
  if (app !== undefined) {
    if (plugins === undefined) return app;
    const { name, rootAgent, contextCacheConfig, resumabilityConfig, eventsCompactionConfig } = app;
    const { outcomes } = app;
    return new App({
      name,
      rootAgent,
      plugins: [...app.plugins, ...plugins],
      contextCacheConfig,
      resumabilityConfig,
      eventsCompactionConfig,
      outcomes,
    });
  }
  const root = agent ?? nodeLike;
  if (root === undefined || appName === undefined)
    throw new InvalidInputError('appName', 'is required with agent and node.');
  return new App({ name: appName, rootAgent: toRootAgent(root, appName), plugins: plugins ?? [] });
}

function toRootAgent(root: NodeLike | Agent, appName: string): BaseAgent {
  if (root instanceof BaseAgent) return root;
  if (typeof root === 'object' && 'compiled' in root) return new NetAgent(root);
  const rootNode = node(root);
  const name = rootNode.name === appName ? `${appName}_workflow` : appName;
  return new Workflow({ name, edges: [[START, rootNode]] });
}

/** An agent that is already compiled to a net. */
class NetAgent extends BaseAgent {
  readonly #agent: Agent;

  constructor(agent: Agent) {
    super({ name: agent.name, description: agent.description });
    this.#agent = agent;
  }

  override async compile({ plugins }: Parameters<BaseAgent['compile']>[0]): Promise<Agent> {
    if (plugins.length === 0) return this.#agent;
    throw new InvalidInputError(
      'plugins',
      `cannot be added to "${this.name}", which is already compiled: create it with new LlmAgent().`,
    );
  }
}
