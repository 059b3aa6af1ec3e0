import { checkAgent, checkAgentList } from '../../agents/internal.ts';
import type { Agent } from '../../agents/index.ts';
import { isRecord } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import { closeInTime } from '../scheduling/close-in-time.ts';
import type { CloseLimit } from '../scheduling/close-in-time.ts';
import { CloseTimeoutError } from '../session/runtime-errors.ts';
import type { AgentSource, AgentSourceHost, OpenAgentSource } from './agent-source.ts';

/**
 * Checks the option `agents` of a runtime.
 * @throws InvalidInputError for an entry that is neither an agent nor a source of agents
 */
export function checkAgentEntries(entries: readonly (Agent | AgentSource)[]): void {
  checkAgentList('agents', entries);
  for (const [index, entry] of entries.entries())
    if (!isAgentSource(entry)) checkAgent(`agents[${index}]`, entry);
}

/**
 * Opens the sources in `agents`, in their order. If one fails, those that are open are closed.
 * @throws InvalidInputError if two agents have the same name; the errors of the sources
 */
export async function openAgentSources(
  entries: readonly (Agent | AgentSource)[],
  host: AgentSourceHost,
  closeTimeoutMs: number,
): Promise<readonly OpenAgentSource[]> {
  const opened: OpenAgentSource[] = [];
  try {
    for (const entry of entries)
      opened.push(isAgentSource(entry) ? await entry.open(host) : { agents: [entry] });
    checkNames(opened.flatMap(({ agents }) => agents));
    return opened;
  } catch (error) {
    const { clock, onError } = host;
    await closeAgentSources(opened, { clock, onError, timeoutMs: closeTimeoutMs });
    throw error;
  }
}

/**
 * Closes sources, in the order of the option `agents`, at the same time. Their errors go to `onError`, and a
 * `CloseTimeoutError` for each that does not close in time.
 */
export async function closeAgentSources(
  sources: readonly OpenAgentSource[],
  limit: CloseLimit,
): Promise<void> {
  await Promise.all(
    sources.map(async ({ close, agents }, index) => {
      if (close === undefined || (await closeInTime(close, limit))) return;
      const names = agents.map(({ name }) => `"${name}"`).join(', ');
      const description = `the source of ${names === '' ? 'agents found by name' : names}`;
      limit.onError(new CloseTimeoutError(`agents[${index}]`, description, limit.timeoutMs));
    }),
  );
}

/** True for a source of agents, as opposed to an agent. */
export function isAgentSource(entry: Agent | AgentSource): entry is AgentSource {
  return isRecord(entry) && typeof entry['open'] === 'function';
}

function checkNames(agents: readonly Agent[]): void {
  const byName = new Map<string, Agent>();
  for (const one of agents.flatMap((agent) => [agent, ...agent.children.values()])) {
    const other = byName.get(one.name);
    if (other !== undefined && other !== one)
      throw new InvalidInputError(
        'agents',
        `must have different names: two agents are named "${one.name}". Rename one.`,
      );
    byName.set(one.name, one);
  }
}
