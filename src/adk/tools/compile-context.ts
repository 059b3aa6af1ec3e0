import type { LiveModel } from '../../live/index.ts';
import type { LiveAgents } from '../live/live-agents.ts';
import type { Model } from '../../models/index.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import type { BasePlugin } from '../plugins/base-plugin.ts';
import type { LlmRequest } from '../contracts/agent-callbacks.ts';
import type { CallbackContext } from '../contracts/contexts.ts';
import type { CredentialService } from './credential-service.ts';
import type { FindUserContent } from '../contracts/instruction-provider.ts';

/** What the runner provides to compile the agents of an app. */
export interface CompileContext {
  readonly plugins: readonly BasePlugin[];
  readonly resolveModel: (model: string | Model) => Promise<Model>;
  readonly findUserContent: FindUserContent;
  readonly credentials: CredentialService;
  /** The live model of a name; undefined for a name of any other model. */
  readonly resolveLiveModel: (name: string) => LiveModel | undefined;
  /** Collects the agents that have a live model. */
  readonly live: LiveAgents;
  /** True for a sub-agent of a sequential agent: in a live session it says when it is done. Default: false. */
  readonly isLiveStage?: boolean;
  /** True for an agent that is a node of a workflow: it is shown the input of the node. Default: false. */
  readonly isWorkflowNode?: boolean;
  /** Opens a toolset. The runner closes it. */
  readonly openToolset: (toolset: ManagedToolset) => Promise<Toolset>;
}

/** What a tool that changes the requests to the model gets. */
export interface ToolRequestParams {
  readonly toolContext: CallbackContext;
  /** The tool may change it in place. */
  readonly llmRequest: LlmRequest;
  /** The name of the agent's model. */
  readonly model: string;
}

/** A tool that only changes the requests to the model. The model cannot call it. */
export interface RequestTool {
  readonly name: string;
  /** Called before the `beforeModelCallback`s of the agent. */
  readonly processLlmRequest: (params: ToolRequestParams) => void | Promise<void>;
}

/** A tool that is created when the app is built. */
export interface CompilableTool extends Partial<RequestTool> {
  readonly compileTool: (context: CompileContext) => Promise<Tool>;
}

/** Tools that are opened when the app is built and closed with the runner. */
export interface ManagedToolset {
  readonly name: string;
  readonly getTools: () => Promise<readonly (Tool | CompilableTool)[]>;
  readonly close: () => Promise<void>;
}
