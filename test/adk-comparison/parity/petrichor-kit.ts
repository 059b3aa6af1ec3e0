import { setImmediate } from 'node:timers/promises';
import type { Content, Event, Json, JsonObject } from '../../../src/core/index.ts';
import { contentText, getFunctionCalls } from '../../../src/core/index.ts';
import {
  AgentTool,
  EXIT_LOOP,
  ExampleTool,
  LOAD_ARTIFACTS,
  LOAD_MEMORY,
  PRELOAD_MEMORY,
  App,
  BaseAgent,
  BasePlugin,
  Event as createEvent,
  FunctionTool,
  GlobalInstructionPlugin,
  InMemoryArtifactService,
  InMemoryMemoryService,
  InMemorySessionService,
  LlmAgent,
  LlmEventsSummarizer,
  LongRunningFunctionTool,
  LoopAgent,
  node,
  ParallelAgent,
  Runner,
  SequentialAgent,
  Workflow,
} from '../../../src/adk/index.ts';
import type {
  CallbackContext,
  EventsCompactionConfig,
  FunctionToolContext,
  SessionAddress,
} from '../../../src/adk/index.ts';
import type { Model, ModelResponse } from '../../../src/models/index.ts';
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

/** Runs a program on Petrichor. */
export async function runOnPetrichor(program: Program): Promise<RawRun> {
  const requests: RecordedRequest[] = [];
  const kit = createPetrichorKit(requests);
  const sessionService = new InMemorySessionService();
  const app = new App({
    name: 'parity',
    rootAgent: program.root(kit) as BaseAgent,
    plugins: (program.plugins?.(kit) ?? []) as readonly BasePlugin[],
    ...(program.compaction !== undefined && {
      eventsCompactionConfig: toCompactionConfig(program.compaction),
    }),
  });
  await using runner = new Runner({
    app,
    sessionService,
    artifactService: new InMemoryArtifactService(),
    memoryService: await createMemory(program.memories),
  });
  const key = { appName: 'parity', userId: 'ada', sessionId: 'one' };
  await sessionService.createSession({ ...key, ...(program.state && { state: program.state }) });
  const turns: Event[][] = [];
  const errors: string[] = [];
  for (const [index, turn] of program.turns.entries()) {
    if (program.compaction?.beforeTurn === index + 1) await isCompacted(sessionService, key);
    const events: Event[] = [];
    try {
      const newMessage = toMessage(turn, turns.flat());
      const runConfig = program.streaming === true && { streamingMode: 'sse' as const };
      for await (const event of runner.runAsync({
        ...key,
        newMessage,
        ...(runConfig !== false && { runConfig }),
      }))
        events.push(event);
    } catch (error) {
      errors.push(String(error));
    }
    turns.push(events);
  }
  const session = await sessionService.getSession(key);
  return { requests, turns, errors, state: session?.state ?? {} };
}

async function createMemory(memories: readonly MemorySpec[] = []): Promise<InMemoryMemoryService> {
  const service = new InMemoryMemoryService();
  await service.add(
    { appName: 'parity', userId: 'ada', sessionId: 'before' },
    memories.map(({ author, text, at }, index) => ({
      id: String(index),
      author,
      at,
      content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] },
    })),
  );
  return service;
}

function toCompactionConfig({ tokenThreshold, summary }: CompactionSpec): EventsCompactionConfig {
  return {
    compactionInterval: 1000,
    tokenThreshold,
    eventRetentionSize: 0,
    summarizer: new LlmEventsSummarizer({ model: createModel('', [{ text: summary }], []) }),
  };
}

/** The summary is made beside the turns. */
async function isCompacted(sessions: InMemorySessionService, key: SessionAddress): Promise<void> {
  for (;;) {
    const session = await sessions.getSession(key);
    if (session?.events.some(({ actions }) => actions.compaction !== undefined) === true) return;
    await setImmediate();
  }
}

function toMessage(turn: Turn, before: readonly Event[]): Content {
  if (typeof turn === 'string') return { role: 'user', parts: [{ text: turn }] };
  const call = before
    .flatMap((event) => getFunctionCalls(event))
    .findLast(({ name, args }) =>
      'confirm' in turn
        ? name === 'adk_request_confirmation' &&
          Reflect.get(Object(args['originalFunctionCall']), 'name') === turn.confirm
        : 'authorize' in turn
          ? name === 'adk_request_credential'
          : name === turn.answer,
    );
  if (call === undefined) throw new Error('No such call waits.');
  const { id, name } = call;
  const response = toTurnResponse(turn);
  return { role: 'user', parts: [{ functionResponse: { id, name, response } }] };
}

