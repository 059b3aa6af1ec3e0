import * as v from 'valibot';
import { isJsonObject } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import {
  type BuiltInToolName,
  type PermissionPolicy,
  BUILT_IN_TOOLS,
} from '../../managed/index.ts';
import { permissionPolicy, toolRule, type ToolRule } from '../../managed/internal.ts';
import { component, field } from './component.ts';
import { metadata, metadataChange, nonEmptyText, text, unsupported } from './wire-schemas.ts';

/** The tools of `agent_toolset_20260401`. */
const TOOLSET = [
  'bash',
  'edit',
  'read',
  'write',
  'glob',
  'grep',
  'web_fetch',
  'web_search',
] as const;

export type ToolsetTool = (typeof TOOLSET)[number];
export const TOOLSET_TOOLS: readonly ToolsetTool[] = TOOLSET;

const toolPermission = component(
  'ToolPermission',
  'Whether a tool is offered to the model, and whether its calls need approval.',
  v.object(toolRule),
);

const toolsetTool = v.object({
  type: v.optional(v.picklist(TOOLSET, `must be one of ${TOOLSET.join(', ')}`)),
  name: v.picklist(TOOLSET, `must be one of ${TOOLSET.join(', ')}`),
  ...toolRule,
  allowed_domains: unsupported,
  blocked_domains: unsupported,
  max_content_tokens: unsupported,
  url_sources: unsupported,
  user_location: unsupported,
});

const toolset = v.object({
  type: v.literal('agent_toolset_20260401'),
  configs: v.nullish(v.pipe(v.array(toolsetTool), v.maxLength(256))),
  default_config: v.nullish(toolPermission),
});

const mcpToolset = v.object({
  type: v.literal('mcp_toolset'),
  mcp_server_name: nonEmptyText(256),
  configs: v.nullish(
    v.pipe(v.array(v.object({ name: nonEmptyText(128), ...toolRule })), v.maxLength(256)),
  ),
  default_config: v.nullish(toolPermission),
});

const customTool = v.object({
  type: v.literal('custom'),
  name: v.pipe(
    v.string('must be text'),
    v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of A-Z, a-z, 0-9, _ and -'),
  ),
  description: v.optional(text(16_384), ''),
  input_schema: v.custom<JsonObject>(isJsonObject, 'must be a JSON Schema of an object'),
  /** Extension of Petrichor: how long a call waits for its result, in milliseconds. */
  timeout_ms: v.optional(
    field(
      'How long a call waits for its result, in milliseconds. Default: 300,000.',
      v.pipe(v.number('must be a number'), v.minValue(1, 'must be above 0')),
    ),
  ),
  ...toolRule,
});

/** Extension of Petrichor: a tool that the host registered under this name. */
const namedTool = v.object({ type: v.literal('builtin'), name: nonEmptyText(64), ...toolRule });

/** Extension of Petrichor: a built-in tool by its type alone, as in `registerAgents`. */
const builtInTool = v.object({ type: v.picklist(BUILT_IN_TOOLS), ...toolRule });

const agentTool = component(
  'AgentTool',
  'A tool of a new agent.',
  v.variant(
    'type',
    [toolset, mcpToolset, customTool, namedTool, builtInTool],
    `must have the type agent_toolset_20260401, mcp_toolset, custom, builtin, ${BUILT_IN_TOOLS.join(', ')}`,
  ),
);

const tools = v.pipe(v.array(agentTool), v.maxLength(256, 'must be at most 256'));

const mcpServers = v.pipe(
  v.array(
    v.object({
      type: v.optional(v.literal('url'), 'url'),
      name: nonEmptyText(128),
      url: v.pipe(v.string('must be text'), v.url('must be a URL')),
    }),
  ),
  v.maxLength(20, 'must be at most 20'),
);

const skills = v.pipe(
  v.array(
    v.object({
      type: v.picklist(['anthropic', 'custom'], 'must be anthropic or custom'),
      skill_id: nonEmptyText(128),
      version: v.nullish(
        v.picklist(['latest'], 'must be latest: this server has one version of each skill'),
      ),
    }),
  ),
  v.maxLength(64, 'must be at most 64'),
);

const model = v.union(
  [
    nonEmptyText(256),
    v.object({
      id: nonEmptyText(256),
      speed: v.nullish(v.picklist(['standard'], 'must be standard')),
      effort: unsupported,
      inference_geo: unsupported,
    }),
    /** Extension of Petrichor: a model with an explicit provider, when the name does not imply one. */
    v.object({
      provider: nonEmptyText(64),
      model: nonEmptyText(256),
      base_url: v.optional(nonEmptyText(2048)),
    }),
  ],
  'must be a name, { id } or { provider, model }',
);

