import type { Json, JsonObject } from '../core/index.ts';
import type {
  ManagedAgent,
  ManagedAgentDef,
  PermissionMode,
  ToolConfig,
} from '../managed/index.ts';
import { TOOLSET_TOOLS } from './agent-schemas.ts';
import type {
  AgentCreate,
  AgentUpdate,
  ToolRule,
  ToolsetTool,
  WireCoordinator,
  WireMcpToolset,
  WireModel,
  WireTool,
  WireToolset,
} from './agent-schemas.ts';
import { changedMetadata, toWireTime } from './wire-schemas.ts';

const FILE_TOOLS: readonly ToolsetTool[] = ['edit', 'read', 'write', 'glob', 'grep'];

/** A definition of the wire as the runtime's own. */
export function toDefinition(agent: AgentCreate): JsonObject {
  const { name, model, system, description, metadata, skills } = agent;
  const tools = agent.tools ?? [];
  const rules = Object.fromEntries(tools.flatMap((tool) => Object.entries(rulesOf(tool))));
  const servers = (agent.mcp_servers ?? []).map(({ name: server, url }) => ({
    name: server,
    transport: 'http',
    url,
  }));
  return {
    name,
    model: modelRefOf(model),
    ...(system != null && system !== '' && { system }),
    ...(description != null && description !== '' && { description }),
    ...(tools.length > 0 && { tools: tools.flatMap(ownTools) }),
    ...(servers.length > 0 && { mcp_servers: servers }),
    ...(skills != null && { skills: skills.map(({ skill_id }) => ({ skill_id })) }),
    ...(Object.keys(rules).length > 0 && {
      permission_policy: { default: 'auto_approve', tools: { ...rules } },
    }),
    ...(agent.multiagent != null && { agents: calledAgents(agent.multiagent) }),
    ...(metadata != null && { metadata: { ...metadata } }),
  };
}

/** The definition there is, with what an update says of it. */
export function changedDefinition(present: ManagedAgent, update: AgentUpdate): JsonObject {
  const { version: _, metadata, ...said } = update;
  const shown = toWireAgent(present);
  const pairs = changedMetadata(present.definition.metadata ?? {}, metadata ?? {});
  const merged = { ...shown, ...withoutUndefined(said), metadata: pairs };
  // The view of a definition reads back as that definition: what is not named stays.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `said` was read with the schema, `shown` is made in its shape
  const definition = toDefinition(merged as unknown as AgentCreate);
  // Where its model is was said in full: the view keeps nothing of it but the name.
  return update.model === undefined
    ? { ...definition, model: present.definition.model }
    : definition;
}

/** An agent as clients read it. */
export function toWireAgent(agent: ManagedAgent): JsonObject {
  const { archivedAt, createdAt, updatedAt } = agent;
  return {
    ...toWireSnapshot(agent),
    metadata: { ...agent.definition.metadata },
    created_at: toWireTime(createdAt),
    updated_at: toWireTime(updatedAt),
    archived_at: archivedAt === undefined ? null : toWireTime(archivedAt),
  };
}

/** What a session shows of its agent. */
export function toWireSnapshot({ id, version, definition }: ManagedAgent): JsonObject {
  const { name, description, system, mcp_servers: servers = [], skills = [] } = definition;
  return {
    id,
    type: 'agent',
    version,
    name,
    description: description ?? null,
    system: system ?? null,
    model: { id: modelIdOf(definition.model), speed: 'standard' },
    tools: toolsetView(definition),
    mcp_servers: servers.map((one) => ({ type: 'url', name: one.name, url: one.url ?? '' })),
    skills: skills.map(({ skill_id }) => ({ type: 'custom', skill_id, version: 'latest' })),
    multiagent: coordinatorView(definition),
    execution_identity: { type: 'service_account' },
  };
}

/** Whom a definition of the wire names as its agents. */
export function calledAgents({
  agents,
}: WireCoordinator): readonly { readonly agent_id: string; readonly version?: number }[] {
  return agents.map((one) => {
    if (typeof one === 'string') return { agent_id: one };
    return { agent_id: one.id, ...(one.version != null && { version: one.version }) };
  });
}

function coordinatorView({ agents }: ManagedAgentDef): Json {
  if (agents === undefined) return null;
  return {
    type: 'coordinator',
    agents: agents.map(({ agent_id: id, version = 1 }) => ({ type: 'agent', id, version })),
  };
}

function ownTools(tool: WireTool): readonly ToolJson[] {
  switch (tool.type) {
    case 'custom':
      return [
        {
          type: 'custom',
          name: tool.name,
          description: tool.description,
          input_schema: tool.input_schema,
        },
      ];
    case 'builtin':
      return [{ type: 'builtin', name: tool.name }];
    case 'mcp_toolset':
      return [];
    default: {
      const on = TOOLSET_TOOLS.filter((one) => isEnabled(configOf(tool, one)));
      return [
        ...(on.includes('bash') ? [{ type: 'bash' }] : []),
        ...(on.some((one) => FILE_TOOLS.includes(one)) ? [{ type: 'filesystem' }] : []),
        ...(on.includes('web_fetch') ? [{ type: 'web_fetch' }] : []),
        ...(on.includes('web_search') ? [{ type: 'web_search' }] : []),
      ];
    }
  }
}

