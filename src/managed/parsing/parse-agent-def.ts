import { omitUndefined } from '../../core/internal.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import * as v from 'valibot';
import { InvalidInputError, isJsonObject } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { parseModelRef } from '../../models/index.ts';
import type { ModelRef } from '../../models/index.ts';
import { BUILT_IN_TOOLS } from '../interface/agent-def.ts';
import type {
  AgentRef,
  BuiltInToolName,
  ManagedAgentDef,
  McpServerConfig,
  PermissionMode,
  ToolConfig,
} from '../interface/agent-def.ts';
import { toMode, permissionPolicy, toolRule, withToolRules } from './permission-policy.ts';
import { anyCaseObject } from './snake-case-keys.ts';

const text = (max: number): v.GenericSchema<unknown, string> =>
  v.pipe(
    v.string('must be text'),
    v.nonEmpty('must not be empty'),
    v.maxLength(max, `must be at most ${max} characters`),
  );
const toolName = v.pipe(
  v.string('must be text'),
  v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of A-Z, a-z, 0-9, _ and -'),
);
const texts = v.record(v.string(), v.string('must be text'));

const customTool = v.object({
  type: v.literal('custom'),
  name: toolName,
  description: v.exactOptional(v.string()),
  input_schema: v.custom<JsonObject>(isJsonObject, 'must be a JSON Schema of an object'),
  ...toolRule,
  timeout_ms: v.exactOptional(
    v.pipe(v.number(), v.minValue(1, 'must be above 0'), v.maxValue(2_147_483_647, 'is too long')),
  ),
});

/** A tool and the permission mode from its own fields. The mode is stored in the policy. */
interface ParsedTool {
  readonly config: ToolConfig;
  readonly mode: PermissionMode | undefined;
}

const toolConfig: v.GenericSchema<unknown, ParsedTool> = anyCaseObject(
  v.pipe(
    v.variant(
      'type',
      [
        v.object({ type: v.picklist(BUILT_IN_TOOLS), ...toolRule }),
        v.object({ type: v.literal('builtin'), name: toolName, ...toolRule }),
        customTool,
      ],
      `must have the type ${BUILT_IN_TOOLS.join(', ')}, builtin or custom`,
    ),
    v.transform(({ enabled, permission_policy, ...tool }): ParsedTool => {
      const mode = toMode({ enabled, permission_policy });
      // Store one form: the five built-ins have their own types.
      return { config: tool.type === 'builtin' ? toBuiltInConfig(tool.name) : tool, mode };
    }),
  ),
);

const mcpServer: v.GenericSchema<unknown, McpServerConfig> = anyCaseObject(
  v.object({
    name: text(128),
    transport: v.picklist(
      ['stdio', 'http', 'streamable_http', 'sse'],
      'must be stdio, http or sse',
    ),
    command: v.exactOptional(text(4096)),
    args: v.exactOptional(v.array(v.string())),
    url: v.exactOptional(v.pipe(v.string(), v.url('must be a URL'))),
    env: v.exactOptional(texts),
    auto_approve: v.exactOptional(v.array(v.string())),
  }),
);

const agentRef: v.GenericSchema<unknown, AgentRef> = anyCaseObject(
  v.object({
    agent_id: text(128),
    version: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1, 'must be at least 1'))),
  }),
);

const metadata = v.pipe(
  v.record(
    v.pipe(
      v.string(),
      v.nonEmpty('must not be empty'),
      v.maxLength(64, 'must be at most 64 characters'),
    ),
    v.pipe(v.string(), v.maxLength(512, 'must be at most 512 characters')),
  ),
  v.maxEntries(16, 'must be at most 16 pairs'),
);

const definition = anyCaseObject(
  v.object({
    name: text(256),
    model: v.custom<ModelRef>(
      (value) => typeof value === 'string' || isJsonObject(value),
      'must be a name, or { provider, model }',
    ),
    system: v.exactOptional(text(100_000)),
    description: v.exactOptional(text(2048)),
    tools: v.optional(v.pipe(v.array(toolConfig), v.maxLength(256, 'must be at most 256')), []),
    mcp_servers: v.optional(v.pipe(v.array(mcpServer), v.maxLength(20, 'must be at most 20')), []),
    skills: v.optional(
      v.pipe(
        v.array(anyCaseObject(v.object({ skill_id: text(128) }))),
        v.maxLength(64, 'must be at most 64'),
      ),
      [],
    ),
    permission_policy: v.exactOptional(v.nullable(permissionPolicy)),
    agents: v.optional(v.pipe(v.array(agentRef), v.maxLength(20, 'must be at most 20')), []),
    metadata: v.exactOptional(v.nullable(metadata)),
  }),
);

