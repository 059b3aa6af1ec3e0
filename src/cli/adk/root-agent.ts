import { resolve } from 'node:path';
import { App } from '../../adk/index.ts';
import { AgentModuleError } from '../loading/agent-module-error.ts';
import { findExportedAgents } from '../loading/exported-agents.ts';
import { importModule } from '../loading/import-module.ts';

/** What a module exports to the commands of ADK. An agent is the root of an app with its name. */
export interface RootAgent {
  readonly name: string;
  readonly app: App;
}

/** Loads `rootAgent`, or the only ADK agent or app that a module exports. @throws AgentModuleError */
export async function loadRootAgent(file: string, cwd: string): Promise<RootAgent> {
  const exported = await importModule(file, resolve(cwd, file));
  const { agents } = findExportedAgents(exported);
  const roots = agents.flatMap((one): readonly (RootAgent & { readonly label: string })[] => {
    const { name, label } = one;
    if (one.kind === 'app') return [{ name, label, app: one.value }];
    return one.kind === 'adk_agent'
      ? [{ name, label, app: new App({ name, rootAgent: one.value }) }]
      : [];
  });
  const named = roots.find(({ label }) => ['rootAgent', 'root_agent', 'app'].includes(label));
  const [only, ...more] = roots;
  if (named !== undefined) return named;
  if (only !== undefined && more.length === 0) return only;
  const found = agents.map(({ label }) => label);
  throw new AgentModuleError(
    file,
    only === undefined ? 'no_agent' : 'several_agents',
    only === undefined
      ? 'exports no agent or App of petrichor/adk: export it as rootAgent. For other agents, use petrichor run.'
      : `exports several agents: ${found.join(', ')}. Name the one to run rootAgent.`,
    { found },
  );
}
