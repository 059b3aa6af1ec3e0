import {
  AgentTool,
  EXIT_LOOP,
  ExampleTool,
  LOAD_ARTIFACTS,
  LOAD_MEMORY,
  PRELOAD_MEMORY,
  type Example,
  BaseAgent,
  BaseLlm,
  type BaseLlmConnection,
  BasePlugin,
  type BaseTool,
  type Context,
  createEvent,
  type Event,
  FunctionTool,
  getFunctionCalls,
  GlobalInstructionPlugin,
  InMemoryArtifactService,
  InMemoryMemoryService,
  InMemorySessionService,
  type InvocationContext,
  LlmAgent,
  LlmSummarizer,
  type LlmRequest,
  type LlmResponse,
  LongRunningFunctionTool,
  LoopAgent,
  node,
  type NodeContext,
  ParallelAgent,
  type ReadonlyContext,
  Runner,
  SequentialAgent,
  createSession,
  type Session,
  setLogger,
  StreamingMode,
  TokenBasedContextCompactor,
  Workflow,
} from '@google/adk';
import { omitUndefined } from '../../../src/core/internal.ts';
import type { JsonObject } from '../../../src/core/index.ts';
import { apiKeyAuth, toTurnResponse } from './kit.ts';
import type {
  AgentView,
  CallbackSpec,
  CompactionSpec,
  CompositeSpec,
  Kit,
  LlmSpec,
  MemorySpec,
  Program,
  RawRun,
  RecordedRequest,
  Ref,
  RequestView,
  ToolSpec,
  ToolView,
  Turn,
  View,
} from './kit.ts';
import { createScriptReader } from './script.ts';
import type { Answer, Script } from './script.ts';

const SHIPPED_TOOLS = {
  EXIT_LOOP,
  LOAD_ARTIFACTS,
  LOAD_MEMORY,
  PRELOAD_MEMORY,
};

// Its deprecation warnings would clutter the test output.
setLogger(null);

type Content = NonNullable<LlmResponse['content']>;

/** Runs a program on stock ADK. */
export async function runOnStock(
  program: Program,
): Promise<RawRun & { readonly session: Session | undefined }> {
  const requests: RecordedRequest[] = [];
  const kit = createStockKit(requests, program.compaction);
  const sessionService = new InMemorySessionService();
  const runner = new Runner({
    agent: program.root(kit) as BaseAgent,
    appName: 'parity',
    plugins: [...(program.plugins?.(kit) ?? [])] as BasePlugin[],
    sessionService,
    artifactService: new InMemoryArtifactService(),
    memoryService: await createMemory(program.memories),
  });
  const key = { appName: 'parity', userId: 'ada', sessionId: 'one' };
  await sessionService.createSession({ ...key, state: { ...program.state } });
  const turns: Event[][] = [];
  const errors: string[] = [];
  for (const turn of program.turns) {
    const events: Event[] = [];
    try {
      const newMessage = toMessage(turn, turns.flat());
      const runConfig = program.streaming === true && { streamingMode: StreamingMode.SSE };
      for await (const event of runner.runAsync({
        ...key,
        newMessage,
        ...(runConfig !== false && { runConfig }),
      }))
        events.push(toJson({ ...event }));
    } catch (error) {
      errors.push(String(error));
    }
    turns.push(events);
  }
  const session = await sessionService.getSession(key);
  return { requests, turns, errors, state: session?.state ?? {}, session };
}

async function createMemory(memories: readonly MemorySpec[] = []): Promise<InMemoryMemoryService> {
  const service = new InMemoryMemoryService();
  await service.addSessionToMemory(
    createSession({
      id: 'before',
      appName: 'parity',
      userId: 'ada',
      events: memories.map(({ author, text, at }) =>
        createEvent({
          author,
          timestamp: at,
          content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] },
        }),
      ),
    }),
  );
  return service;
}

