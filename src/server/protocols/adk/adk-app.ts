import { AgentNotFoundError } from '../../../managed/index.ts';
import type { ManagedAgent } from '../../../managed/index.ts';
import { deriveAgentId } from '../../../managed/internal.ts';
import { describeAgent } from '../../../agents/index.ts';
import type { Agent, AgentDescription } from '../../../agents/index.ts';
import { HttpError, notFound } from '../../http/http-error.ts';
import { getWorkspaceAgent, listCodeAgentIds } from '../../routes/workspace-agents.ts';
import type { ServerContext } from '../../routing/server-context.ts';

/** An agent as an app of ADK. */
export interface AdkApp {
  /** The name of an agent from code; the id of another one. */
  readonly name: string;
  readonly agent: ManagedAgent;
}

/** Lists the apps of a workspace, by name. */
export async function listApps(
  { runtime, agents }: ServerContext,
  workspace: string,
): Promise<readonly AdkApp[]> {
  const apps: AdkApp[] = [];
  for (let page: string | undefined; ;) {
    const listed = await agents.list(
      workspace,
      { limit: 100, page },
      async ({ id }) => {
        const agent = await runtime.getAgent(id);
        return agent.archivedAt === undefined ? { name: toAppName(agent), agent } : undefined;
      },
      listCodeAgentIds(runtime),
    );
    apps.push(...listed.data);
    if (listed.next === null) break;
    page = listed.next;
  }
  return apps.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** @throws HttpError 404 */
export async function findApp(
  context: ServerContext,
  workspace: string,
  name: string,
): Promise<AdkApp> {
  const ids = name.startsWith('agent_') ? [name] : [deriveAgentId(name), name];
  for (const id of ids)
    try {
      const agent = await getWorkspaceAgent(context, workspace, id);
      return { name: toAppName(agent), agent };
    } catch (error) {
      const isMissing = error instanceof HttpError && error.status === 404;
      if (!isMissing && !(error instanceof AgentNotFoundError)) throw error;
    }
  throw notFound('app', name);
}

/** The agent of an app, with its net. */
export async function loadAppAgent(
  { runtime }: ServerContext,
  { agent: { id, version } }: AdkApp,
): Promise<{ readonly agent: Agent; readonly description: AgentDescription }> {
  const agent = await runtime.loadAgent(id, { version });
  return { agent, description: describeAgent(agent) };
}

export function toAppName(agent: ManagedAgent): string {
  return agent.source === 'code' ? agent.description.name : agent.id;
}
