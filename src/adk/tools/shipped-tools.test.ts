import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as stock from '@google/adk';
import { contentText } from '../../core/index.ts';
import type { Event } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { ModelRequest } from '../../models/index.ts';
import * as adk from '../index.ts';

const { InMemoryRunner, LlmAgent } = adk;
const at = { userId: 'u1', sessionId: 's1' } as const;

/** Tools and code executors of stock ADK that have another form here, or none, with what to use. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ActiveStreamingTool: 'FunctionTool with an async generator',
  AgentRegistrySingleMCPToolset: 'openMcpToolset with the address of the server',
  ConsolidateContextTool: 'eventsCompactionConfig of the app',
  FinishTaskTool: 'set_model_response, which an agent with tools and an outputSchema gets',
  LOAD_WEB_PAGE: 'webFetchTool of petrichor/tools/built-in, which names the allowed hosts',
  ListSkillsTool: 'skills of managed agents',
  LoadSkillResourceTool: 'skills of managed agents',
  LoadSkillTool: 'skills of managed agents',
  SearchSkillsTool: 'skills of managed agents',
  SkillToolset: 'skills of managed agents',
  RunSkillScriptTool: 'skills of managed agents',
  RunSkillInlineScriptTool: 'skills of managed agents',
  MCPTool: 'openMcpToolset of petrichor/mcp',
  MCPToolset: 'openMcpToolset of petrichor/mcp',
  LoadMcpResourceTool: 'openMcpToolset of petrichor/mcp',
  NodeTool: 'AgentTool with a workflow',
  RestApiTool: 'OpenAPIToolset with a toolFilter of one name',
  BaseCodeExecutor: 'codeExecutor with the options of the sandbox',
  UnsafeLocalCodeExecutor: 'codeExecutor with { unsandboxed: true }',
  requestInputTool: 'getUserChoiceTool, or a tool without execute',
};

test('every tool that stock ADK exports is exported, or has a row that says what to use', () => {
  const tools = Object.keys(stock).filter((name) =>
    /(?:Tool|Toolset|CodeExecutor)$|^(?:LOAD|PRELOAD|EXIT|URL|GOOGLE|ENTERPRISE)_[A-Z_]+$/.test(
      name,
    ),
  );
  assert.ok(tools.length > 25);
  // Functions that test for a class begin with "is", and ToolNode's own with "create".
  const ours = (name: string): boolean =>
    Object.hasOwn(adk, name) || /^(?:is|create)[A-Z]/.test(name);
  assert.deepEqual(
    tools.filter((name) => ours(name) === Object.hasOwn(ELSEWHERE, name)),
    [],
  );
});

test('classes that need Google Cloud are refused by name', () => {
  for (const refused of [
    adk.VertexAiSearchTool,
    adk.VertexRagRetrievalTool,
    adk.AgentEngineSandboxCodeExecutor,
  ])
    assert.throws(
      () => new refused({ dataStoreId: 'd' }),
      (error) =>
        error instanceof adk.CloudToolError && error.message.startsWith(`${refused.name} needs`),
    );
});

test('tools that Gemini runs are declared to the model as its own', async () => {
  const requests: ModelRequest[] = [];
  const model = new ScriptedModel((request) => {
    requests.push(request);
    return { text: 'Ok.' };
  });
  const { GOOGLE_SEARCH, URL_CONTEXT, GOOGLE_MAPS_GROUNDING, ENTERPRISE_WEB_SEARCH } = adk;
  const agent = new LlmAgent({
    name: 'a',
    model,
    tools: [GOOGLE_SEARCH, URL_CONTEXT, GOOGLE_MAPS_GROUNDING, ENTERPRISE_WEB_SEARCH],
    codeExecutor: new adk.BuiltInCodeExecutor(),
  });
  await using runner = new InMemoryRunner({ agent, autoCreateSession: true });
  await runner.run({ ...at, newMessage: 'Hi' });
  assert.deepEqual(
    requests[0]?.tools.map(({ provider }) => provider?.id),
    [
      'google.google_search',
      'google.url_context',
      'google.google_maps',
      'google.enterprise_web_search',
      'google.code_execution',
    ],
  );
});

test('get_user_choice waits for the choice, and the model reads it', async () => {
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'get_user_choice', args: { options: ['tea', 'coffee'] } }] },
    { text: 'Tea it is.' },
  ]);
  const agent = new LlmAgent({ name: 'waiter', model, tools: [adk.getUserChoiceTool] });
  await using runner = new InMemoryRunner({ agent, autoCreateSession: true });
  const asked = await runner.run({ ...at, newMessage: 'A drink.' });
  const [call] = asked.flatMap(adk.getFunctionCalls);
  assert.deepEqual(call?.args, { options: ['tea', 'coffee'] });
  const functionResponse = { id: call.id, name: call.name, response: { choice: 'tea' } };
  const answered = await runner.run({
    ...at,
    newMessage: { role: 'user', parts: [{ functionResponse }] },
  });
  assert.equal(contentText(answered.at(-1)?.content), 'Tea it is.');
});

test('preload_memory adds what the memory says, and nothing without a memory service', async () => {
  const instructions: (string | undefined)[] = [];
  const model = new ScriptedModel(({ instruction }) => {
    instructions.push(instruction);
    return { text: 'Ok.' };
  });
  const agent = new LlmAgent({
    name: 'a',
    model,
    identity: false,
    instruction: 'Be kind.',
    tools: [adk.PRELOAD_MEMORY],
  });
  {
    await using runner = new InMemoryRunner({ agent, autoCreateSession: true });
    await runner.run({ ...at, newMessage: 'I like red tulips.' });
    await runner.run({ userId: 'u1', sessionId: 'next', newMessage: 'Which tulips?' });
  }
  assert.match(
    instructions[1] ?? '',
    /^Be kind\.\n\nThe following content is from your previous conversations with the user\.\n(?:.*\n)+<PAST_CONVERSATIONS>\nTime: .*\nuser: I like red tulips\.\n/,
  );
  const sessionService = new adk.InMemorySessionService();
  await sessionService.createSession({ appName: 'app', ...at });
  await using runner = new adk.Runner({ agent, appName: 'app', sessionService });
  await runner.run({ ...at, newMessage: 'Which tulips?' });
  assert.equal(instructions[2], 'Be kind.');
});

test('load_artifacts shows texts as text, images as they are, and describes other bytes', async () => {
  const shown: Event['content'][] = [];
  const model = new ScriptedModel(({ contents }) => {
    if (contents.at(-1)?.role === 'user' && contents.length === 1)
      return {
        toolCalls: [
          { name: 'load_artifacts', args: { artifact_names: ['a.csv', 'b.png', 'c.bin', 'none'] } },
        ],
      };
    shown.push(...contents);
    return { text: 'Seen.' };
  });
  const agent = new LlmAgent({ name: 'reader', model, tools: [adk.LOAD_ARTIFACTS] });
  const artifactService = new adk.InMemoryArtifactService();
  const sessionService = new adk.InMemorySessionService();
  await sessionService.createSession({ appName: 'app', ...at });
  const session = { appName: 'app', ...at };
  const save = async (name: string, mimeType: string, text: string): Promise<number> =>
    artifactService.save(
      { session, name },
      { inlineData: { mimeType, data: Buffer.from(text).toString('base64') } },
      { saveId: name },
    );
  await save('user:a.csv', 'text/csv', 'x,y');
  await save('b.png', 'image/png', 'png');
  await save('c.bin', 'application/zip', 'zip');
  await using runner = new adk.Runner({ agent, appName: 'app', sessionService, artifactService });
  const events = await runner.run({ ...at, newMessage: 'Read them.' });
  assert.deepEqual(
    shown.slice(3).map((content) => content?.parts[1]),
    [
      { text: 'x,y' },
      { inlineData: { mimeType: 'image/png', data: 'cG5n' } },
      {
        text: '[Binary artifact: c.bin, type: application/zip, size: 0.0 KB. Content cannot be displayed inline.]',
      },
    ],
  );
  assert.doesNotMatch(JSON.stringify(events), /x,y/, 'artifacts are not part of the events');
});

test('a class that overrides processLlmRequest changes each request', async () => {
  class Sealed extends adk.BaseTool {
    constructor() {
      super({ name: 'sealed', description: 'Seals.' });
    }
    override async runAsync(): Promise<string> {
      return 'sealed';
    }
    override processLlmRequest({ llmRequest, model: name }: adk.ToolRequestParams): void {
      llmRequest.instruction = `${llmRequest.instruction ?? ''} Sealed by ${name}.`;
    }
  }
  let instruction: string | undefined;
  const model = new ScriptedModel((request) => {
    ({ instruction } = request);
    return { text: 'Ok.' };
  });
  const agent = new LlmAgent({
    name: 'a',
    model,
    identity: false,
    instruction: 'Go.',
    tools: [new Sealed()],
  });
  await using runner = new InMemoryRunner({ agent, autoCreateSession: true });
  await runner.run({ ...at, newMessage: 'Hi' });
  assert.equal(instruction, `Go. Sealed by ${model.name}.`);
});