function createModel(agentName: string, script: Script, requests: RecordedRequest[]): Model {
  const next = createScriptReader(agentName, script);
  return {
    name: 'scripted',
    generate: async ({ instruction = '', contents, tools, config = {} }, { onDelta }) => {
      requests.push(
        structuredClone({ agentName, systemInstruction: instruction, contents, tools, config }),
      );
      const answer = next();
      for (const text of answer.pieces ?? []) onDelta({ kind: 'text', text });
      if (answer.fails !== undefined) throw new Error(answer.fails);
      return toResponse(answer);
    },
  };
}

function toResponse(answer: Answer): ModelResponse {
  const { text, thought, calls = [], usage, finishReason = 'STOP' } = answer;
  return {
    content: {
      role: 'model',
      parts: [
        ...(thought === undefined ? [] : [{ text: thought, thought: true as const }]),
        ...(text === undefined ? [] : [{ text }]),
        ...calls.map(({ name, args = {} }) => ({ functionCall: { id: '', name, args } })),
      ],
    },
    finishReason: calls.length > 0 ? 'tool_calls' : finishReasons[finishReason],
    ...(usage !== undefined && {
      usage: {
        inputTokens: usage.prompt,
        outputTokens: usage.candidates,
        totalTokens: usage.prompt + usage.candidates,
      },
    }),
  };
}

const finishReasons = { STOP: 'stop', MAX_TOKENS: 'max_tokens', SAFETY: 'refusal' } as const;

