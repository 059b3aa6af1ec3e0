import { omitUndefined } from '../../core/internal.ts';
import { agent } from '../../agents/index.ts';
import type { Agent, BeforeTool, CallbackList } from '../../agents/index.ts';
import type { Model, ModelRef } from '../../models/index.ts';
import { indexTools, tool, toolset } from '../../tools/index.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import type { ManagedAgentDef, McpServerConfig } from '../interface/agent-def.ts';
import { MissingServiceError, missingToolError } from '../interface/managed-errors.ts';
import type { SessionEnvironment } from '../interface/managed-runtime.ts';
import { getToolName } from '../parsing/parse-agent-def.ts';
import { skillTools, skillsText } from './skill-tools.ts';
import { ToolPermissions, type ToolSource } from './tool-permissions.ts';
import { subAgentTools } from './sub-agent-tools.ts';
import type { SubAgent } from './sub-agent-tools.ts';
import type { BuiltInSource, McpSource, Skill, SkillSource } from '../interface/tool-sources.ts';

/** The services that definitions are compiled with. */
export interface AgentServices {
  readonly resolver: (ref: ModelRef) => Promise<Model>;
  /** Judges outcomes. Default: the agent's own model. */
  readonly grader?: Model;
  readonly builtIns?: BuiltInSource;
  readonly mcp?: McpSource;
  readonly skills?: SkillSource;
  readonly guardrails?: CallbackList<BeforeTool>;
  readonly reaskBudget: number;
  readonly modelAttempts: number;
  readonly maxModelCalls?: number;
  readonly modelTimeoutMs?: number;
  readonly maxRetryAfterMs?: number;
  readonly customToolTimeoutMs: number;
}

export interface CompiledAgent {
  readonly agent: Agent;
  /** Closes what was opened for the agent. */
  readonly close: () => Promise<void>;
}

/**
 * Compiles a definition to an agent whose net includes turn taking, parking, approval, retries, pauses and outcome
 * rounds.
 * @throws MissingServiceError if the definition needs a service that the runtime does not have
 * @throws InvalidInputError if the definition or the environment is invalid
 * @throws InvalidToolError if a tool is invalid
 * @throws DuplicateToolError if two tools have the same name
 * @throws errors of the model resolver
 */
export async function compileAgent(
  name: string,
  definition: ManagedAgentDef,
  environment: SessionEnvironment,
  services: AgentServices,
  subAgents: readonly SubAgent[] = [],
): Promise<CompiledAgent> {
  const model = await services.resolver(definition.model);
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    await Promise.allSettled(opened.map(async (one) => one()));
  };
  try {
    const skills = await loadSkills(definition, services);
    const sources = [
      ...(await definitionSources(definition, environment, services)),
      ...(await openServerSources(definition, services, opened)),
      ...skillSources(skills),
      ...agentSources(subAgents),
    ];
    const permissions = new ToolPermissions(definition, sources);
    const { reaskBudget } = services;
    const instruction = buildInstruction(definition, skills);
    const built = agent({
      name: toAuthor(definition.name),
      model,
      ...omitUndefined({ description: definition.description }),
      // A function, so that braces in the text are not treated as a template.
      ...(instruction !== undefined && { instruction: () => instruction }),
      tools: permissions.toolsets,
      reaskBudget,
      modelAttempts: services.modelAttempts,
      ...omitUndefined({
        callbacks:
          services.guardrails === undefined ? undefined : { beforeTool: services.guardrails },
        modelTimeoutMs: services.modelTimeoutMs,
        maxRetryAfterMs: services.maxRetryAfterMs,
        maxModelCalls: services.maxModelCalls,
      }),
      outcomes: omitUndefined({ grader: services.grader }),
    });
    return { agent: { ...built, name, author: built.name }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function definitionSources(
  definition: ManagedAgentDef,
  environment: SessionEnvironment,
  { builtIns, customToolTimeoutMs }: AgentServices,
): Promise<readonly ToolSource[]> {
  const sources: ToolSource[] = [];
  for (const [index, config] of (definition.tools ?? []).entries()) {
    if (config.type === 'custom') {
      const { name, description = '', input_schema: parameters, timeout_ms } = config;
      const custom = tool({
        name,
        description,
        parameters,
        timeoutMs: timeout_ms ?? customToolTimeoutMs,
      });
      sources.push({ origin: { kind: 'custom' }, tools: toolset(name, [custom]) });
      continue;
    }
    const group = getToolName(config);
    const made = await builtIns?.(group, environment);
    if (made === undefined)
      throw missingToolError(`tools[${index}]`, group, builtIns !== undefined);
    const own = indexTools(made);
    const hosted = environment.selfHosted === true;
    const tools = (): readonly Tool[] =>
      [...own.values()].map((one) => (hosted ? asExternal(one, customToolTimeoutMs) : one));
    sources.push({ origin: { kind: 'builtin' }, tools: toolset(group, tools), group });
  }
  return sources;
}

/** Makes a built-in tool wait for a result from the client, which runs it. */
function asExternal(one: Tool, timeoutMs: number): Tool {
  return { ...one, external: true, timeoutMs };
}

async function openServerSources(
  { mcp_servers: servers = [] }: ManagedAgentDef,
  { mcp }: AgentServices,
  opened: (() => Promise<void>)[],
): Promise<readonly ToolSource[]> {
  const sources: ToolSource[] = [];
  for (const server of servers) {
    if (mcp === undefined) throw new MissingServiceError('mcp_servers', 'mcp');
    const { tools, close } = await mcp(server);
    opened.push(close);
    sources.push(toServerSource(server, tools));
  }
  return sources;
}

function toServerSource({ name, auto_approve }: McpServerConfig, tools: Toolset): ToolSource {
  return {
    origin: { kind: 'mcp', server: name },
    tools,
    group: name,
    ...omitUndefined({ approved: auto_approve }),
  };
}

async function loadSkills(
  { skills: refs = [] }: ManagedAgentDef,
  { skills: source }: AgentServices,
): Promise<readonly Skill[]> {
  return Promise.all(
    refs.map(async ({ skill_id: id }, index) => {
      if (source === undefined) throw new MissingServiceError('skills', 'skills');
      const skill = await source(id);
      if (skill === undefined)
        throw new MissingServiceError(`skills[${index}] ("${id}")`, 'skill of this id');
      return skill;
    }),
  );
}

function skillSources(skills: readonly Skill[]): readonly ToolSource[] {
  if (skills.length === 0) return [];
  const origin = { kind: 'builtin' } as const;
  return [{ origin, tools: toolset('skills', skillTools(skills)), approved: ['read_skill'] }];
}

function agentSources(subAgents: readonly SubAgent[]): readonly ToolSource[] {
  if (subAgents.length === 0) return [];
  const tools = subAgentTools(subAgents, toAuthor);
  const approved = tools.map(({ name }) => name);
  return [{ origin: { kind: 'builtin' }, tools: toolset('agents', tools), approved }];
}

function buildInstruction(
  { system }: ManagedAgentDef,
  skills: readonly Skill[],
): string | undefined {
  const parts = [...(system === undefined ? [] : [system]), ...skillsText(skills)];
  return parts.length === 0 ? undefined : parts.join('\n\n');
}

/** Derives the author name in the log: the characters of the name that an agent name may contain. */
function toAuthor(name: string): string {
  const plain = name
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^[^A-Za-z_]+/, '')
    .slice(0, 64);
  return plain === '' || plain === 'user' ? 'agent' : plain;
}