/** Compacts all but the new message. */
function createCompactor({ tokenThreshold, summary }: CompactionSpec): TokenBasedContextCompactor {
  return new TokenBasedContextCompactor({
    tokenThreshold,
    eventRetentionSize: 1,
    summarizer: new LlmSummarizer({ llm: new ScriptedLlm('', [{ text: summary }], []) }),
  });
}

/** A copy as JSON: members without a value are left out, as models and clients see it. */
function toJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

function toMessage(turn: Turn, before: readonly Event[]): Content {
  if (typeof turn === 'string') return { role: 'user', parts: [{ text: turn }] };
  const calls = before.flatMap((event) => getFunctionCalls(event));
  const call = calls.findLast(({ name, args }) =>
    'confirm' in turn
      ? name === 'adk_request_confirmation' &&
        Reflect.get(Object(args?.['originalFunctionCall']), 'name') === turn.confirm
      : 'authorize' in turn
        ? name === 'adk_request_credential'
        : name === turn.answer,
  );
  if (call?.id === undefined || call.name === undefined) throw new Error('No such call waits.');
  const response = toTurnResponse(turn);
  return {
    role: 'user',
    parts: [{ functionResponse: { id: call.id, name: call.name, response } }],
  };
}

/** The request of one call of the model, and its answers. */
class ScriptedLlm extends BaseLlm {
  readonly #agentName: string;
  readonly #next: () => Answer;
  readonly #requests: RecordedRequest[];

  constructor(agentName: string, script: Script, requests: RecordedRequest[]) {
    super({ model: 'scripted' });
    this.#agentName = agentName;
    this.#next = createScriptReader(agentName, script);
    this.#requests = requests;
  }

  override async *generateContentAsync(
    { contents, config = {} }: LlmRequest,
    stream?: boolean,
  ): AsyncGenerator<LlmResponse, void> {
    const { systemInstruction = '', tools = [], ...rest } = config;
    this.#requests.push(
      toJson({
        agentName: this.#agentName,
        systemInstruction: typeof systemInstruction === 'string' ? systemInstruction : '?',
        contents,
        tools: tools.flatMap((one) =>
          'functionDeclarations' in one ? [...(one.functionDeclarations ?? [])] : [],
        ),
        config: rest,
      }),
    );
    const answer = this.#next();
    if (stream === true)
      for (const text of answer.pieces ?? [])
        yield { content: { role: 'model', parts: [{ text }] }, partial: true };
    if (answer.fails !== undefined) throw new Error(answer.fails);
    const { usage, finishReason } = answer;
    yield {
      content: toContent(answer),
      finishReason: (finishReason ?? 'STOP') as NonNullable<LlmResponse['finishReason']>,
      ...(usage !== undefined && {
        usageMetadata: {
          promptTokenCount: usage.prompt,
          candidatesTokenCount: usage.candidates,
          totalTokenCount: usage.prompt + usage.candidates,
        },
      }),
    };
  }

  override async connect(): Promise<BaseLlmConnection> {
    throw new Error('The script has no live connection.');
  }
}

function toContent({ text, thought, calls = [] }: Answer): Content {
  return {
    role: 'model',
    parts: [
      ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ name, args = {} }) => ({ functionCall: { name, args: { ...args } } })),
    ],
  };
}

function createStockKit(requests: RecordedRequest[], compaction: CompactionSpec | undefined): Kit {
  return {
    llm: (spec) => createLlmAgent(spec, requests, compaction),
    sequential: (spec) => new SequentialAgent(toComposite(spec)),
    parallel: (spec) => new ParallelAgent(toComposite(spec)),
    loop: ({ maxIterations, ...spec }) =>
      new LoopAgent({
        ...toComposite(spec),
        ...(maxIterations !== undefined && { maxIterations }),
      }),
    custom: (spec) => new CustomAgent(spec),
    tool: (spec) => new FunctionTool(toToolOptions(spec)),
    longRunningTool: (spec) => new LongRunningFunctionTool(toToolOptions(spec)),
    shippedTool: (name) => SHIPPED_TOOLS[name],
    exampleTool: (examples) =>
      new ExampleTool(examples.map((one) => structuredClone(one) as Example)),
    agentTool: (agent, options) => new AgentTool({ agent: toAgent(agent), ...options }),
    plugin: (spec) => new ScriptedPlugin(spec),
    globalInstructionPlugin: (instruction) => new GlobalInstructionPlugin(instruction),
    workflow: (name, chain) =>
      new Workflow({
        name,
        edges: [
          [
            'START',
            ...chain.map((one) =>
              'run' in one && !(one instanceof BaseAgent)
                ? node((context: NodeContext, input: unknown) => one.run(input, toView(context)), {
                    name: one.name,
                  })
                : toAgent(one),
            ),
          ],
        ],
      }),
  };
}

