import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { agent } from '../../agents/index.ts';
import { contentText } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import { tool } from '../../tools/index.ts';
import { FunctionTool } from '../tools/base-tool.ts';
import { InMemoryRunner } from '../runner/in-memory-runner.ts';
import { InMemorySessionService } from '../sessions/in-memory-session-service.ts';
import { LlmAgent } from './llm-agent.ts';
import type { LlmAgentConfig } from './llm-agent.ts';
import { Runner } from '../runner/runner.ts';
import { SequentialAgent } from './sequential-agent.ts';

const IDENTITY = 'You are an agent. Your internal name is "chat".';
const key = { appName: 'app', userId: 'ada', sessionId: 'one' };

/** Sends a message to the session and returns the instruction with which the model was called. */
async function readInstruction(
  sessionService: InMemorySessionService,
  config: Partial<LlmAgentConfig> | undefined,
): Promise<string | undefined> {
  const model = new ScriptedModel(() => ({ text: 'Good day.' }));
  const options = { name: 'chat', model, instruction: 'Be brief.' };
  // Without a config: an agent as it was built before agents had identities.
  const root = config === undefined ? agent(options) : new LlmAgent({ ...options, ...config });
  await using runner = new Runner({
    appName: key.appName,
    agent: root,
    sessionService,
    autoCreateSession: true,
  });
  for await (const _ of runner.runAsync({ ...key, newMessage: 'Hello!' }));
  return model.requests.at(-1)?.instruction;
}

test('an ADK agent states its identity, unless the option is off', async () => {
  assert.equal(await readInstruction(new InMemorySessionService(), {}), `${IDENTITY}\n\nBe brief.`);
  assert.equal(
    await readInstruction(new InMemorySessionService(), { identity: false }),
    'Be brief.',
  );
});

test('braces in a description are literal', async () => {
  const instruction = await readInstruction(new InMemorySessionService(), {
    description: 'Knows {everything}.',
  });
  assert.equal(
    instruction,
    `${IDENTITY}\n\nThe description about you is "Knows {everything}."\n\nBe brief.`,
  );
});

test('an agent that no transfer reaches has no identity', async () => {
  const instruction = await readInstruction(new InMemorySessionService(), {
    disallowTransferToParent: true,
    disallowTransferToPeers: true,
  });
  assert.equal(instruction, 'Be brief.');
});

test('a session keeps the prompt with which it was created, when the option changes', async () => {
  const before = new InMemorySessionService();
  await readInstruction(before, { identity: false });
  assert.equal(await readInstruction(before, {}), 'Be brief.');
  const after = new InMemorySessionService();
  await readInstruction(after, {});
  assert.equal(await readInstruction(after, { identity: false }), `${IDENTITY}\n\nBe brief.`);
});

test('a session that was created before agents had identities keeps its prompt', async () => {
  const service = new InMemorySessionService();
  await readInstruction(service, undefined);
  assert.equal(await readInstruction(service, {}), 'Be brief.');
});

test('a session that was created with state chooses its prompt with its first turn', async () => {
  for (const identity of [true, false]) {
    const service = new InMemorySessionService();
    await service.createSession({ ...key, state: { topic: 'rain' } });
    const first = await readInstruction(service, { identity });
    assert.equal(first, identity ? `${IDENTITY}\n\nBe brief.` : 'Be brief.');
    assert.equal(await readInstruction(service, { identity: !identity }), first);
  }
});

test('agent() has no identity by default, and one with the option', async () => {
  const model = new ScriptedModel(() => ({ text: 'Good day.' }));
  const agents = [
    agent({ name: 'plain', model }),
    agent({ name: 'chat', model, identity: true, instruction: 'Be brief.' }),
  ];
  await using runtime = await openRuntime({ agents });
  await (await runtime.session('a', { agent: 'plain' })).ask('Hello!');
  const session = await runtime.session('b', { agent: 'chat' });
  await session.ask('Hello!');
  assert.deepEqual(
    model.requests.map(({ instruction }) => instruction),
    [undefined, `${IDENTITY}\n\nBe brief.`],
  );
  // The request that is rebuilt from the journal is the one that was sent.
  const calls = [];
  for await (const record of session.records())
    if (record.kind === 'started' && record.transition === 'model.call') calls.push(record.record);
  const { request } = await session.modelRequest(calls[0] ?? assert.fail());
  assert.deepEqual(request, model.requests[1]);
});

const invoice = z.object({ cents: z.number().int() });

function createReader(script: ConstructorParameters<typeof ScriptedModel>[0]) {
  const model = new ScriptedModel(script);
  const convert = new FunctionTool({
    name: 'convert',
    description: 'Converts.',
    execute: () => ({ cents: 5 }),
  });
  const root = new LlmAgent({
    name: 'reader',
    model,
    outputSchema: invoice,
    outputKey: 'invoice',
    tools: [convert],
  });
  return { model, runner: new InMemoryRunner({ agent: root }) };
}

test('an agent with tools gives an answer with a schema by calling set_model_response', async () => {
  const { model, runner } = createReader([
    { toolCalls: [{ name: 'convert' }] },
    { toolCalls: [{ name: 'set_model_response', args: { cents: 5 } }] },
  ]);
  await using _ = runner;
  const events = await runner.runDebug('Read.');
  assert.equal(contentText(events.at(-1)?.content), '{"cents":5}');
  const [request] = model.requests;
  assert.deepEqual(request?.config ?? {}, {});
  assert.deepEqual(
    request?.tools.map(({ name }) => name),
    ['convert', 'set_model_response'],
  );
  assert.match(request?.instruction ?? '', /you must call the "set_model_response" function/);
});

test('an answer by set_model_response that does not match the schema fails', async () => {
  const { runner } = createReader([
    { toolCalls: [{ name: 'set_model_response', args: { cents: 'five' } }] },
  ]);
  await using _ = runner;
  const events = await runner.runDebug('Read.');
  assert.equal(events.at(-1)?.errorCode, 'output_schema');
});

test('a tool of the agent with the name set_model_response is called', async () => {
  const own = tool({
    name: 'set_model_response',
    description: 'Sets.',
    execute: () => ({ set: true }),
  });
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'set_model_response' }] },
    { text: 'Done.' },
  ]);
  const root = new LlmAgent({ name: 'chat', model, tools: [own] });
  await using runner = new InMemoryRunner({ agent: root });
  const events = await runner.runDebug('Go.');
  assert.equal(contentText(events.at(-1)?.content), 'Done.');
});

test('agents of a sequence name their parent only if they may transfer to it', async () => {
  const model = new ScriptedModel(() => ({ text: 'Done.' }));
  const root = new SequentialAgent({
    name: 'team',
    subAgents: [new LlmAgent({ name: 'chat', model, instruction: 'Be brief.' })],
  });
  await using runner = new InMemoryRunner({ agent: root });
  await runner.runDebug('Go.');
  assert.equal(model.requests[0]?.instruction, `${IDENTITY}\n\nBe brief.`);
});
