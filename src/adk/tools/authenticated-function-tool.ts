import { PetrichorError } from '../../core/index.ts';
import type { AuthConfig, Json } from '../../core/index.ts';
import type { InferArgs, ToolParameters } from '../../tools/index.ts';
import { FunctionTool } from './base-tool.ts';
import type { FunctionToolDefinition } from './base-tool.ts';
import type { FunctionToolContext } from './function-tool-context.ts';

/**
 * A function tool whose `execute` is given the user's credential as well, and is not called before there is one.
 * `authConfig` says what the user signs in to.
 */
export interface AuthenticatedToolDefinition<S extends ToolParameters> extends Omit<
  FunctionToolDefinition<S>,
  'execute'
> {
  readonly authConfig: AuthConfig;
  readonly execute: (args: InferArgs<S>, context: FunctionToolContext, credential: Json) => unknown;
}

/** Nobody gave the credential that a tool asked for. */
export class CredentialMissingError extends PetrichorError {
  override readonly code = 'credential_missing' as const;
  readonly toolName: string;

  constructor(toolName: string) {
    super(`Tool "${toolName}" was given no credential: sign in, and ask for it again.`);
    this.toolName = toolName;
  }
}

/** A function that needs a credential of the user. A call without one waits until the client has sent it. */
export class AuthenticatedFunctionTool<S extends ToolParameters> extends FunctionTool<S> {
  /** @throws InvalidToolError */
  constructor({ authConfig, execute, ...definition }: AuthenticatedToolDefinition<S>) {
    super({
      ...definition,
      execute: async (args, context) => {
        const credential = await context.loadCredential(authConfig);
        if (credential !== undefined) return execute(args, context, credential);
        if (context.answer !== undefined) throw new CredentialMissingError(definition.name);
        return context.requestCredential(authConfig);
      },
    });
  }
}
