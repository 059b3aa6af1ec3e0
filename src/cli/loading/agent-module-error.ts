import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';
import type { RejectedExport } from './exported-agents.ts';

/**
 * Why an agent module cannot be used: the file is missing, loading it failed, it exports no agent,
 * it exports several, not the named one, or two with the same id.
 */
export type AgentModuleProblem =
  | 'missing'
  | 'failed'
  | 'no_agent'
  | 'several_agents'
  | 'not_found'
  | 'same_id';

/**
 * The file given as AGENT_MODULE or FILE does not exist, cannot be loaded, or provides no agent that can be selected. Nothing
 * was run.
 * @remedy Correct the path, the module or the name of the agent. The message lists what the file exports.
 */
export class AgentModuleError extends PetrichorError {
  override readonly code = 'agent_module' as const;
  readonly file: string;
  readonly problem: AgentModuleProblem;
  /** The names of its exports or agents; empty if it could not be loaded. */
  readonly found: readonly string[];

  constructor(
    file: string,
    problem: AgentModuleProblem,
    sentence: string,
    options: PetrichorErrorOptions & { readonly found?: readonly string[] } = {},
  ) {
    super(`${file} ${sentence}`, options);
    this.file = file;
    this.problem = problem;
    this.found = options.found ?? [];
  }
}

export function createCycleError(
  file: string,
  { label, reason }: RejectedExport,
): AgentModuleError {
  const sentence = `exports ${label}, which ${reason} Remove it from the sub-agents.`;
  return new AgentModuleError(file, 'failed', sentence, { found: [label] });
}
