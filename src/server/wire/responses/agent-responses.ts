import * as v from 'valibot';
import { TOOLSET_TOOLS } from '../agent-schemas.ts';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { count, jsonObject, page, pairs, time } from './response-parts.ts';

const toolSetting = {
  enabled: field('False: the tool is not offered to the model.', v.boolean()),
  permission_policy: v.object({ type: v.picklist(['always_allow', 'always_ask']) }),
};

const toolName = v.picklist(TOOLSET_TOOLS);

const agentToolset = component(
  'StoredAgentToolset',
  'The built-in tools of an agent, with the setting of each.',
  v.object({
    type: v.literal('agent_toolset_20260401'),
    default_config: v.object(toolSetting),
    configs: v.array(v.object({ type: toolName, name: toolName, ...toolSetting })),
  }),
);

const mcpToolset = component(
  'StoredMcpToolset',
  'The tools of an MCP server, with the settings that differ from the default.',
  v.object({
    type: v.literal('mcp_toolset'),
    mcp_server_name: v.string(),
    default_config: v.object(toolSetting),
    configs: v.array(v.object({ name: v.string(), ...toolSetting })),
  }),
);

const customTool = component(
  'StoredCustomTool',
  'A tool whose calls the client answers.',
  v.object({
    type: v.literal('custom'),
    name: v.string(),
    description: v.exactOptional(v.string()),
    input_schema: jsonObject,
    timeout_ms: field(
      'How long a call waits for its result, in milliseconds. Default: 300,000.',
      v.exactOptional(v.number()),
    ),
  }),
);

const codeTool = component(
  'CodeAgentTool',
  'A tool of an agent from code. The program that serves the agent runs it, unless it is external.',
  v.object({
    type: v.literal('code'),
    name: v.string(),
    description: v.string(),
    input_schema: jsonObject,
    approval: field(
      'Whether a person must approve a call. `by_arguments`: the tool decides for each call.',
      v.picklist(['never', 'always', 'by_arguments']),
    ),
    external: field('True: someone outside answers its calls.', v.boolean()),
    read_only: v.boolean(),
    idempotent: v.boolean(),
    on_crash: field(
      'What happens to a call whose process ended while it ran. `rerun`: it runs again. `unknown`: the model is told that it may have happened. `ask`: it waits for an approval.',
      v.picklist(['rerun', 'unknown', 'ask']),
    ),
    timeout_ms: field('The time limit of one attempt, in milliseconds.', v.number()),
  }),
);

const storedAgentTool: WireSchema<'StoredAgentTool'> = component(
  'StoredAgentTool',
  'A tool of an agent, as the server returns it.',
  v.variant('type', [
    agentToolset,
    mcpToolset,
    customTool,
    codeTool,
    v.object({
      type: field('A tool that the server provides, by name.', v.literal('builtin')),
      name: v.string(),
    }),
    v.object({ type: v.literal('code_execution') }),
  ]),
);

const permissionMode = v.picklist(['auto_approve', 'prompt', 'deny']);

const snapshot = {
  id: v.string(),
  type: v.literal('agent'),
  version: field('Starts at 1 and grows by 1 with each change.', count),
  source: field(
    '`definition`: a stored definition. `code`: the program that serves the agent defines it, and only the program can change it.',
    v.picklist(['definition', 'code']),
  ),
  net_hash: field(
    'Hash of the net of an agent from code. Null for a definition.',
    v.nullable(v.string()),
  ),
  name: v.string(),
  description: v.nullable(v.string()),
  system: v.nullable(v.string()),
  model: v.object({ id: v.string(), speed: v.literal('standard') }),
  tools: v.array(storedAgentTool),
  mcp_servers: v.array(v.object({ type: v.literal('url'), name: v.string(), url: v.string() })),
  skills: v.array(
    v.object({ type: v.literal('custom'), skill_id: v.string(), version: v.literal('latest') }),
  ),
  execution_identity: v.object({ type: v.literal('service_account') }),
  permission_policy: v.nullable(
    component(
      'PermissionPolicy',
      'Permissions of the tools of an agent: a default, and rules by tool name.',
      v.object({
        default: permissionMode,
        tools: v.exactOptional(v.record(v.string(), permissionMode)),
      }),
    ),
  ),
};

const multiagent = v.nullable(
  component(
    'Coordinator',
    'The agents that an agent may call.',
    v.object({
      type: v.literal('coordinator'),
      agents: v.array(v.object({ type: v.literal('agent'), id: v.string(), version: count })),
    }),
  ),
);

/** The agent of a session: the version that the session started with. */
export const sessionAgentResponse: WireSchema<'SessionAgent'> = component(
  'SessionAgent',
  'The agent of a session, at the version that the session started with.',
  v.object({ ...snapshot, multiagent }),
);

/** The agent of a thread. */
export const threadAgentResponse: WireSchema<'ThreadAgent'> = component(
  'ThreadAgent',
  'The agent of a thread, at the version that the thread started with.',
  v.object(snapshot),
);

/** One version of an agent. */
export const agentResponse: WireSchema<'Agent'> = component(
  'Agent',
  'One stored version of an agent. Times are RFC 3339.',
  v.object({
    ...snapshot,
    multiagent,
    metadata: pairs,
    created_at: time,
    updated_at: time,
    archived_at: field('Null while new sessions may use the agent.', v.nullable(time)),
  }),
);

/** A page of agents, or of versions of one agent. */
export const agentPage: WireSchema<'AgentPage'> = page('AgentPage', agentResponse);