function createPetrichorKit(requests: RecordedRequest[]): Kit {
  return {
    llm: (spec) => createLlmAgent(spec, requests),
    sequential: (spec) => new SequentialAgent(toComposite(spec)),
    parallel: (spec) => new ParallelAgent(toComposite(spec)),
    loop: ({ maxIterations, ...spec }) =>
      new LoopAgent({
        ...toComposite(spec),
        ...(maxIterations !== undefined && { maxIterations }),
      }),
    custom: (spec) => new CustomAgent(spec),
    tool: (spec) => new FunctionTool(toToolDefinition(spec)),
    longRunningTool: (spec) => new LongRunningFunctionTool(toToolDefinition(spec)),
    shippedTool: (name) => SHIPPED_TOOLS[name],
    exampleTool: (examples) => new ExampleTool(examples),
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
                ? node(
                    (context: { readonly state: StateView }, input: unknown) =>
                      one.run(input, toView(context)),
                    { name: one.name },
                  )
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

function createLlmAgent(spec: LlmSpec, requests: RecordedRequest[]): LlmAgent {
  const { name, script, description, instruction, tools, subAgents, temperature } = spec;
  const { maxOutputTokens, beforeModel, afterModel, beforeTool, afterTool } = spec;
  const { globalInstruction, outputKey, outputSchema, inputSchema, includeContents } = spec;
  return new LlmAgent({
    name,
    model: createModel(name, script, requests),
    ...(description !== undefined && { description }),
    ...(instruction !== undefined && {
      instruction:
        typeof instruction === 'string'
          ? instruction
          : ({ state }: { readonly state: JsonObject }) =>
              instruction({ get: (key) => state[key] }),
    }),
    ...(globalInstruction !== undefined && { globalInstruction }),
    ...(tools !== undefined && { tools: tools as readonly FunctionTool<never>[] }),
    ...(subAgents !== undefined && { subAgents: subAgents.map(toAgent) }),
    ...(outputKey !== undefined && { outputKey }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(inputSchema !== undefined && { inputSchema }),
    ...(includeContents !== undefined && { includeContents }),
    ...(spec.disallowTransferToParent === true && { disallowTransferToParent: true }),
    ...(spec.disallowTransferToPeers === true && { disallowTransferToPeers: true }),
    ...((temperature !== undefined || maxOutputTokens !== undefined) && {
      generateContentConfig: {
        ...(temperature !== undefined && { temperature }),
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      },
    }),
    ...toAgentCallbacks(spec),
    ...(beforeModel !== undefined && {
      beforeModelCallback: ({ context, request }) =>
        toAnswer(beforeModel(toView(context), { contents: request.contents.length })),
    }),
    ...(afterModel !== undefined && {
      afterModelCallback: ({ context, response }) =>
        toAnswer(afterModel(toView(context), contentText(response.content))),
    }),
    ...(beforeTool !== undefined && {
      beforeToolCallback: ({ tool, args, context }) => beforeTool(toView(context), args, tool.name),
    }),
    ...(afterTool !== undefined && {
      afterToolCallback: ({ context, response }) => afterTool(toView(context), response),
    }),
  });
}

function toAgentCallbacks({ beforeAgent, afterAgent }: CallbackSpec) {
  return {
    ...(beforeAgent !== undefined && {
      beforeAgentCallback: (context: CallbackContext) =>
        toMessageContent(beforeAgent(toAgentView(context))),
    }),
    ...(afterAgent !== undefined && {
      afterAgentCallback: (context: CallbackContext) =>
        toMessageContent(afterAgent(toAgentView(context))),
    }),
  };
}

interface StateView {
  readonly get: (key: string) => Json | undefined;
  readonly set: (key: string, value: Json) => void;
}

function toView({ state }: { readonly state: StateView }): View {
  return { get: (key) => state.get(key), set: (key, value) => state.set(key, value) };
}

function toAgentView(context: Pick<CallbackContext, 'state' | 'actions'>): AgentView {
  return { ...toView(context), escalate: () => context.actions.escalate() };
}

function toMessageContent(text: string | undefined): Content | undefined {
  return text === undefined ? undefined : { role: 'model', parts: [{ text }] };
}

function toAnswer(text: string | undefined): { readonly content: Content } | undefined {
  const content = toMessageContent(text);
  return content === undefined ? undefined : { content };
}

function toToolDefinition({ execute, requireConfirmation, ...spec }: ToolSpec) {
  return {
    ...spec,
    ...(requireConfirmation !== undefined && {
      requireConfirmation:
        requireConfirmation === true
          ? true
          : async (args: unknown) => requireConfirmation(args as JsonObject),
    }),
    execute: async (args: unknown, context: FunctionToolContext) =>
      execute(args as JsonObject, toToolView(context)),
  };
}

function toToolView(context: FunctionToolContext): ToolView {
  const { actions, artifacts } = context;
  return {
    ...toAgentView(context),
    transfer: (agentName) => actions.transferToAgent(agentName),
    skipSummarization: () => actions.skipSummarization(),
    confirm: (hint) => context.requestConfirmation({ hint }),
    askCredential: (name) => context.requestCredential(apiKeyAuth(name)),
    credential: async (name) => (await context.loadCredential(apiKeyAuth(name))) ?? undefined,
    confirmed: context.toolConfirmation?.confirmed,
    saveText: async (name, text) => artifacts.save(name, { text }),
    loadText: async (name) => {
      const part = await artifacts.load(name);
      return part !== undefined && 'text' in part ? part.text : undefined;
    },
  };
}

class CustomAgent extends BaseAgent {
  readonly #run: Parameters<Kit['custom']>[0]['run'];

  constructor({ name, subAgents = [], run }: Parameters<Kit['custom']>[0]) {
    super({ name, subAgents: subAgents.map(toAgent) });
    this.#run = run;
  }

  protected override async *runAsyncImpl(
    context: Parameters<BaseAgent['runAsync']>[0],
  ): ReturnType<BaseAgent['runAsyncImpl']> {
    for (const one of this.#run({ get: (key) => context.stateEntries[key] })) {
      if (typeof one === 'string') {
        yield* context.run(one);
        continue;
      }
      const { text, state, escalate } = one;
      yield createEvent({
        ...(text !== undefined && { message: text }),
        ...(state !== undefined && { state }),
        ...(escalate === true && { actions: { escalate: true } }),
      });
    }
  }
}

class ScriptedPlugin extends BasePlugin {
  constructor({ name, ...spec }: CallbackSpec & { readonly name: string }) {
    super(name);
    const { beforeAgent, afterAgent, beforeModel, afterModel } = spec;
    // A callback that the plugin does not override is not called.
    if (beforeAgent !== undefined)
      this.beforeAgentCallback = async ({ callbackContext }) =>
        toMessageContent(beforeAgent(toAgentView(callbackContext)));
    if (afterAgent !== undefined)
      this.afterAgentCallback = async ({ callbackContext }) =>
        toMessageContent(afterAgent(toAgentView(callbackContext)));
    if (beforeModel !== undefined)
      this.beforeModelCallback = async ({ callbackContext, llmRequest }) =>
        toAnswer(beforeModel(toView(callbackContext), { contents: llmRequest.contents.length }));
    if (afterModel !== undefined)
      this.afterModelCallback = async ({ callbackContext, llmResponse }) =>
        toAnswer(afterModel(toView(callbackContext), contentText(llmResponse.content)));
  }
}
