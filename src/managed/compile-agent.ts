import { agent } from '../agents/index.ts';
import type { Agent, BeforeTool, CallbackList } from '../agents/index.ts';
import { PetrichorError } from '../core/index.ts';
import type { ToolCall, ToolOrigin } from '../core/index.ts';
import type { Model, ModelRef } from '../models/index.ts';
import { indexTools, tool, toolset } from '../tools/index.ts';
import type { Tool, Toolset } from '../tools/index.ts';
import type { ManagedAgentDef, McpServerConfig, PermissionMode } from './agent-def.ts';
import { MissingServiceError } from './managed-errors.ts';
import type { SessionEnvironment } from './managed-runtime.ts';
import { managedStatusOf } from './managed-status-of.ts';
import { managedSubnets } from './nets/managed-subnets.ts';
import { modelRetry } from './nets/model-retry.ts';
import { outcomeRounds } from './nets/outcome-rounds.ts';
import { sessionControl } from './nets/session-control.ts';
import { nameOfTool } from './parse-agent-def.ts';
import { skillTools, skillsText } from './skill-tools.ts';
import { subAgentTools } from './sub-agent-tools.ts';
import type { SubAgent } from './sub-agent-tools.ts';
import type { BuiltInSource, McpSource, Skill, SkillSource } from './tool-sources.ts';

/** What definitions are made into agents with. */
export interface AgentServices {
  readonly resolver: (ref: ModelRef) => Promise<Model>;
  /** Judges outcomes; the agent's own model when missing. */
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
  /** Ends what was opened for it. */
  readonly close: () => Promise<void>;
}

/** The policy denies this tool: the model was not offered it, and called it all the same. */
class DeniedToolError extends PetrichorError {
  override readonly code = 'denied' as const;

  constructor(toolName: string) {
    super(`The tool "${toolName}" is denied by this agent's permission policy.`);
  }
}

interface Sourced {
  readonly origin: ToolOrigin;
  readonly tools: Toolset;
  /** The names that a policy may know these tools by, beside their own. */
  readonly group?: string;
  /** Needs no one's yes, unless a rule for the tool itself says otherwise. */
  readonly approved?: readonly string[];
}

/**
 * Makes an agent of a definition: turn taking, parking, approval, retries, pauses and outcome rounds are in its net.
 * @throws MissingServiceError, InvalidInputError, InvalidToolError, DuplicateToolError, and what the resolver throws
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
    const skills = await skillsOf(definition, services);
    const sources = [
      ...(await ownSources(definition, environment, services)),
      ...(await serverSources(definition, services, opened)),
      ...skillSources(skills),
      ...agentSources(subAgents),
    ];
    const judge = new ToolJudge(definition, sources);
    const { reaskBudget } = services;
    const instruction = instructionOf(definition, skills);
    const built = agent({
      name: authorOf(definition.name),
      model: offering(model, judge),
      ...(definition.description !== undefined && { description: definition.description }),
      // A function, so that no brace in it means anything.
      ...(instruction !== undefined && { instruction: () => instruction }),
      tools: judge.toolsets,
      reaskBudget,
      modelAttempts: services.modelAttempts,
      ...(services.guardrails !== undefined && {
        callbacks: { beforeTool: services.guardrails },
      }),
      ...(services.modelTimeoutMs !== undefined && { modelTimeoutMs: services.modelTimeoutMs }),
      ...(services.maxRetryAfterMs !== undefined && { maxRetryAfterMs: services.maxRetryAfterMs }),
      ...(services.maxModelCalls !== undefined && { maxModelCalls: services.maxModelCalls }),
      subnets: (stock) => managedSubnets(stock, (call) => judge.tag(call)),
      extensions: [
        sessionControl(),
        modelRetry({ reaskBudget, attempts: services.modelAttempts }),
        outcomeRounds({ grader: services.grader ?? model, reaskBudget }),
      ],
    });
    const renamed = { ...built, name, speaker: built.name, statusOf: managedStatusOf };
    return { agent: renamed, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the policy says of each tool, and where it comes from. */
class ToolJudge {
  readonly toolsets: readonly Toolset[];
  readonly #definition: ManagedAgentDef;
  readonly #sources: readonly Sourced[];