function toAgent(ref: Ref): BaseAgent {
  return ref as BaseAgent;
}

function toComposite({ subAgents, ...spec }: CompositeSpec) {
  return {
    name: spec.name,
    description: spec.description ?? '',
    subAgents: subAgents.map(toAgent),
    ...toAgentCallbacks(spec),
  };
}

function createLlmAgent(
  spec: LlmSpec,
  requests: RecordedRequest[],
  compaction: CompactionSpec | undefined,
): LlmAgent {
  const { name, script, description, instruction, tools, subAgents, temperature } = spec;
  const { maxOutputTokens, beforeModel, afterModel, beforeTool, afterTool } = spec;
  const { globalInstruction, outputKey, outputSchema, inputSchema, includeContents } = spec;
  const config = {
    name,
    model: new ScriptedLlm(name, script, requests),
    description,
    instruction:
      typeof instruction === 'function'
        ? ({ state }: ReadonlyContext) => instruction({ get: (key) => state.get(key) })
        : instruction,
    globalInstruction,
    tools: tools?.map((one) => one as FunctionTool),
    subAgents: subAgents?.map(toAgent),
    outputKey,
    outputSchema,
    inputSchema,
    includeContents,
    contextCompactors: compaction && [createCompactor(compaction)],
    disallowTransferToParent: spec.disallowTransferToParent,
    disallowTransferToPeers: spec.disallowTransferToPeers,
    generateContentConfig:
      temperature === undefined && maxOutputTokens === undefined
        ? undefined
        : omitUndefined({ temperature, maxOutputTokens }),
    beforeModelCallback:
      beforeModel &&
      (({ context, request }: { context: Context; request: LlmRequest }) =>
        toResponse(beforeModel(toView(context), toRequestView(request)))),
    afterModelCallback:
      afterModel &&
      (({ context, response }: { context: Context; response: LlmResponse }) =>
        toResponse(afterModel(toView(context), readText(response)))),
    beforeToolCallback:
      beforeTool &&
      (({ tool, args, context }: { tool: BaseTool; args: object; context: Context }) =>
        beforeTool(toView(context), args as JsonObject, tool.name)),
    afterToolCallback:
      afterTool &&
      (({ context, response }: { context: Context; response: object }) =>
        afterTool(toView(context), response as JsonObject)),
    ...toAgentCallbacks(spec),
  };
  return new LlmAgent(omitUndefined(config));
}

function toAgentCallbacks({ beforeAgent, afterAgent }: CallbackSpec) {
  return omitUndefined({
    beforeAgentCallback:
      beforeAgent && ((context: Context) => toMessageContent(beforeAgent(toAgentView(context)))),
    afterAgentCallback:
      afterAgent && ((context: Context) => toMessageContent(afterAgent(toAgentView(context)))),
  });
}

function toView({ state }: { readonly state: unknown }): View {
  const stored = state as Context['state'];
  return {
    get: (key) => stored.get(key),
    set: (key, value) => stored.set(key, value),
  };
}

function toAgentView(context: Context): AgentView {
  return {
    ...toView(context),
    escalate: () => {
      context.actions.escalate = true;
    },
  };
}

function toRequestView({ contents }: LlmRequest): RequestView {
  return { contents: contents.length };
}

function readText({ content }: LlmResponse): string {
  return (content?.parts ?? []).map(({ text = '' }) => text).join('');
}