const coordinator = v.object({
  type: v.literal('coordinator', 'must be coordinator'),
  advisor: unsupported,
  subagents: unsupported,
  workflows: unsupported,
  agents: v.pipe(
    v.array(
      v.union(
        [
          nonEmptyText(256),
          v.object({
            type: v.literal('agent'),
            id: nonEmptyText(256),
            version: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1))),
          }),
        ],
        'must be an id, or { type: "agent", id, version }',
      ),
    ),
    v.minLength(1, 'must not be empty'),
    v.maxLength(20, 'must be at most 20'),
  ),
});

const agentPermissions = component(
  'AgentPermissions',
  'Permissions of the tools of an agent: a default, and rules by tool name.',
  permissionPolicy,
);

const fields = {
  description: v.nullish(text(2048)),
  system: v.nullish(text(100_000)),
  mcp_servers: v.nullish(mcpServers),
  skills: v.nullish(skills),
  tools: v.nullish(tools),
  execution_identity: v.nullish(
    v.object({ type: v.literal('service_account', 'must be service_account') }),
  ),
  multiagent: v.nullish(coordinator),
};

/** The toolset: all its tools, except those that a rule disables. */
export interface WireToolset {
  readonly type: 'agent_toolset_20260401';
  readonly configs?: readonly (ToolRule & { readonly name: ToolsetTool })[] | null | undefined;
  readonly default_config?: ToolRule | null | undefined;
}

export interface WireMcpToolset {
  readonly type: 'mcp_toolset';
  readonly mcp_server_name: string;
  readonly configs?: readonly (ToolRule & { readonly name: string })[] | null | undefined;
  readonly default_config?: ToolRule | null | undefined;
}

export interface WireCustomTool extends ToolRule {
  readonly type: 'custom';
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
  readonly timeout_ms?: number | undefined;
}

export type WireTool =
  | WireToolset
  | WireMcpToolset
  | WireCustomTool
  | (ToolRule & { readonly type: 'builtin'; readonly name: string })
  | (ToolRule & { readonly type: BuiltInToolName });

export type WireModel =
  | string
  | { readonly id: string }
  | {
      readonly provider: string;
      readonly model: string;
      readonly base_url?: string | undefined;
    };

/** The agents that this agent may call. */
export interface WireCoordinator {
  readonly agents: readonly (
    | string
    | { readonly id: string; readonly version?: number | null | undefined }
  )[];
}

interface AgentFields {
  readonly description?: string | null | undefined;
  readonly system?: string | null | undefined;
  readonly mcp_servers?:
    | readonly { readonly name: string; readonly url: string }[]
    | null
    | undefined;
  readonly skills?: readonly { readonly skill_id: string }[] | null | undefined;
  readonly tools?: readonly WireTool[] | null | undefined;
  readonly multiagent?: WireCoordinator | null | undefined;
}

export interface AgentCreate extends AgentFields {
  readonly name: string;
  readonly model: WireModel;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly permission_policy?: PermissionPolicy | null | undefined;
}

export interface AgentUpdate extends AgentFields {
  readonly version?: number | undefined;
  readonly name?: string | undefined;
  readonly model?: WireModel | undefined;
  readonly metadata?: Readonly<Record<string, string | null>> | null | undefined;
  readonly permission_policy?: PermissionPolicy | undefined;
}

/** Body of a request that creates an agent. */
export const agentCreate: v.GenericSchema<unknown, AgentCreate> = component(
  'AgentParams',
  'Definition of a new agent.',
  v.object({
    name: nonEmptyText(256),
    model,
    metadata: v.nullish(metadata),
    permission_policy: v.nullish(agentPermissions),
    ...fields,
  }),
);

/** Body of a request that changes an agent. Omitted fields keep their value. */
export const agentUpdate: v.GenericSchema<unknown, AgentUpdate> = component(
  'AgentChange',
  'Changes to an agent. Omitted fields keep their value.',
  v.object({
    version: v.optional(
      field(
        'The version that the change is based on. The server rejects the change if the agent has a newer one.',
        v.pipe(v.number('must be a number'), v.integer(), v.minValue(1)),
      ),
    ),
    name: v.optional(nonEmptyText(256)),
    model: v.optional(model),
    metadata: v.nullish(metadataChange),
    permission_policy: v.optional(agentPermissions),
    ...fields,
  }),
);
