import { resolve } from 'node:path';
import type { Agent } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { systemClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { AgentModuleError, createCycleError } from './agent-module-error.ts';
import { findExportedAgents } from './exported-agents.ts';
import type { RejectedExport } from './exported-agents.ts';
import { formatExports, formatRejected } from './format-exports.ts';
import { importModule } from './import-module.ts';
import { selectNamed } from './select-named.ts';
import { toAgentSource, type RunnableExport } from './to-agent-source.ts';

export interface AgentSelector {
  readonly file: string;
  /** The folder against which a relative `file` is resolved. */
  readonly cwd: string;
  /** The agent to load, if the module exports several. */
  readonly name?: string | undefined;
}

/** An agent of a module, as `openRuntime` takes it in `agents`. */
export interface LoadedAgent {
  readonly name: string;
  readonly source: Awaited<ReturnType<typeof toAgentSource>>;
}

/**
 * Loads the agent that a module exports, by default or by name: `agent()` or another kind, or an ADK app or agent. This
 * runs the module.
 * @throws AgentModuleError if the module cannot be loaded, or exports no such agent or several
 */
export async function loadAgentSource({ file, cwd, name }: AgentSelector): Promise<LoadedAgent> {
  const exported = await importModule(file, resolve(cwd, file));
  const { agents: exportedAgents, unreadable, cyclic } = findExportedAgents(exported);
  const [cycle] = cyclic;
  if (cycle !== undefined) throw createCycleError(file, cycle);
  const agents = new Map(
    exportedAgents.flatMap((agent): [string, RunnableExport][] =>
      agent.kind === 'definition' ? [] : [[agent.name, agent]],
    ),
  );
  const note = formatRejected(unreadable);
  const selected = selectNamed(file, 'agent', [...agents.values()], { name, note });
  if (selected === undefined) throw createNoAgentError(file, exported, unreadable);
  return { name: selected.name, source: await toAgentSource(file, selected) };
}

/**
 * Loads the agent that a module exports, as a net. The models of an ADK app are named, and not called.
 * @throws AgentModuleError if the module cannot be loaded, or exports no such agent or several
 */
export async function loadAgent(selector: AgentSelector): Promise<Agent> {
  const { name, source } = await loadAgentSource(selector);
  if (!('open' in source)) return source;
  const store = new MemoryStore();
  const opened = await source.open({
    app: name,
    store,
    clock: systemClock,
    resolveModel: async () => new ScriptedModel([]),
    onError: () => {},
  });
  await opened.close?.();
  await store.close();
  const [agent] = opened.agents;
  if (agent !== undefined) return agent;
  throw new AgentModuleError(selector.file, 'no_agent', `exports "${name}", which has no agent.`);
}

function createNoAgentError(
  file: string,
  exported: Readonly<Record<string, unknown>>,
  unreadable: readonly RejectedExport[],
): AgentModuleError {
  const sentence = `exports no agent, but ${formatExports(exported)}.${formatRejected(unreadable)} Export what agent({ … }) returns, or an ADK App or agent.`;
  return new AgentModuleError(file, 'no_agent', sentence, { found: Object.keys(exported) });
}