  constructor(definition: ManagedAgentDef, sources: readonly Sourced[]) {
    this.#definition = definition;
    this.#sources = sources;
    this.toolsets = sources.map((source) =>
      toolset(source.tools.name, () =>
        source.tools.tools().map((one) => this.#judged(one, source)),
      ),
    );
  }

  isOffered(name: string): boolean {
    return this.#modeOf(name) !== 'deny';
  }

  tag(call: ToolCall): ToolCall {
    const source = this.#sourceOf(call.name);
    if (source === undefined) return call;
    const mode = this.#modeOf(call.name);
    const asked = call.needs === 'approval' ? 'ask' : 'allow';
    return { ...call, origin: source.origin, permission: mode === 'deny' ? 'deny' : asked };
  }

  #judged(one: Tool, source: Sourced): Tool {
    switch (this.#modeIn(one.name, source)) {
      case 'auto_approve':
        return { ...one, needsApproval: false };
      case 'prompt':
        return { ...one, needsApproval: true };
      case 'deny':
        return {
          ...one,
          needsApproval: false,
          external: false,
          readOnly: true,
          onCrash: 'rerun',
          execute: async () => Promise.reject(new DeniedToolError(one.name)),
        };
      default:
        return one;
    }
  }

  #modeOf(name: string): PermissionMode | undefined {
    const source = this.#sourceOf(name);
    return source === undefined ? undefined : this.#modeIn(name, source);
  }

  #modeIn(name: string, { group, approved = [] }: Sourced): PermissionMode | undefined {
    const policy = this.#definition.permission_policy;
    const rule =
      policy?.tools?.[name] ?? (group === undefined ? undefined : policy?.tools?.[group]);
    if (rule !== undefined) return rule;
    return approved.includes(name) ? 'auto_approve' : policy?.default;
  }

  #sourceOf(name: string): Sourced | undefined {
    return this.#sources.find(({ tools }) => tools.tools().some((one) => one.name === name));
  }
}

async function ownSources(
  definition: ManagedAgentDef,
  environment: SessionEnvironment,
  { builtIns, customToolTimeoutMs }: AgentServices,
): Promise<readonly Sourced[]> {
  const sources: Sourced[] = [];
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
    const group = nameOfTool(config);
    const made = await builtIns?.(group, environment);
    if (made === undefined)
      throw new MissingServiceError(`tools[${index}] ("${group}")`, 'builtIns');
    const own = indexTools(made);
    const hosted = environment.selfHosted === true;
    const tools = (): readonly Tool[] =>
      [...own.values()].map((one) => (hosted ? outside(one, customToolTimeoutMs) : one));
    sources.push({ origin: { kind: 'builtin' }, tools: toolset(group, tools), group });
  }
  return sources;
}

/** A built-in that the client runs: its calls wait for their results. */
function outside(one: Tool, timeoutMs: number): Tool {
  return { ...one, external: true, timeoutMs };
}

async function serverSources(
  { mcp_servers: servers = [] }: ManagedAgentDef,
  { mcp }: AgentServices,
  opened: (() => Promise<void>)[],
): Promise<readonly Sourced[]> {
  const sources: Sourced[] = [];
  for (const server of servers) {
    if (mcp === undefined) throw new MissingServiceError('mcp_servers', 'mcp');
    const { tools, close } = await mcp(server);
    opened.push(close);
    sources.push(sourceOfServer(server, tools));
  }
  return sources;
}

function sourceOfServer({ name, auto_approve }: McpServerConfig, tools: Toolset): Sourced {
  return {
    origin: { kind: 'mcp', server: name },
    tools,
    group: name,
    ...(auto_approve !== undefined && { approved: auto_approve }),
  };
}

async function skillsOf(
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

function skillSources(skills: readonly Skill[]): readonly Sourced[] {
  if (skills.length === 0) return [];
  const origin = { kind: 'builtin' } as const;
  return [{ origin, tools: toolset('skills', skillTools(skills)), approved: ['read_skill'] }];
}

function agentSources(subAgents: readonly SubAgent[]): readonly Sourced[] {
  if (subAgents.length === 0) return [];
  const tools = subAgentTools(subAgents, authorOf);
  const approved = tools.map(({ name }) => name);
  return [{ origin: { kind: 'builtin' }, tools: toolset('agents', tools), approved }];
}

function instructionOf({ system }: ManagedAgentDef, skills: readonly Skill[]): string | undefined {
  const parts = [...(system === undefined ? [] : [system]), ...skillsText(skills)];
  return parts.length === 0 ? undefined : parts.join('\n\n');
}

/** What the policy denies is not offered. */
function offering(model: Model, judge: ToolJudge): Model {
  return {
    name: model.name,
    generate: async (request, context) =>
      model.generate(
        { ...request, tools: request.tools.filter(({ name }) => judge.isOffered(name)) },
        context,
      ),
  };
}

/** Names the agent in the log: what of its name an agent's name may hold. */
function authorOf(name: string): string {
  const plain = name
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^[^A-Za-z_]+/, '')
    .slice(0, 64);
  return plain === '' || plain === 'user' ? 'agent' : plain;
}
