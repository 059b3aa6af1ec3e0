import { checkOptions, optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import { bubblewrap } from '../../sandbox/bubblewrap.ts';
import { defaultSandboxLimits, type Sandbox, type SandboxLimits } from '../../sandbox/sandbox.ts';
import { withoutSandbox } from '../../sandbox/without-sandbox.ts';
import { InvalidToolError } from '../../schema/invalid-tool-error.ts';
import type { ToolEnvironmentSource } from '../workspace/tool-environment.ts';

/** What `bash` and `code_execution` are made from. */
export interface CommandOptions {
  readonly environment: ToolEnvironmentSource;
  /** Bubblewrap unless said. Where that is missing, every call is refused and says so. */
  readonly sandbox?: Sandbox;
  /** Commands may run as this process itself, with its rights and its network. */
  readonly unsandboxed?: boolean;
  /** `timeMs` is the longest time that a call may ask for, too. */
  readonly limits?: Partial<SandboxLimits>;
  /** Whether a person must say yes to each call. Without a sandbox they must, unless this says no. */
  readonly needsApproval?: boolean;
}

/** The options of `bashTool` and `codeExecutionTool`. */
export const COMMAND_OPTIONS: OptionTable = optionTable<CommandOptions>(
  'options',
  { environment: true, sandbox: true, unsandboxed: true, limits: true, needsApproval: true },
  { requireConfirmation: 'needsApproval' },
);

export interface CommandSettings {
  readonly sandbox: Sandbox;
  readonly limits: SandboxLimits;
  readonly needsApproval: boolean;
  /** For the tool: longer than any command may run, so that a command ends by its own limit and its output is seen. */
  readonly timeoutMs: number;
}

const END_GRACE_MS = 10_000;

/** @throws InvalidToolError for a sandbox that holds nothing, unless `unsandboxed` says that this is meant. */
export function resolveCommandSettings(toolName: string, options: CommandOptions): CommandSettings {
  checkOptions(COMMAND_OPTIONS, options);
  const { unsandboxed = false, sandbox = unsandboxed ? withoutSandbox() : bubblewrap() } = options;
  if (!sandbox.isolated && !unsandboxed) {
    throw new InvalidToolError(
      toolName,
      `the sandbox "${sandbox.name}" isolates nothing. Set unsandboxed: true if commands may do all that this process may.`,
    );
  }
  const limits = { ...defaultSandboxLimits, ...options.limits };
  return {
    sandbox,
    limits,
    needsApproval: options.needsApproval ?? !sandbox.isolated,
    timeoutMs: limits.timeMs + END_GRACE_MS,
  };
}
