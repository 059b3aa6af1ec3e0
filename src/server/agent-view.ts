import { InvalidInputError } from '../core/index.ts';
import type { Json, JsonObject } from '../core/index.ts';
import type {
  ManagedAgent,
  ManagedAgentDef,
  PermissionMode,
  PermissionPolicy,
  ToolConfig,
} from '../managed/index.ts';
import { nameOfTool } from '../managed/parse-agent-def.ts';
import { toMode, withToolRules } from '../managed/permission-policy.ts';
import type { ToolRule } from '../managed/permission-policy.ts';
import { TOOLSET_TOOLS } from './agent-schemas.ts';
import type {
  AgentCreate,
  AgentUpdate,
  ToolsetTool,
  WireCoordinator,
  WireModel,
  WireTool,
  WireToolset,
} from './agent-schemas.ts';
import { changedMetadata, toWireTime } from './wire-schemas.ts';

type FileTool = 'edit' | 'read' | 'write' | 'glob' | 'grep';

const FILE_TOOLS: readonly ToolsetTool[] = ['edit', 'read', 'write', 'glob', 'grep'];

/** A definition of the wire as the runtime's own. @throws InvalidInputError when two rules for one tool differ */
export function toDefinition(agent: AgentCreate): JsonObject {
  const { name, model, system, description, metadata, tools, mcp_servers: servers } = agent;
  const policy = policyWith(agent.permission_policy ?? undefined, tools ?? [], servers ?? []);
  checkServers(tools ?? [], servers ?? []);
  return {
    name,
    model: modelRefOf(model),
    ...(system != null && system !== '' && { system }),
    ...(description != null && description !== '' && { description }),
    ...(tools != null && { tools: ownToolsJson(tools) }),
    ...(servers != null && { mcp_servers: servers.map(ownServer) }),
    ...(agent.skills != null && { skills: agent.skills.map(ownSkill) }),
    ...(policy !== undefined && { permission_policy: policyJson(policy) }),
    ...(agent.multiagent != null && { agents: calledAgents(agent.multiagent) }),
    ...(metadata != null && { metadata: { ...metadata } }),
  };
}

/** The definition there is, with what an update says of it: what is not named stays. */
export function changedDefinition({ definition }: ManagedAgent, update: AgentUpdate): JsonObject {
  const { name, model, system, description, tools, mcp_servers: servers, skills } = update;
  const present =
    update.permission_policy ??
    (tools === undefined ? definition.permission_policy : keptPolicy(definition, tools ?? []));
  const policy = policyWith(present, tools ?? [], servers ?? []);
  checkServers(tools ?? [], servers ?? definition.mcp_servers ?? []);
  const pairs = changedMetadata(definition.metadata ?? {}, update.metadata ?? {});
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a definition is JSON; interfaces do not say so
    ...(definition as unknown as JsonObject),
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model: modelRefOf(model) }),
    ...(system !== undefined && { system: system === '' ? null : system }),
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...(tools !== undefined && { tools: ownToolsJson(tools ?? []) }),
    ...(servers !== undefined && { mcp_servers: (servers ?? []).map(ownServer) }),
    ...(skills !== undefined && { skills: (skills ?? []).map(ownSkill) }),
    ...(update.multiagent !== undefined && {
      agents: update.multiagent === null ? [] : calledAgents(update.multiagent),
    }),
    permission_policy: policy === undefined ? null : policyJson(policy),
    metadata: pairs,
  };
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
    permission_policy:
      definition.permission_policy === undefined ? null : policyJson(definition.permission_policy),
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

function ownToolsJson(tools: readonly WireTool[]): readonly Json[] {
  return tools.flatMap(ownTools).map((one): Json => ({ ...one }));
}

function ownTools(tool: WireTool): readonly ToolConfig[] {
  switch (tool.type) {
    case 'custom': {
      const { type, name, description, input_schema, timeout_ms } = tool;
      return [
        { type, name, description, input_schema, ...(timeout_ms !== undefined && { timeout_ms }) },
      ];
    }
    case 'builtin':
      return [{ type: 'builtin', name: tool.name }];
    case 'mcp_toolset':
      return [];
    case 'agent_toolset_20260401': {
      const on = TOOLSET_TOOLS.filter((one) => isEnabled(configOf(tool, one)));
      const groups = on.map((one) => (isFileTool(one) ? 'filesystem' : one));
      return [...new Set(groups)].map((type) => ({ type }));
    }
    default:
      return [{ type: tool.type }];
  }
}

/** A policy with what these tools say of themselves. @throws InvalidInputError when two rules for one tool differ */
function policyWith(
  policy: PermissionPolicy | undefined,
  tools: readonly WireTool[],
  servers: readonly { readonly name: string }[],
): PermissionPolicy | undefined {
  const named = tools.flatMap((one) => (one.type === 'mcp_toolset' ? [one.mcp_server_name] : []));
  const rest = servers.filter(({ name }) => !named.includes(name));
  const toolsets = rest.map(
    ({ name }) => ({ type: 'mcp_toolset', mcp_server_name: name }) as const,
  );
  const rules = [...tools, ...toolsets].flatMap((tool) => rulesOf(tool, policy));
  return withToolRules(policy, Object.fromEntries(rules), 'body');
}

