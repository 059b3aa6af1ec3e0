import { checkOptions, optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import { bubblewrap } from '../../sandbox/bubblewrap.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { defaultSandboxLimits, type SandboxLimits } from '../../sandbox/sandbox-limits.ts';
import { withoutSandbox } from '../../sandbox/without-sandbox.ts';
import { InvalidToolError } from '../../schema/invalid-tool-error.ts';
import type { ToolEnvironmentSource } from '../workspace/tool-environment.ts';

/** Options of `bashTool` and `codeExecutionTool`. */
export interface CommandOptions {
  readonly environment: ToolEnvironmentSource;
  /** Default: bubblewrap. If that is not installed, every call is rejected with a message. */
  readonly sandbox?: Sandbox;
  /** Allows commands to run as this process, with its rights and its network. Default: false. */
  readonly unsandboxed?: boolean;
  /** `timeMs` is also the longest time limit that a call may request. */
  readonly limits?: Partial<SandboxLimits>;
  /**
   * Whether a person must approve each call. Default: false with an isolating sandbox, true
   * without.
   */
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
  /**
   * The time limit of the tool. It is longer than that of any command, so that a command ends by
   * its own limit and the model sees its output.
   */
  readonly timeoutMs: number;
}

const END_GRACE_MS = 10_000;

/** @throws InvalidToolError if the sandbox does not isolate and `unsandboxed` is not set */
export function resolveCommandSettings(toolName: string, options: CommandOptions): CommandSettings {
  checkOptions(COMMAND_OPTIONS, options);
  const { unsandboxed = false, sandbox = unsandboxed ? withoutSandbox() : bubblewrap() } = options;
  if (!sandbox.isolated && !unsandboxed) {
    throw new InvalidToolError(
      toolName,
      `the sandbox "${sandbox.name}" does not isolate commands. Set unsandboxed: true to run them with all rights of this process.`,
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
