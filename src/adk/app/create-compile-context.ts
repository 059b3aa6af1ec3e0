import type { Model } from '../../models/index.ts';
import { toolset } from '../../tools/index.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import type { CompileContext, ManagedToolset } from '../tools/compile-context.ts';
import type { CredentialService } from '../tools/credential-service.ts';
import { LiveAgents } from '../live/live-agents.ts';
import type { AppSettings } from './app-config.ts';
import type { UserMessages } from './user-messages.ts';

/** Creates what the agents of an app are compiled with. Opened toolsets are added to `toolsets`. */
export function createCompileContext(
  app: AppSettings,
  {
    userMessages,
    credentials,
    toolsets,
    resolveModel,
    resolveLiveModel,
  }: {
    readonly userMessages: UserMessages;
    readonly credentials: CredentialService;
    readonly toolsets: ManagedToolset[];
    readonly resolveModel: (name: string) => Promise<Model>;
    readonly resolveLiveModel: CompileContext['resolveLiveModel'];
  },
): CompileContext {
  const context: CompileContext = {
    plugins: app.plugins,
    credentials,
    resolveLiveModel,
    live: new LiveAgents(),
    resolveModel: async (model) => (typeof model === 'string' ? resolveModel(model) : model),
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