/** @throws InvalidInputError for a toolset of a server that the agent does not have */
function checkServers(
  tools: readonly WireTool[],
  servers: readonly { readonly name: string }[],
): void {
  for (const [index, tool] of tools.entries()) {
    if (tool.type !== 'mcp_toolset') continue;
    const { mcp_server_name: name } = tool;
    if (!servers.some((server) => server.name === name))
      throw new InvalidInputError(
        `body.tools[${index}].mcp_server_name`,
        `names no server of this agent: "${name}". Add it to mcp_servers.`,
      );
  }
}

/** The policy there is, without the rules that new tools bring themselves and those for tools that they leave out. */
function keptPolicy(
  { permission_policy: policy, tools = [], mcp_servers: servers = [] }: ManagedAgentDef,
  next: readonly WireTool[],
): PermissionPolicy | undefined {
  if (policy === undefined) return undefined;
  const nextNames = new Set(next.flatMap(ownTools).map(nameOfTool));
  const removed = tools.map(nameOfTool).filter((name) => !nextNames.has(name));
  const bring = new Set([
    ...next.flatMap((tool) => rulesOf(tool, policy).map(([name]) => name)),
    ...(next.some(({ type }) => type === 'agent_toolset_20260401') ? TOOLSET_TOOLS : []),
    ...removed,
    ...(removed.includes('filesystem') ? FILE_TOOLS : []),
    ...(next.some(({ type }) => type === 'mcp_toolset')
      ? [...servers.map(({ name }) => name), ...mcpToolRules(policy, tools, servers)]
      : []),
  ]);
  const kept = Object.entries(policy.tools ?? {}).filter(([name]) => !bring.has(name));
  return { default: policy.default, tools: Object.fromEntries(kept) };
}

type Rule = readonly [name: string, mode: PermissionMode];

/** What a tool says of itself: without a word it has the mode that the policy says. */
function rulesOf(tool: WireTool, policy: PermissionPolicy | undefined): readonly Rule[] {
  switch (tool.type) {
    case 'agent_toolset_20260401': {
      const rules = TOOLSET_TOOLS.flatMap((name) => ruleFor(name, toMode(configOf(tool, name))));
      // Without a policy every tool is allowed.
      return policy === undefined ? rules.filter(([, mode]) => mode !== 'auto_approve') : rules;
    }
    case 'mcp_toolset': {
      const { mcp_server_name: server, default_config: general, configs } = tool;
      // Tools of others are asked about, unless the definition says otherwise.
      const unsaid = policy?.default === 'deny' ? 'deny' : 'prompt';
      const whole = toMode(general ?? {}) ?? policy?.tools?.[server] ?? unsaid;
      const single = (configs ?? []).map((own): Rule => {
        const config = { ...general, ...withoutNulls(own) };
        return [own.name, toMode(config) ?? policy?.tools?.[own.name] ?? unsaid];
      });
      return [[server, whole], ...single];
    }
    case 'custom':
    case 'builtin':
      return ruleFor(tool.name, toMode(tool));
    default:
      return ruleFor(tool.type, toMode(tool));
  }
}

function ruleFor(name: string, mode: PermissionMode | undefined): readonly Rule[] {
  return mode === undefined ? [] : [[name, mode]];
}

function configOf({ configs, default_config: general }: WireToolset, tool: ToolsetTool): ToolRule {
  const own = (configs ?? []).find(({ name }) => name === tool);
  return {
    enabled: own?.enabled ?? general?.enabled,
    permission_policy: own?.permission_policy ?? general?.permission_policy,
  };
}

function isFileTool(name: ToolsetTool): name is FileTool {
  return FILE_TOOLS.includes(name);
}

function isEnabled({ enabled }: ToolRule): boolean {
  return enabled !== false;
}

function ownServer({ name, url }: { readonly name: string; readonly url: string }): JsonObject {
  return { name, transport: 'http', url };
}

function ownSkill({ skill_id }: { readonly skill_id: string }): JsonObject {
  return { skill_id };
}

function policyJson({ default: general, tools }: PermissionPolicy): JsonObject {
  return { default: general, ...(tools !== undefined && { tools: { ...tools } }) };
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
    const mode = modeIn(definition, name, isFileTool(name) ? 'filesystem' : name);
    const isThere = has(isFileTool(name) ? 'filesystem' : name);
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
  const single = mcpToolRules(policy, tools, servers);
  return {
    type: 'mcp_toolset',
    mcp_server_name: server,
    default_config: configView(modeIn(definition, server, server)),
    configs: single.map((name) => ({ name, ...configView(modeIn(definition, name, server)) })),
  };
}

/** The names in a policy that are none of the agent's own tools: those of tools of its servers. */
function mcpToolRules(
  policy: PermissionPolicy | undefined,
  tools: readonly ToolConfig[],
  servers: readonly { readonly name: string }[],
): readonly string[] {
  const known = new Set<string>([
    ...TOOLSET_TOOLS,
    'filesystem',
    ...servers.map(({ name }) => name),
    ...tools.map(nameOfTool),
  ]);
  return Object.keys(policy?.tools ?? {}).filter((name) => !known.has(name));
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

function withoutNulls({ enabled, permission_policy }: ToolRule): ToolRule {
  return {
    ...(enabled != null && { enabled }),
    ...(permission_policy != null && { permission_policy }),
  };
}
