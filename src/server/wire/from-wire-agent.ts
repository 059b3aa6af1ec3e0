import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type {
  DefinedAgent,
  ManagedAgentDef,
  PermissionMode,
  PermissionPolicy,
  ToolConfig,
} from '../../managed/index.ts';
import { getToolName, toMode, withToolRules, type ToolRule } from '../../managed/internal.ts';
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
import { FILE_TOOLS, isFileTool, listMcpToolRules, toPolicyJson } from './tool-rules.ts';
import { mergeMetadata } from './wire-schemas.ts';

/**
 * Converts an agent of the HTTP API to a definition of the runtime.
 * @throws InvalidInputError when two rules for the same tool differ, and for a toolset of an unknown MCP server
 */
export function toAgentDefinition(agent: AgentCreate): JsonObject {
  const { name, model, system, description, metadata, tools, mcp_servers: servers } = agent;
  const policy = mergeToolRules(agent.permission_policy ?? undefined, tools ?? [], servers ?? []);
  assertServersExist(tools ?? [], servers ?? []);
  return {
    name,
    model: toModelRef(model),
    ...omitUndefined({
      system: system != null && system !== '' ? system : undefined,
      description: description != null && description !== '' ? description : undefined,
      tools: tools != null ? toToolConfigsJson(tools) : undefined,
      mcp_servers: servers != null ? servers.map(toMcpServerConfig) : undefined,
      skills: agent.skills != null ? agent.skills.map(toSkillConfig) : undefined,
      permission_policy: policy === undefined ? undefined : toPolicyJson(policy),
      agents: agent.multiagent != null ? toCalledAgents(agent.multiagent) : undefined,
      metadata: metadata != null ? { ...metadata } : undefined,
    }),
  };
}

/**
 * Applies an update to the current definition. Omitted fields keep their value.
 * @throws InvalidInputError when two rules for the same tool differ, and for a toolset of an unknown MCP server
 */
export function applyAgentUpdate({ definition }: DefinedAgent, update: AgentUpdate): JsonObject {
  const { name, model, system, description, tools, mcp_servers: servers, skills } = update;
  const present =
    update.permission_policy ??
    (tools === undefined ? definition.permission_policy : retainToolRules(definition, tools ?? []));
  const policy = mergeToolRules(present, tools ?? [], servers ?? []);
  assertServersExist(tools ?? [], servers ?? definition.mcp_servers ?? []);
  const pairs = mergeMetadata(definition.metadata ?? {}, update.metadata ?? {});
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a definition is JSON, which its interface does not express
    ...(definition as unknown as JsonObject),
    ...omitUndefined({
      name,
      model: model === undefined ? undefined : toModelRef(model),
      system: system === undefined ? undefined : system === '' ? null : system,
      description: description === undefined ? undefined : description === '' ? null : description,
      tools: tools === undefined ? undefined : toToolConfigsJson(tools ?? []),
      mcp_servers: servers === undefined ? undefined : (servers ?? []).map(toMcpServerConfig),
      skills: skills === undefined ? undefined : (skills ?? []).map(toSkillConfig),
      agents:
        update.multiagent === undefined
          ? undefined
          : update.multiagent === null
            ? []
            : toCalledAgents(update.multiagent),
    }),
    permission_policy: policy === undefined ? null : toPolicyJson(policy),
    metadata: pairs,
  };
}

/** The agents that a definition of the HTTP API may call. */
export function toCalledAgents({
  agents,
}: WireCoordinator): readonly { readonly agent_id: string; readonly version?: number }[] {
  return agents.map((one) => {
    if (typeof one === 'string') return { agent_id: one };
    return {
      agent_id: one.id,
      ...omitUndefined({ version: one.version != null ? one.version : undefined }),
    };
  });
}

function toToolConfigsJson(tools: readonly WireTool[]): readonly Json[] {
  return tools.flatMap(toToolConfigs).map((one): Json => ({ ...one }));
}

function toToolConfigs(tool: WireTool): readonly ToolConfig[] {
  switch (tool.type) {
    case 'custom': {
      const { type, name, description, input_schema, timeout_ms } = tool;
      return [{ type, name, description, input_schema, ...omitUndefined({ timeout_ms }) }];
    }
    case 'builtin':
      return [{ type: 'builtin', name: tool.name }];
    case 'mcp_toolset':
      return [];
    case 'agent_toolset_20260401': {
      const on = TOOLSET_TOOLS.filter((one) => isEnabled(findToolRule(tool, one)));
      const groups = on.map((one) => (isFileTool(one) ? 'filesystem' : one));
      return [...new Set(groups)].map((type) => ({ type }));
    }
    default:
      return [{ type: tool.type }];
  }
}

/**
 * Adds the rules that the tools contain to a policy.
 * @throws InvalidInputError when two rules for the same tool differ
 */
