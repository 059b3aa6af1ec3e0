import type { Content } from '../../core/index.ts';
import { toContextPolicy } from '../../agents/internal.ts';
import type { AgentDefinition, ContextInfo, ContextPolicy } from '../../agents/index.ts';

/** Limits the conversation as the run config and the agent's options require. */
export function createContextPolicy(
  includeContents: 'default' | 'none',
  agentContext: AgentDefinition['context'],
): ContextPolicy {
  const policy = agentContext === undefined ? undefined : toContextPolicy(agentContext);
  return async (contents, info) => {
    const recent = readNumRecentEvents(info);
    const visible = includeContents === 'none' ? keepFromLastMessage(contents, 0) : contents;
    const limited = recent === undefined ? visible : keepFromLastMessage(visible, recent);
    return policy?.(limited, info) ?? limited;
  };
}

function readNumRecentEvents({ runConfig }: ContextInfo): number | undefined {
  const { numRecentEvents } = runConfig;
  return typeof numRecentEvents === 'number' ? numRecentEvents : undefined;
}

/**
 * Returns the user's last message, everything after it, and `before` contents before it. The result never starts with a
 * tool result without its call.
 */
export function keepFromLastMessage(
  contents: readonly Content[],
  before: number,
): readonly Content[] {
  const last = contents.findLastIndex(({ role }) => role === 'user');
  let from = Math.max(0, (last === -1 ? contents.length - 1 : last) - before);
  while (contents[from]?.role === 'tool') from++;
  return contents.slice(from);
}
