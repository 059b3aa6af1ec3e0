import type {
  CodeAgent,
  DefinedAgent,
  ManagedAgent,
  ManagedAgentDef,
  PermissionMode,
  ToolConfig,
} from '../../managed/index.ts';
import { TOOLSET_TOOLS } from './agent-schemas.ts';
import type { Wire } from './component.ts';
import { isFileTool, listMcpToolRules, toPolicyJson } from './tool-rules.ts';
import { toWireTime } from './wire-schemas.ts';

/** Converts an agent to the format of the HTTP API. */
export function toWireAgent(agent: ManagedAgent): Wire<'Agent'> {
  const { archivedAt, createdAt, updatedAt } = agent;
  return {
    ...toWireAgentSnapshot(agent),
    metadata: agent.source === 'code' ? {} : { ...agent.definition.metadata },
    created_at: toWireTime(createdAt),
    updated_at: toWireTime(updatedAt),
    archived_at: archivedAt === undefined ? null : toWireTime(archivedAt),
  };
}

/** The agent as it appears in a session. */
export function toWireAgentSnapshot(agent: ManagedAgent): Wire<'SessionAgent'> {
  return agent.source === 'code' ? toWireCodeAgent(agent) : toWireDefinedAgent(agent);
}

function toWireCodeAgent({ id, version, description }: CodeAgent): Wire<'SessionAgent'> {
  const [model = ''] = description.models;
  return {
    id,
    type: 'agent',
    version,
    source: 'code',
    net_hash: description.netHash,
    name: description.name,
    description: description.description === '' ? null : description.description,
    system: description.instruction ?? null,
    model: { id: model, speed: 'standard' },
    tools: description.tools.map((tool) => ({
      type: 'code',
      name: tool.name,
      description: tool.description,
      input_schema: tool.parameters,
      approval: tool.approval,
      external: tool.external,
      read_only: tool.readOnly,
      idempotent: tool.idempotent,
      on_crash: tool.onCrash,
      timeout_ms: tool.timeoutMs,
    })),
    mcp_servers: [],
    skills: [],
    multiagent: null,
    execution_identity: { type: 'service_account' },
    permission_policy: null,
  };
}

/** An agent of which only the id is known. */
export function toWireUnknownAgent(id: string, version: number): Wire<'SessionAgent'> {
  return {
    id,
    type: 'agent',
    version,
    source: 'code',
    net_hash: null,
    name: id,
    description: null,
    system: null,
    model: { id: '', speed: 'standard' },
    tools: [],
    mcp_servers: [],
    skills: [],
    multiagent: null,
    execution_identity: { type: 'service_account' },
    permission_policy: null,
  };
}

function toWireDefinedAgent({ id, version, definition }: DefinedAgent): Wire<'SessionAgent'> {
  const { name, description, system, mcp_servers: servers = [], skills = [] } = definition;
  return {
    id,
    type: 'agent',
    version,
    source: 'definition',
    net_hash: null,
    name,
    description: description ?? null,
    system: system ?? null,
    model: { id: toModelId(definition.model), speed: 'standard' },
    tools: toWireTools(definition),
    mcp_servers: servers.map((one) => ({ type: 'url', name: one.name, url: one.url ?? '' })),
    skills: skills.map(({ skill_id }) => ({ type: 'custom', skill_id, version: 'latest' })),
    multiagent: toWireCoordinator(definition),
    execution_identity: { type: 'service_account' },
    permission_policy:
      definition.permission_policy === undefined
        ? null
        : toPolicyJson(definition.permission_policy),
  };
}

function toWireCoordinator({ agents }: ManagedAgentDef): Wire<'Coordinator'> | null {
  if (agents === undefined) return null;
  return {
    type: 'coordinator',
    agents: agents.map(({ agent_id: id, version = 1 }) => ({ type: 'agent', id, version })),
  };
}

function toWireTools(definition: ManagedAgentDef): readonly Wire<'StoredAgentTool'>[] {
  const { tools = [], mcp_servers: servers = [] } = definition;
  const inToolset = tools.filter(({ type }) =>
    ['bash', 'filesystem', 'web_fetch', 'web_search'].includes(type),
  );
  return [
    ...(inToolset.length > 0 ? [toWireToolset(inToolset, definition)] : []),
    ...tools.flatMap(toWireTool),
    ...servers.map((server) => toWireMcpToolset(server.name, definition)),
  ];
}

/** Shows a tool that is neither in the toolset nor of an MCP server. */
function toWireTool(tool: ToolConfig): readonly Wire<'StoredAgentTool'>[] {
  switch (tool.type) {
    case 'custom':
    case 'builtin':
      return [tool];
    case 'code_execution':
      return [{ type: tool.type }];
    default:
      return [];
  }
}

function toWireToolset(
  own: readonly ToolConfig[],
  definition: ManagedAgentDef,
): Wire<'StoredAgentToolset'> {
  const has = (type: string): boolean => own.some((one) => one.type === type);
  const configs = TOOLSET_TOOLS.map((name) => {
    const mode = findPermissionMode(definition, name, isFileTool(name) ? 'filesystem' : name);
    const isPresent = has(isFileTool(name) ? 'filesystem' : name);
    return { type: name, name, ...toWireToolConfig(isPresent ? mode : 'deny') };
  });
  return {
    type: 'agent_toolset_20260401',
    default_config: toWireToolConfig('auto_approve'),
    configs,
  };
}

function toWireMcpToolset(server: string, definition: ManagedAgentDef): Wire<'StoredMcpToolset'> {
  const { permission_policy: policy, tools = [], mcp_servers: servers = [] } = definition;
  const single = listMcpToolRules(policy, tools, servers);
  return {
    type: 'mcp_toolset',
    mcp_server_name: server,
    default_config: toWireToolConfig(findPermissionMode(definition, server, server)),
    configs: single.map((name) => ({
      name,
      ...toWireToolConfig(findPermissionMode(definition, name, server)),
    })),
  };
}

function toWireToolConfig(
  mode: PermissionMode,
): Pick<Wire<'StoredMcpToolset'>, 'default_config'>['default_config'] {
  return {
    enabled: mode !== 'deny',
    permission_policy: { type: mode === 'prompt' ? 'always_ask' : 'always_allow' },
  };
}

function toModelId(model: ManagedAgentDef['model']): string {
  if (typeof model === 'string') return model;
  return typeof model.model === 'string' ? model.model : model.model.model;
}

function findPermissionMode(
  { permission_policy: policy }: ManagedAgentDef,
  tool: string,
  group: string,
): PermissionMode {
  return policy?.tools?.[tool] ?? policy?.tools?.[group] ?? policy?.default ?? 'auto_approve';
}
