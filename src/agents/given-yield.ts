import { decodeJson, encodeJson, InvalidInputError, parseContent } from '../core/index.ts';
import type { Content, Json, LogEntry, NodeInfo } from '../core/index.ts';
import type { CustomYield } from './custom-runs.ts';
import { noActions, parseActions } from './given-actions.ts';
import type { GivenActions, ShownActions } from './given-actions.ts';
import type { ConversationItem } from './places.ts';
import { branchOf, lineOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';

/** A yield that was read. */
export interface GivenYield {
  readonly content?: Content;
  readonly output?: Json;
  readonly actions: GivenActions;
}

/** Members of an event that the log sets by itself. */
const SET_BY_THE_LOG: readonly string[] = ['id', 'timestamp', 'invocationId', 'author', 'branch'];

/** @throws InvalidInputError naming the member that is unknown, malformed or cannot be honored */
export function parseYield(value: Exclude<CustomYield, { readonly runs: string }>): GivenYield {
  if (typeof value === 'string')
    return { content: { role: 'model', parts: [{ text: value }] }, actions: noActions };
  if (typeof value !== 'object' || value === null)
    throw new InvalidInputError(
      'yield',
      `must be text, content, or { content, actions, output }; it is ${String(value)}.`,
    );
  if ('parts' in value) return { ...spoken(value), actions: noActions };
  const { content, actions, output, ...others } = value;
  for (const [name, member] of Object.entries(others)) {
    if (SET_BY_THE_LOG.includes(name) || member === undefined || member === false) continue;
    throw new InvalidInputError(
      `yield.${name}`,
      'is not honored. An agent yields text, content, or { content, actions, output }.',
    );
  }
  return {
    ...(content !== undefined && spoken(content)),
    ...(output !== undefined && { output: decodeJson(encodeJson(output, 'output'), 'output') }),
    actions: parseActions(actions),
  };
}

/** Content without parts says nothing. */
function spoken(content: Content): Pick<GivenYield, 'content'> {
  if (content.parts.length === 0) return {};
  return { content: parseContent({ ...content, role: 'model' }, { unknownParts: 'keep' }) };
}

/** What a yield says in the conversation and in the log: one event, or none when there is nothing to show. */
export function shownYield(
  speaking: Speaking,
  invocationId: string,
  {
    content,
    output,
    shown,
    node,
  }: Omit<GivenYield, 'actions'> & {
    readonly shown: ShownActions;
    readonly node: NodeInfo | undefined;
  },
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  const acts = Object.keys(shown).length > 0;
  if (content === undefined && output === undefined && !acts) return { said: [], events: [] };
  return {
    said: content === undefined ? [] : [lineOf(speaking, { invocationId, content })],
    events: [
      {
        type: 'agent.message',
        invocationId,
        author: speaking.agentName,
        ...branchOf(speaking),
        content: content ?? { role: 'model', parts: [] },
        ...(output !== undefined && { output }),
        ...(acts && { actions: shown }),
        ...(node !== undefined && { nodeInfo: node }),
      },
    ],
  };
}
