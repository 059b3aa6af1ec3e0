import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';

/** What is wrong with an agent module: it is not there, it fails, it holds no agent, or more than one. */
export type AgentModuleProblem = 'missing' | 'failed' | 'no_agent' | 'several_agents' | 'not_found';

/** The file named as AGENT_MODULE gives no agent to work with. Nothing was run. */
export class AgentModuleError extends PetrichorError {
  override readonly code = 'agent_module' as const;
  readonly file: string;
  readonly problem: AgentModuleProblem;
  /** What the module exports, by name; empty when it could not be loaded. */
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
