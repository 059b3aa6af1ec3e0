import { InvalidInputError } from '../../core/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { AgentSource } from '../../runtime/index.ts';
import { AgentModuleError } from './agent-module-error.ts';
import type { ExportedAgent } from './exported-agents.ts';

/** An exported agent that a runtime can run. */
export type RunnableExport = Exclude<ExportedAgent, { readonly kind: 'definition' }>;

/**
 * Converts an exported agent to what `openRuntime` takes in `agents`. An ADK agent without an app gets one with its name.
 * @throws AgentModuleError if its name is not possible for an app
 */
export async function toAgentSource(
  file: string,
  { kind, label, value }: RunnableExport,
): Promise<Agent | AgentSource> {
  if (kind !== 'adk_agent') return value;
  // Loaded on demand: most modules have no ADK agents.
  const { App } = await import('../../adk/index.ts');
  try {
    return new App({ name: value.name, rootAgent: value });
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new AgentModuleError(
      file,
      'failed',
      `exports ${label}, an ADK agent that cannot be an app: ${error.message} Export an App with another name.`,
      { cause: error },
    );
  }
}
