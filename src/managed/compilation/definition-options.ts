import { omitUndefined } from '../../core/internal.ts';
import { optionTable } from '../../core/index.ts';
import type { OptionNames, OptionTable } from '../../core/index.ts';
import type { BeforeTool, CallbackList } from '../../agents/index.ts';
import { checkModelOrigin, resolveModel } from '../../models/index.ts';
import type { Model, ModelRef } from '../../models/index.ts';
import type { BuiltInSource, McpSource, SkillSource } from '../interface/tool-sources.ts';
import type { AgentServices } from './compile-agent.ts';

/**
 * Models, tools and limits of stored definitions. All are optional. A definition that needs a missing service is
 * rejected with a MissingServiceError.
 */
export interface DefinitionOptions {
  /** Resolves the models of definitions. Default: by name, with the keys of `env`. */
  readonly resolver?: (ref: ModelRef) => Promise<Model>;
  /** Where the default resolver finds API keys and endpoints. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Origins that definitions may use as `base_url` of their model: `http://127.0.0.1:11434`, or `https://*.example.com`
   * for public addresses with TLS. A definition with another origin is rejected when it is stored, and a stored one
   * when it is used, with any resolver. Default: none.
   */
  readonly modelOrigins?: readonly string[];
  /** Judges outcomes. Default: each agent's own model. */
  readonly grader?: Model;
  /** Tools that run here, by name. Without it, a definition that names one is rejected. */
  readonly builtIns?: BuiltInSource;
  /** Connects to the MCP servers of definitions. Without it, a definition with servers is rejected. */
  readonly mcp?: McpSource;
  /** Finds skills by id. Without it, a definition with skills is rejected. */
  readonly skills?: SkillSource;
  /**
   * Called before each call is validated, approved and run. May change its arguments or return its result. A person
   * approves the changed call.
   */
  readonly guardrails?: CallbackList<BeforeTool>;
  /** Maximum number of further model calls after tool results in one turn. Default: 25. */
  readonly reaskBudget?: number;
  /**
   * Maximum number of model calls in one turn, including outcome rounds, repeated attempts and called agents. 0 or
   * less: no limit. Default: 500.
   */
  readonly maxModelCalls?: number;
  /** Total number of attempts of one model call. Default: 4. */
  readonly modelAttempts?: number;
  /** Timeout of one model call, in milliseconds. Default: 300,000. */
  readonly modelTimeoutMs?: number;
  /** Maximum wait for a provider's `retry-after`, in milliseconds. Default: 60,000. */
  readonly maxRetryAfterMs?: number;
  /** How long a call waits for a result from outside if its tool sets no timeout, in milliseconds. Default: 300,000. */
  readonly customToolTimeoutMs?: number;
}

/** The names of the options of definitions. */
export const DEFINITION_NAMES: OptionNames<DefinitionOptions> = {
  resolver: true,
  env: true,
  modelOrigins: true,
  grader: true,
  builtIns: true,
  mcp: true,
  skills: true,
  guardrails: true,
  reaskBudget: true,
  maxModelCalls: true,
  modelAttempts: true,
  modelTimeoutMs: true,
  maxRetryAfterMs: true,
  customToolTimeoutMs: true,
};

/** The options of `definitions`. */
export const DEFINITION_OPTIONS: OptionTable = optionTable<DefinitionOptions>(
  'definitions',
  DEFINITION_NAMES,
);

const DEFAULT_REASK_BUDGET = 25;

const DEFAULT_MAX_MODEL_CALLS = 500;

const DEFAULT_MODEL_ATTEMPTS = 4;

const DEFAULT_CUSTOM_TOOL_TIMEOUT_MS = 300_000;

export function toAgentServices(options: DefinitionOptions): AgentServices {
  const { maxModelCalls = DEFAULT_MAX_MODEL_CALLS } = options;
  const { resolver, env = {}, modelOrigins = [], grader, builtIns, mcp, skills } = options;
  const { guardrails, modelTimeoutMs, maxRetryAfterMs } = options;
  return {
    resolver: async (ref) => {
      // Also checked here, for definitions stored under another `modelOrigins` list.
      checkModelOrigin(ref, env, modelOrigins);
      return resolver === undefined ? resolveModel(ref, { env, modelOrigins }) : resolver(ref);
    },
    ...omitUndefined({
      grader,
      builtIns,
      mcp,
      skills,
      guardrails,
      modelTimeoutMs,
      maxRetryAfterMs,
    }),
    reaskBudget: options.reaskBudget ?? DEFAULT_REASK_BUDGET,
    modelAttempts: options.modelAttempts ?? DEFAULT_MODEL_ATTEMPTS,
    maxModelCalls,
    customToolTimeoutMs: options.customToolTimeoutMs ?? DEFAULT_CUSTOM_TOOL_TIMEOUT_MS,
  };
}