function toMessageContent(text: string | undefined): Content | undefined {
  return text === undefined ? undefined : { role: 'model', parts: [{ text }] };
}

function toResponse(text: string | undefined): LlmResponse | undefined {
  const content = toMessageContent(text);
  return content === undefined ? undefined : { content };
}

function toToolOptions({ execute, requireConfirmation, ...spec }: ToolSpec) {
  return {
    name: spec.name,
    description: spec.description,
    ...(spec.parameters !== undefined && { parameters: spec.parameters }),
    ...(requireConfirmation !== undefined && {
      requireConfirmation:
        requireConfirmation === true
          ? true
          : async (args: unknown) => requireConfirmation((args ?? {}) as JsonObject),
    }),
    execute: async (args: unknown, context?: Context) => {
      if (context === undefined) throw new Error('A tool needs its context.');
      return execute((args ?? {}) as JsonObject, toToolView(context));
    },
  };
}

function toToolView(context: Context): ToolView {
  return {
    ...toAgentView(context),
    transfer: (agentName) => {
      context.actions.transferToAgent = agentName;
    },
    skipSummarization: () => {
      context.actions.skipSummarization = true;
    },
    confirm: (hint) => {
      context.requestConfirmation({ hint });
      return { status: 'waiting' };
    },
    askCredential: (name) => {
      context.requestCredential(apiKeyAuth(name));
      return { status: 'unauthorized' };
    },
    credential: async (name) => context.getAuthResponse(apiKeyAuth(name)),
    confirmed: context.toolConfirmation?.confirmed,
    saveText: async (name, text) => context.saveArtifact(name, { text }),
    loadText: async (name) => (await context.loadArtifact(name))?.text,
  };
}

class CustomAgent extends BaseAgent {
  readonly #run: Parameters<Kit['custom']>[0]['run'];

  constructor({ name, subAgents = [], run }: Parameters<Kit['custom']>[0]) {
    super({ name, subAgents: subAgents.map(toAgent) });
    this.#run = run;
  }

  protected async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    const { invocationId, branch } = context;
    const { state } = context.session;
    for (const one of this.#run({ get: (key) => state[key] })) {
      if (typeof one === 'string') {
        const sub = this.findSubAgent(one);
        if (sub !== undefined) yield* sub.runAsync(context);
        continue;
      }
      const content = toMessageContent(one.text);
      yield createEvent({
        invocationId,
        author: this.name,
        ...(branch !== undefined && { branch }),
        ...(content !== undefined && { content }),
        actions: {
          ...(one.state !== undefined && { stateDelta: one.state }),
          ...(one.escalate === true && { escalate: true }),
        },
      });
    }
  }

  // oxlint-disable-next-line require-yield -- required by stock ADK, and never called
  protected async *runLiveImpl(): AsyncGenerator<Event, void, void> {
    throw new Error('not live');
  }
}

class ScriptedPlugin extends BasePlugin {
  readonly #spec: CallbackSpec;

  constructor({ name, ...spec }: CallbackSpec & { readonly name: string }) {
    super(name);
    this.#spec = spec;
  }

  override async beforeAgentCallback({ callbackContext }: { callbackContext: Context }) {
    return toMessageContent(this.#spec.beforeAgent?.(toAgentView(callbackContext)));
  }

  override async afterAgentCallback({ callbackContext }: { callbackContext: Context }) {
    return toMessageContent(this.#spec.afterAgent?.(toAgentView(callbackContext)));
  }

  override async beforeModelCallback({
    callbackContext,
    llmRequest,
  }: {
    callbackContext: Context;
    llmRequest: LlmRequest;
  }) {
    return toResponse(this.#spec.beforeModel?.(toView(callbackContext), toRequestView(llmRequest)));
  }

  override async afterModelCallback({
    callbackContext,
    llmResponse,
  }: {
    callbackContext: Context;
    llmResponse: LlmResponse;
  }) {
    return toResponse(this.#spec.afterModel?.(toView(callbackContext), readText(llmResponse)));
  }
}
