import { omitUndefined } from '../../core/internal.ts';
import type { PermissionPolicy, ToolConfig } from '../../managed/index.ts';
import { getToolName } from '../../managed/internal.ts';
import { TOOLSET_TOOLS } from './agent-schemas.ts';
import type { ToolsetTool } from './agent-schemas.ts';
import type { Wire } from './component.ts';

type FileTool = 'edit' | 'read' | 'write' | 'glob' | 'grep';

/** The tools of the toolset that one configuration, `filesystem`, covers. */
export const FILE_TOOLS: readonly ToolsetTool[] = ['edit', 'read', 'write', 'glob', 'grep'];

/** True if the tool is configured by `filesystem`. */
export function isFileTool(name: ToolsetTool): name is FileTool {
  return FILE_TOOLS.includes(name);
}

/** The names in a policy that are not the agent's own tools, but tools of its MCP servers. */
export function listMcpToolRules(
  policy: PermissionPolicy | undefined,
  tools: readonly ToolConfig[],
  servers: readonly { readonly name: string }[],
): readonly string[] {
  const knownNames = new Set<string>([
    ...TOOLSET_TOOLS,
    'filesystem',
    ...servers.map(({ name }) => name),
    ...tools.map(getToolName),
  ]);
  return Object.keys(policy?.tools ?? {}).filter((name) => !knownNames.has(name));
}

/** A permission policy as JSON. */
export function toPolicyJson({
  default: general,
  tools,
}: PermissionPolicy): Wire<'PermissionPolicy'> {
  return {
    default: general,
    ...omitUndefined({ tools: tools === undefined ? undefined : { ...tools } }),
  };
}