type ToolJson = { readonly [key: string]: Json };

/** What the policy must say of a tool that is not simply allowed. */
function rulesOf(tool: WireTool): Readonly<Record<string, PermissionMode>> {
  if (tool.type === 'agent_toolset_20260401') {
    const rules = TOOLSET_TOOLS.map((one) => [one, modeOf(configOf(tool, one))] as const);
    return Object.fromEntries(rules.filter(([, mode]) => mode !== 'auto_approve'));
  }
  if (tool.type !== 'mcp_toolset') return {};
  // Tools of others are asked about, unless the definition says otherwise.
  const whole = modeOf(mcpConfig(tool, undefined));
  const single = (tool.configs ?? []).map(
    (one) => [one.name, modeOf(mcpConfig(tool, one))] as const,
  );
  return Object.fromEntries([[tool.mcp_server_name, whole] as const, ...single]);
}

function configOf({ configs, default_config: general }: WireToolset, tool: ToolsetTool): ToolRule {
  const own = (configs ?? []).find(({ name }) => name === tool);
  return {
    enabled: own?.enabled ?? general?.enabled,
    permission_policy: own?.permission_policy ?? general?.permission_policy,
  };
}

function mcpConfig(
  { default_config: general }: WireMcpToolset,
  own: ToolRule | undefined,
): ToolRule {
  return {
    enabled: own?.enabled ?? general?.enabled,
    permission_policy: own?.permission_policy ??
      general?.permission_policy ?? { type: 'always_ask' },
  };
}

function isEnabled({ enabled }: ToolRule): boolean {
  return enabled !== false;
}

/** Where the wire leaves it to a judge, a person is asked: the answer that cannot be wrong. */
function modeOf(config: ToolRule): PermissionMode {
  if (!isEnabled(config)) return 'deny';
  const type = config.permission_policy?.type ?? 'always_allow';
  return type === 'always_allow' ? 'auto_approve' : 'prompt';
}

function toolsetView(definition: ManagedAgentDef): readonly Json[] {
  const { tools = [], mcp_servers: servers = [] } = definition;
  const inToolset = tools.filter(({ type }) =>
    ['bash', 'filesystem', 'web_fetch', 'web_search'].includes(type),
  );
  const others = tools.filter((one) => !inToolset.includes(one));
  return [
    ...(inToolset.length > 0 ? [toolsetOf(inToolset, definition)] : []),
    ...others.map((one): Json => ({ ...one })),
    ...servers.map((server): Json => mcpView(server.name, definition)),
  ];
}

function toolsetOf(own: readonly ToolConfig[], definition: ManagedAgentDef): Json {
  const has = (type: string): boolean => own.some((one) => one.type === type);
  const configs = TOOLSET_TOOLS.map((name) => {
    const mode = modeIn(definition, name, FILE_TOOLS.includes(name) ? 'filesystem' : name);
    const isThere = has(FILE_TOOLS.includes(name) ? 'filesystem' : name);
    return { type: name, name, ...configView(isThere ? mode : 'deny') };
  });
  return {
    type: 'agent_toolset_20260401',
    default_config: configView('auto_approve'),
    configs,
  };
}

function mcpView(server: string, definition: ManagedAgentDef): Json {
  const { permission_policy: policy, tools = [], mcp_servers: servers = [] } = definition;
  const known = new Set<string>([
    ...TOOLSET_TOOLS,
    'filesystem',
    ...servers.map(({ name }) => name),
    ...tools.flatMap((one) => ('name' in one ? [one.name] : [])),
  ]);
  const single = Object.entries(policy?.tools ?? {}).filter(([name]) => !known.has(name));
  return {
    type: 'mcp_toolset',
    mcp_server_name: server,
    default_config: configView(modeIn(definition, server, server)),
    configs: single.map(([name, mode]) => ({ name, ...configView(mode) })),
  };
}

function modeIn(
  { permission_policy: policy }: ManagedAgentDef,
  tool: string,
  group: string,
): PermissionMode {
  return policy?.tools?.[tool] ?? policy?.tools?.[group] ?? policy?.default ?? 'auto_approve';
}

function configView(mode: PermissionMode): JsonObject {
  return {
    enabled: mode !== 'deny',
    permission_policy: { type: mode === 'prompt' ? 'always_ask' : 'always_allow' },
  };
}

/** A model of the wire as the runtime's own reference. */
export function modelRefOf(model: WireModel): Json {
  if (typeof model === 'string') return model;
  if ('id' in model) return model.id;
  const { base_url } = model;
  return {
    provider: model.provider,
    model: model.model,
    ...(base_url !== undefined && { baseUrl: base_url }),
  };
}

function modelIdOf(model: ManagedAgentDef['model']): string {
  if (typeof model === 'string') return model;
  return typeof model.model === 'string' ? model.model : model.model.model;
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
