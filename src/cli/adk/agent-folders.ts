import { relative } from 'node:path';
import { App } from '../../adk/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import { deriveAgentId } from '../../managed/internal.ts';
import { AgentModuleError } from '../loading/agent-module-error.ts';
import type { RejectedExport } from '../loading/exported-agents.ts';
import { NO_AGENTS } from '../serve/served-agents.ts';
import type { ServedAgents, ServedCode } from '../serve/served-agents.ts';
import type { AgentFolder } from './agent-file.ts';
import { copyApp } from './copy-app.ts';
import { loadRootAgent } from './root-agent.ts';

/**
 * Loads the agents of several folders. As in ADK, each is an app with the name of its folder, and one that cannot be loaded
 * is left out.
 * @throws AgentModuleError if none can be loaded, or two folders have names with the same id
 */
export async function loadAgentFolders(
  folder: string,
  agents: readonly AgentFolder[],
  cwd: string,
): Promise<ServedAgents> {
  const code: ServedCode[] = [];
  const leftOut: RejectedExport[] = [];
  // One after the other, because modules run when they are loaded.
  for (const { name, file } of agents) {
    const source = await openFolder(name, relative(cwd, file), cwd);
    if (!(source instanceof App)) {
      leftOut.push({ label: name, reason: `cannot be loaded: ${source.message}` });
      continue;
    }
    const id = deriveAgentId(name);
    if (code.some((one) => one.id === id))
      throw new AgentModuleError(
        folder,
        'same_id',
        `has two folders whose agents have the id "${id}". Rename one of them.`,
        { found: agents.map((one) => one.name) },
      );
    code.push({ id, kind: 'app', source });
  }
  if (code.length > 0) return { ...NO_AGENTS, code, leftOut };
  throw new AgentModuleError(
    folder,
    'failed',
    `has no agent that can be loaded. ${leftOut.map(({ label, reason }) => `${label} ${reason}`).join(' ')}`,
    { found: agents.map(({ name }) => name) },
  );
}

async function openFolder(
  name: string,
  file: string,
  cwd: string,
): Promise<App | AgentModuleError | InvalidInputError> {
  try {
    const { app } = await loadRootAgent(file, cwd);
    return copyApp(app, { name });
  } catch (error) {
    if (error instanceof AgentModuleError || error instanceof InvalidInputError) return error;
    throw error;
  }
}
