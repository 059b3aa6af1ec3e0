import { omitUndefined } from '../../core/internal.ts';
import { type Model, resolveModel } from '../../models/index.ts';
import { toolset } from '../../tools/index.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import type { App } from '../app.ts';
import type { CompileContext, ManagedToolset } from '../tools/compile-context.ts';
import type { RunnerOptions } from './runner-options.ts';
import type { UserMessages } from './user-messages.ts';
import type { CredentialService } from '../tools/credential-service.ts';

/** Creates what the agents of an app are compiled with. Opened toolsets are added to `toolsets`. */
export function createCompileContext(
  app: App,
  options: RunnerOptions,
  userMessages: UserMessages,
  credentials: CredentialService,
  toolsets: ManagedToolset[],
): CompileContext {
  const { env = {}, contextCache } = { ...options, contextCache: app.contextCacheConfig };
  const byName = async (name: string): Promise<Model> =>
    options.modelResolver?.(name) ??
    resolveModel(name, {
      env,
      ...omitUndefined({
        contextCache:
          contextCache !== undefined && name.startsWith('gemini') ? contextCache : undefined,
      }),
    });
  const context: CompileContext = {
    plugins: app.plugins,
    credentials,
    resolveModel: async (model) => (typeof model === 'string' ? byName(model) : model),
    findUserContent: async (session, invocationId) => userMessages.find(session, invocationId),
    openToolset: async (managed): Promise<Toolset> => {
      toolsets.push(managed);
      const tools: Tool[] = [];
      for (const one of await managed.getTools())
        tools.push('compileTool' in one ? await one.compileTool(context) : one);
      return toolset(managed.name, tools);
    },
  };
  return context;
}
