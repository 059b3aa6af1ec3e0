import { PetrichorError } from '../../core/index.ts';

/**
 * A class of ADK that works with a service of Google Cloud only. It is not implemented.
 * @remedy Do what the message says, or keep the part of the program that needs the service in `@google/adk`.
 */
export class CloudToolError extends PetrichorError {
  override readonly code = 'cloud_tool' as const;
  readonly toolName: string;

  constructor(toolName: string, advice: string) {
    super(`${toolName} needs Google Cloud and is not implemented. ${advice}`);
    this.toolName = toolName;
  }
}

abstract class CloudTool {
  readonly name: string;

  constructor(name: string, advice: string) {
    this.name = name;
    throw new CloudToolError(name, advice);
  }
}

/** The constructor always throws `CloudToolError`: use `GOOGLE_SEARCH`, or a tool that calls the search. */
export class VertexAiSearchTool extends CloudTool {
  constructor(..._options: readonly unknown[]) {
    super(
      'VertexAiSearchTool',
      'Use GOOGLE_SEARCH, or retrievalTool of petrichor/tools with a retriever that calls the search.',
    );
  }
}

/** The constructor always throws `CloudToolError`: use a `providerTool` with a model of Vertex AI. */
export class VertexRagRetrievalTool extends CloudTool {
  constructor(..._options: readonly unknown[]) {
    super(
      'VertexRagRetrievalTool',
      "With a model of Vertex AI, use providerTool({ id: 'google.vertex_rag_store', args }).",
    );
  }
}

/** The constructor always throws `CloudToolError`: use `BuiltInCodeExecutor` or the options of the sandbox. */
export class AgentEngineSandboxCodeExecutor extends CloudTool {
  constructor(..._options: readonly unknown[]) {
    super(
      'AgentEngineSandboxCodeExecutor',
      'Set codeExecutor to new BuiltInCodeExecutor(), or to the options of the local sandbox.',
    );
  }
}