/**
 * Parses a definition in snake case or camel case. Empty fields are omitted, so equivalent definitions are equal.
 * @throws InvalidInputError naming the invalid field
 * @throws UnknownModelError if the model's provider is unknown
 */
export function parseAgentDef(value: unknown): ManagedAgentDef {
  const read = parseJsonWithSchema(definition, omitNulls(value), 'definition');
  parseModelRef(read.model);
  const { name, model, system, description, mcp_servers, skills } = read;
  const tools = read.tools.map(({ config }) => config);
  assertUnique('tools', tools.map(getToolName));
  assertUnique(
    'mcp_servers',
    mcp_servers.map((server) => server.name),
  );
  mcp_servers.forEach(checkServer);
  assertUnique(
    'agents',
    read.agents.map((one) => one.agent_id),
  );
  const policy = withToolRules(
    read.permission_policy ?? undefined,
    Object.fromEntries(
      read.tools.flatMap(({ config, mode }) =>
        mode === undefined ? [] : [[getToolName(config), mode]],
      ),
    ),
    'definition',
  );
  return {
    name,
    model,
    ...omitUndefined({
      system,
      description,
      tools: tools.length > 0 ? tools : undefined,
      mcp_servers: mcp_servers.length > 0 ? mcp_servers.map(omitEmptyFields) : undefined,
      skills: skills.length > 0 ? skills : undefined,
      agents: read.agents.length > 0 ? read.agents : undefined,
      permission_policy: policy,
      metadata:
        read.metadata != null && Object.keys(read.metadata).length > 0
          ? sortKeys(read.metadata)
          : undefined,
    }),
  };
}

/** The name by which the model calls the tool. */
export function getToolName(tool: ToolConfig): string {
  return tool.type === 'custom' || tool.type === 'builtin' ? tool.name : tool.type;
}

function toBuiltInConfig(name: string): ToolConfig {
  return isBuiltIn(name) ? { type: name } : { type: 'builtin', name };
}

function isBuiltIn(name: string): name is BuiltInToolName {
  return BUILT_IN_TOOLS.some((one) => one === name);
}

/** Removes `null` fields, which some JSON writers emit for missing ones. */
function omitNulls(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

function assertUnique(field: string, names: readonly string[]): void {
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined)
    throw new InvalidInputError(
      `definition.${field}`,
      `must have unique names; "${duplicate}" occurs twice.`,
    );
}

/** Rejects fields that the transport does not use. */
function checkServer({ transport, command, args, url, env }: McpServerConfig, index: number): void {
  const field = `definition.mcp_servers[${index}]`;
  const isLocal = transport === 'stdio';
  if (isLocal && command === undefined)
    throw new InvalidInputError(`${field}.command`, 'is required for a stdio server.');
  if (!isLocal && url === undefined)
    throw new InvalidInputError(`${field}.url`, `is required for a server over ${transport}.`);
  const idle = isLocal ? { url } : { command, args: args?.[0], env: env && Object.keys(env)[0] };
  const [name] = Object.entries(idle).find(([, value]) => value !== undefined) ?? [];
  if (name !== undefined)
    throw new InvalidInputError(`${field}.${name}`, `is not used with ${transport}: omit it.`);
}

function omitEmptyFields(server: McpServerConfig): McpServerConfig {
  const { name, transport, command, args, url, env, auto_approve } = server;
  return {
    name,
    // Two names of one transport: store one of them.
    transport: transport === 'streamable_http' ? 'http' : transport,
    ...omitUndefined({
      command,
      args: args !== undefined && args.length > 0 ? args : undefined,
      url,
      env: env !== undefined && Object.keys(env).length > 0 ? env : undefined,
      auto_approve:
        auto_approve !== undefined && auto_approve.length > 0 ? auto_approve : undefined,
    }),
  };
}

function sortKeys(pairs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(pairs).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