function mergeToolRules(
  policy: PermissionPolicy | undefined,
  tools: readonly WireTool[],
  servers: readonly { readonly name: string }[],
): PermissionPolicy | undefined {
  const named = tools.flatMap((one) => (one.type === 'mcp_toolset' ? [one.mcp_server_name] : []));
  const rest = servers.filter(({ name }) => !named.includes(name));
  const toolsets = rest.map(
    ({ name }) => ({ type: 'mcp_toolset', mcp_server_name: name }) as const,
  );
  const rules = [...tools, ...toolsets].flatMap((tool) => toPermissionRules(tool, policy));
  return withToolRules(policy, Object.fromEntries(rules), 'body');
}

/** @throws InvalidInputError for a toolset of a server that the agent does not have */
function assertServersExist(
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

/** The current policy, without rules that the new tools replace and rules for tools that they drop. */
function retainToolRules(
  { permission_policy: policy, tools = [], mcp_servers: servers = [] }: ManagedAgentDef,
  next: readonly WireTool[],
): PermissionPolicy | undefined {
  if (policy === undefined) return undefined;
  const nextNames = new Set(next.flatMap(toToolConfigs).map(getToolName));
  const removed = tools.map(getToolName).filter((name) => !nextNames.has(name));
  const replaced = new Set([
    ...next.flatMap((tool) => toPermissionRules(tool, policy).map(([name]) => name)),
    ...(next.some(({ type }) => type === 'agent_toolset_20260401') ? TOOLSET_TOOLS : []),
    ...removed,
    ...(removed.includes('filesystem') ? FILE_TOOLS : []),
    ...(next.some(({ type }) => type === 'mcp_toolset')
      ? [...servers.map(({ name }) => name), ...listMcpToolRules(policy, tools, servers)]
      : []),
  ]);
  const retained = Object.entries(policy.tools ?? {}).filter(([name]) => !replaced.has(name));
  return { default: policy.default, tools: Object.fromEntries(retained) };
}

type Rule = readonly [name: string, mode: PermissionMode];

/** The permission rules of one tool. A tool without a rule gets the mode of the policy. */
function toPermissionRules(tool: WireTool, policy: PermissionPolicy | undefined): readonly Rule[] {
  switch (tool.type) {
    case 'agent_toolset_20260401': {
      const rules = TOOLSET_TOOLS.flatMap((name) =>
        toPermissionRule(name, toMode(findToolRule(tool, name))),
      );
      // Without a policy every tool is allowed, so these rules change nothing.
      return policy === undefined ? rules.filter(([, mode]) => mode !== 'auto_approve') : rules;
    }
    case 'mcp_toolset': {
      const { mcp_server_name: server, default_config: general, configs } = tool;
      // Tools of an MCP server need approval unless the definition has another rule.
      const defaultMode = policy?.default === 'deny' ? 'deny' : 'prompt';
      const whole = toMode(general ?? {}) ?? policy?.tools?.[server] ?? defaultMode;
      const single = (configs ?? []).map((own): Rule => {
        const config = { ...general, ...withoutNulls(own) };
        return [own.name, toMode(config) ?? policy?.tools?.[own.name] ?? defaultMode];
      });
      return [[server, whole], ...single];
    }
    case 'custom':
    case 'builtin':
      return toPermissionRule(tool.name, toMode(tool));
    default:
      return toPermissionRule(tool.type, toMode(tool));
  }
}

function toPermissionRule(name: string, mode: PermissionMode | undefined): readonly Rule[] {
  return mode === undefined ? [] : [[name, mode]];
}

function findToolRule(
  { configs, default_config: general }: WireToolset,
  tool: ToolsetTool,
): ToolRule {
  const own = (configs ?? []).find(({ name }) => name === tool);
  return {
    enabled: own?.enabled ?? general?.enabled,
    permission_policy: own?.permission_policy ?? general?.permission_policy,
  };
}

function isEnabled({ enabled }: ToolRule): boolean {
  return enabled !== false;
}

function toMcpServerConfig({
  name,
  url,
}: {
  readonly name: string;
  readonly url: string;
}): JsonObject {
  return { name, transport: 'http', url };
}

function toSkillConfig({ skill_id }: { readonly skill_id: string }): JsonObject {
  return { skill_id };
}

/** Converts a model of the HTTP API to a model reference of the runtime. */
export function toModelRef(model: WireModel): Json {
  if (typeof model === 'string') return model;
  if ('id' in model) return model.id;
  const { base_url } = model;
  return {
    provider: model.provider,
    model: model.model,
    ...omitUndefined({ baseUrl: base_url }),
  };
}

function withoutNulls({ enabled, permission_policy }: ToolRule): ToolRule {
  return omitUndefined({
    enabled: enabled != null ? enabled : undefined,
    permission_policy: permission_policy != null ? permission_policy : undefined,
  });
}
