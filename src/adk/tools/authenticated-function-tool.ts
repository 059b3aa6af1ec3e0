import { PetrichorError } from '../../core/index.ts';
import type { AuthConfig, Json } from '../../core/index.ts';
import type { InferArgs, ToolParameters } from '../../tools/index.ts';
import { FunctionTool } from './base-tool.ts';
import type { FunctionToolDefinition } from './function-tool-definition.ts';
import type { FunctionToolContext } from './function-tool-context.ts';

/**
 * A function tool whose `execute` also receives the user's credential. `execute` is not called without one.
 * `authConfig` describes the sign-in.
 */
export interface AuthenticatedToolDefinition<S extends ToolParameters> extends Omit<
  FunctionToolDefinition<S>,
  'execute'
> {
  readonly authConfig: AuthConfig;
  readonly execute: (args: InferArgs<S>, context: FunctionToolContext, credential: Json) => unknown;
}

/**
 * A client answered a credential request without a credential.
 * @remedy Sign in, then call the tool again.
 */
export class CredentialMissingError extends PetrichorError {
  override readonly code = 'credential_missing' as const;
  readonly toolName: string;

  constructor(toolName: string) {
    super(`Tool "${toolName}" received no credential: sign in, then call it again.`);
    this.toolName = toolName;
  }
}

/** A function tool that needs a credential of the user. A call without one waits until the client sends it. */
export class AuthenticatedFunctionTool<S extends ToolParameters> extends FunctionTool<S> {
  /** @throws InvalidToolError if the definition is invalid */
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
