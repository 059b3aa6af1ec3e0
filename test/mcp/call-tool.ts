import {
  openToolContext,
  type Tool,
  type ToolAnswer,
  type Toolset,
} from '../../src/tools/index.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (text: string) => void;
  readonly answer?: ToolAnswer;
}

/** Runs a tool of a toolset as a session would, with arguments that its schema accepts. */
export async function callTool(
  set: Toolset,
  name: string,
  args: object = {},
  { signal = new AbortController().signal, progress = () => undefined, answer }: CallOptions = {},
): Promise<unknown> {
  const tool = findTool(set, name);
  const parsed = tool.parse(args);
  if (!parsed.ok) throw new Error(parsed.message);
  const { context } = openToolContext({
    signal,
    progress,
    firingId: 'f',
    attempt: 1,
    callId: 'c',
    invocationId: 'e-1',
    agentName: 'a',
    sessionKey: { appName: 'a', userId: 'u', sessionId: 's' },
    snapshot: { get: () => undefined },
    ...(answer !== undefined && { answer }),
  });
  return tool.execute(parsed.value, context);
}

export function findTool(set: Toolset, name: string): Tool {
  const found = set.tools().find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`There is no tool "${name}".`);
  return found;
}
