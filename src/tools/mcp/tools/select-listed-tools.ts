import type { Tool as RemoteTool } from '@modelcontextprotocol/client';
import { toolNames } from '../../../models/index.ts';
import { InvalidToolError } from '../../schema/invalid-tool-error.ts';
import type { Tool } from '../../tool/tool.ts';
import type { RefusedTool } from '../vocabulary/mcp-toolset.ts';

const TAKEN_BY_SERVER = 'The server has a tool with this name, which takes precedence.';
/** Descriptions are part of every prompt. */
const MAX_DESCRIPTION_CHARACTERS = 50_000;

export interface ToolSelection {
  readonly prefix: string;
  /** Entries of the listing that are not valid tools. */
  readonly invalid: readonly RefusedTool[];
  /** Tools of Petrichor for this server. A listed tool of the same name takes precedence. */
  readonly ownTools: readonly Tool[];
  /** Wraps a listed tool, under the name that models use. It may throw. */
  readonly toTool: (name: string, tool: RemoteTool) => Tool;
}

/** The tools of a listing that are offered to models, and those that are not, with the reason. */
export function selectListedTools(
  listed: readonly RemoteTool[],
  { prefix, invalid, ownTools, toTool }: ToolSelection,
): { readonly tools: readonly Tool[]; readonly refused: readonly RefusedTool[] } {
  const listedNames = new Set(listed.map(({ name }) => name));
  const freeNames = ownTools.map(({ name }) => name).filter((name) => !listedNames.has(name));
  const names = toolNames([...listedNames, ...freeNames].map((name) => prefix + name));
  const tools = new Map<string, Tool>();
  const refused: RefusedTool[] = [...invalid];
  for (const remote of listed) {
    try {
      checkListed(remote, tools);
      const name = names.toProvider(prefix + remote.name);
      const renamed = name !== remote.name && { originalName: remote.name };
      tools.set(remote.name, { ...toTool(name, remote), ...renamed });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      refused.push({ name: remote.name, reason });
    }
  }
  for (const own of ownTools) {
    const name = names.toProvider(prefix + own.name);
    if (listedNames.has(own.name)) refused.push({ name: own.name, reason: TAKEN_BY_SERVER });
    else tools.set(own.name, { ...own, name, declaration: { ...own.declaration, name } });
  }
  return { tools: [...tools.values()], refused };
}

/**
 * Rejects a tool that a model could not call or a prompt could not hold.
 * @throws InvalidToolError
 */
function checkListed(
  { name, execution, description = '' }: RemoteTool,
  tools: ReadonlyMap<string, Tool>,
): void {
  if (tools.has(name)) {
    throw new InvalidToolError(
      name,
      'the server lists two tools with this name. The first is used.',
    );
  }
  const { length } = description;
  if (length > MAX_DESCRIPTION_CHARACTERS) {
    const problem = `its description has ${length} characters; at most ${MAX_DESCRIPTION_CHARACTERS} are allowed.`;
    throw new InvalidToolError(name, problem);
  }
  if (execution?.taskSupport === 'required') {
    throw new InvalidToolError(
      name,
      'it runs only as a task of the 2025 protocol, which is not supported.',
    );
  }
}
