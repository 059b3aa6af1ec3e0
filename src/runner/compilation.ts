import type { Model } from '../models/index.ts';
import type { Tool, Toolset } from '../tools/index.ts';
import type { BasePlugin } from './base-plugin.ts';
import type { CredentialService } from './credential-service.ts';
import type { UserContentOf } from './instruction-provider.ts';

/** What the agents of an app are compiled with: everything that is the runner's and not theirs. */
export interface Compilation {
  readonly plugins: readonly BasePlugin[];
  readonly modelOf: (model: string | Model) => Promise<Model>;
  readonly userContentOf: UserContentOf;
  readonly credentials: CredentialService;
  /** Opens a toolset; the runner closes it. */
  readonly open: (toolset: OpenedByRunner) => Promise<Toolset>;
}

/** A tool that needs the app to be made. */
export interface CompiledTool {
  readonly compileTool: (compilation: Compilation) => Promise<Tool>;
}

/** Tools that are opened when the app is built and closed with the runner. */
export interface OpenedByRunner {
  readonly name: string;
  readonly getTools: () => Promise<readonly (Tool | CompiledTool)[]>;
  readonly close: () => Promise<void>;
}
