import type { Content, Json, LogEntry, NodeInfo } from '../core/index.ts';
import type { NodeTaken } from './node-event.ts';
import type { ConversationItem } from './places.ts';
import { branchOf, lineOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';
import type { NodeStep } from './workflow-places.ts';

/** The event of what a node gives, and what is heard of it. */
export function sayingOf(
  speaking: Speaking,
  { invocationId, path, runId }: Pick<NodeStep, 'invocationId' | 'path' | 'runId'>,
  { content, output, route, shown }: NodeTaken,
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  const actions = { ...shown, ...(route !== undefined && { route }) };
  const acts = Object.keys(actions).length > 0;
  if (content === undefined && output === undefined && !acts) return { said: [], events: [] };
  const words: Content = { ...(content ?? { parts: [] }), role: 'model' };
  return {
    said: words.parts.length === 0 ? [] : [lineOf(speaking, { invocationId, content: words })],
    events: [
      {
        type: 'agent.message',
        invocationId,
        author: speaking.agentName,
        ...branchOf(speaking),
        content: words,
        ...(output !== undefined && { output }),
        nodeInfo: nodeInfoOf(speaking, { path, runId }),
        ...(acts && { actions }),
      },
    ],
  };
}

export function nodeInfoOf(
  { agentName }: Speaking,
  { path, runId }: Pick<NodeStep, 'path' | 'runId'>,
): NodeInfo {
  return { path, runId, name: agentName };
}

/** Something given to a model or a user, as text. */
export function textContent(value: Json): Content {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { role: 'model', parts: [{ text }] };
}
