import type { Content, SessionKey } from '../core/index.ts';
import type { Model } from '../models/index.ts';
import type { Tool, Toolset } from '../tools/index.ts';
import type { BasePlugin } from './base-plugin.ts';
import type { BaseToolset } from './base-tool.ts';
import type { CredentialService } from './credential-service.ts';

/** What the agents of an app are compiled with: everything that is the runner's and not theirs. */
export interface Compilation {
  readonly plugins: readonly BasePlugin[];
  readonly modelOf: (model: string | Model) => Promise<Model>;
  /** The message that began an invocation. */
  readonly userContentOf: (
    session: SessionKey,
    invocationId: string,
  ) => Promise<Content | undefined>;
  readonly credentials: CredentialService;
  /** Opens a toolset; the runner closes it. */
  readonly open: (toolset: BaseToolset) => Promise<Toolset>;
}

/** A tool, a set of tools, or something that becomes one when the app is built. */
export type ToolUnion = Tool | Toolset | BaseToolset | CompiledTool;

/** A tool that needs the app to be made. */
export interface CompiledTool {
  readonly compileTool: (compilation: Compilation) => Promise<Tool>;
}
