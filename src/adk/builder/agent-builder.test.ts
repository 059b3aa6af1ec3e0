import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { contentText } from '../../core/index.ts';
import type { Event } from '../../core/index.ts';
import { ModelError, ScriptedModel } from '../../models/index.ts';
import type { ModelRequest } from '../../models/index.ts';
import {
  InMemoryArtifactService,
  InMemoryMemoryService,
  loadMemoryTool,
  tool,
} from '../../tools/index.ts';
import { AgentBuilder } from './agent-builder.ts';
import { AuthenticatedFunctionTool } from '../tools/authenticated-function-tool.ts';
import { BaseEventsSummarizer } from '../compaction/base-events-summarizer.ts';
import { BasePlugin } from '../plugins/base-plugin.ts';
import { InMemoryCredentialService } from '../tools/credential-service.ts';
import { Event as event } from '../agents/event.ts';
import { InMemorySessionService } from '../sessions/in-memory-session-service.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import { LoopAgent } from '../agents/loop-agent.ts';
import { PlanReActPlanner } from '../agents/plan-re-act-planner.ts';

const lastText = ({ contents }: ModelRequest): string => {
  const last = contents.at(-1);
  return last === undefined ? '' : contentText(last) || JSON.stringify(last.parts);
};

const echo = (): ScriptedModel =>
  new ScriptedModel((request) => ({ text: `heard ${lastText(request)}` }));

const echoInstruction = (): ScriptedModel =>
  new ScriptedModel(({ instruction = '' }) => ({ text: instruction }));

/** Calls this tool first, then returns the text of its result. */
const calling = (name: string): ScriptedModel =>
  new ScriptedModel((request) =>
    request.contents.at(-1)?.role === 'tool'
      ? { text: lastText(request) }
      : { toolCalls: [{ name, args: {} }] },
  );

const speaker = (name: string): LlmAgent => new LlmAgent({ name, model: echo() });

const responseWith = (text: string) => () => ({
  content: { role: 'model' as const, parts: [{ text }] },
});

const IDENTITY = 'You are an agent. Your internal name is "a".\n\n';

describe('an agent built in one line', () => {
  it('answers a question', async () => {
    assert.equal(await AgentBuilder.withModel(echo()).ask('Hi'), 'heard Hi');
    const named = AgentBuilder.create('guide').withModel(echo());
    assert.equal(await named.ask({ parts: [{ text: 'Hi' }] }), 'heard Hi');
    assert.equal(await AgentBuilder.withAgent(speaker('x')).ask('Hi'), 'heard Hi');
  });

  it('with a runner, a session and its service continues one conversation', async () => {
    const counting = new ScriptedModel(({ contents }) => ({ text: `saw ${contents.length}` }));
    await using built = await AgentBuilder.create('travel-assistant')
      .withModel(counting)
      .withInstruction('You are a helpful travel planning assistant')
      .withDescription('Plans.')
      .build();
    const { runner, session, agent, sessionService } = built;
    assert.deepEqual([agent.name, agent.description], ['travel-assistant', 'Plans.']);
    assert.equal(session.appName, 'travel_assistant');
    assert.equal(await runner.ask('one'), 'saw 1');
    assert.equal(await runner.ask('two'), 'saw 3');
    const events: Event[] = [];
    for await (const one of runner.runAsync({
      userId: 'user_123',
      sessionId: session.id,
      newMessage: { parts: [{ text: 'Plan a 3-day trip to Paris' }] },
    }))
      events.push(one);
    assert.deepEqual(
      events.map(({ content }) => content?.parts),
      [[{ text: 'saw 1' }]],
    );
    const { appName, userId, id: sessionId } = session;
    const stored = await sessionService.getSession({ appName, userId, sessionId });
    assert.equal(stored?.events.length, 4);
  });

  it('that does not answer throws an error with the reason', async () => {
    const down = {
      name: 'down',
      generate: async () =>
        Promise.reject(new ModelError({ kind: 'bad_request', message: 'no', model: 'down' })),
    };
    await assert.rejects(AgentBuilder.withModel(down).ask('Hi'), {
      code: 'no_answer',
      reason: 'model_bad_request',
    });
    const remove = tool({
      name: 'remove',
      description: 'R.',
      needsApproval: true,
      execute: () => 1,
    });
    const waits = AgentBuilder.withModel(calling('remove')).withTools(remove);
    await assert.rejects(waits.ask('Hi'), /waits for/);
  });

  it('leaves the previous builder unchanged', async () => {
    const base = AgentBuilder.create('a').withModel(echoInstruction());
    assert.equal(await base.withInstruction('one').ask('Hi'), `${IDENTITY}one`);
    assert.equal(await base.withInstruction('two').ask('Hi'), `${IDENTITY}two`);
  });
});

describe('the options of an agent', () => {
  it('accept a model name, which the environment or a resolver resolves', async () => {
    const builder = AgentBuilder.withModel('some-model');
    assert.equal(
      await builder.withRunnerOptions({ modelResolver: async () => echo() }).ask('Hi'),
      'heard Hi',
    );
    await assert.rejects(AgentBuilder.withModel('gemini-2.5-flash').withEnv({}).ask('Hi'), /key/i);
  });

  it('accept an instruction function, tools, a planner and an output key', async () => {
    const look = tool({ name: 'look', description: 'L.', execute: () => 'grass' });
    const smell = tool({ name: 'smell', description: 'S.', execute: () => 'hay' });
    const tools = new ScriptedModel(({ tools: of, instruction = '' }) => ({
      text: `/*PLANNING*/ x /*FINAL_ANSWER*/ ${of.map(({ name }) => name).join()} ${instruction.split('\n')[2]}`,
    }));
    await using built = await AgentBuilder.create('a')
      .withModel(tools)
      .withInstruction(({ agentName }) => `I am ${agentName}.`)
      .withTools(look)
      .withTools(smell)
      .withPlanner(new PlanReActPlanner())
      .withOutputKey('answer')
      .build();
    assert.equal(await built.runner.ask('Hi'), 'look,smell I am a.');
    const { appName, userId, id: sessionId } = built.session;
    const stored = await built.sessionService.getSession({ appName, userId, sessionId });
    assert.equal(stored?.state['answer'], 'look,smell I am a.');
  });

  it('accept an output schema, which types the answer', async () => {
    const schema = z.object({ summary: z.string(), confidence: z.number() });
    const model = (): ScriptedModel =>
      new ScriptedModel([{ text: '{"summary":"good","confidence":0.5}' }]);
    const answer = await AgentBuilder.withModel(model()).withOutputSchema(schema).ask('Hi');
    const confidence: number = answer.confidence;
    assert.deepEqual([answer.summary.length, confidence], [4, 0.5]);
    await using built = await AgentBuilder.withModel(model()).buildWithSchema(schema);
    const typed: { summary: string } = await built.runner.ask('Hi');
    assert.equal(typed.summary, 'good');
    const wrong = AgentBuilder.withModel(new ScriptedModel([{ text: 'no' }]));
    await assert.rejects(wrong.withOutputSchema(schema).ask('Hi'), { code: 'no_answer' });
  });

  it('accept an input schema, which validates the question', async () => {
    const builder = AgentBuilder.withModel(echo()).withInputSchema(
      z.object({ query: z.string().min(1), max: z.number().default(10) }),
    );
    assert.equal(await builder.ask({ query: 'tulips' }), 'heard {"query":"tulips","max":10}');
    await assert.rejects(builder.ask({ query: '' }), { code: 'invalid_input' });
    await assert.rejects(builder.ask('tulips'), { code: 'invalid_input' });
  });

  it('accept a code executor, which runs code that the model writes', async () => {
    const names = new ScriptedModel(({ tools }) => ({ text: tools.map((one) => one.name).join() }));
    const codeExecutor = { environment: { folder: '/' }, unsandboxed: true };
    const answer = await AgentBuilder.withModel(names).withCodeExecutor(codeExecutor).ask('Hi');
    assert.equal(answer, 'code_execution');
  });

  it('accept sub-agents, which can get the turn', async () => {
    const boss = new ScriptedModel([
      { toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: 'clerk' } }] },
    ]);
    const builder = AgentBuilder.create('boss')
      .withModel(boss)
      .withSubAgents([speaker('clerk')]);
    assert.match(await builder.ask('Hi'), /^heard/);
  });
});

describe('callbacks', () => {
  const look = tool({ name: 'look', description: 'L.', execute: () => 'grass' });
  const broken = tool({
    name: 'broken',
    description: 'B.',
    execute: () => {
      throw new Error('no');
    },
  });
  const base = AgentBuilder.create('a').withModel(calling('look')).withTools(look);

  it('of every kind are called', async () => {
    const text = (of: string) => ({ role: 'model' as const, parts: [{ text: of }] });
    for (const [builder, expected] of [
      [base.withBeforeAgentCallback(() => text('before')), /^before$/],
      [base.withAfterAgentCallback(() => text('after')), /^after$/],
      [base.withBeforeModelCallback(responseWith('instead')), /^instead$/],
      [base.withAfterModelCallback(responseWith('changed')), /^changed$/],
      [base.withBeforeToolCallback(() => ({ seen: 'nothing' })), /nothing/],
      [base.withAfterToolCallback(() => ({ seen: 'snow' })), /snow/],
      [
        base
          .withModel(calling('broken'))
          .withTools(broken)
          .withOnToolErrorCallback(() => ({ seen: 'smoke' })),
        /smoke/,
      ],
      [
        base
          .withModel({
            name: 'down',
            generate: async () =>
              Promise.reject(new ModelError({ kind: 'bad_request', message: 'no', model: 'm' })),
          })
          .withOnModelErrorCallback(responseWith('excused')),
        /^excused$/,
      ],
    ] as const)
      assert.match(await builder.ask('Hi'), expected);
  });

  it('of one kind are called in their order', async () => {
    const callbacks: string[] = [];
    await base
      .withBeforeModelCallback(() => void callbacks.push('one'))
      .withBeforeModelCallback(() => void callbacks.push('two'))
      .ask('Hi');
    assert.deepEqual(callbacks, ['one', 'two', 'one', 'two']);
  });
});

describe('several agents', () => {
  it('run in sequence, in parallel and in a loop, and each answers', async () => {
    const agents = (): readonly LlmAgent[] => [speaker('a'), speaker('b')];
    const sequence = await AgentBuilder.create('flow').asSequential(agents()).ask('Hi');
    assert.deepEqual(
      sequence.map(({ agent }) => agent),
      ['a', 'b'],
    );
    const both = await AgentBuilder.create('flow').asParallel(agents()).ask('Hi');
    assert.deepEqual(
      both.map(({ response }) => response),
      ['heard Hi', 'heard Hi'],
    );
    await using built = await AgentBuilder.create('flow')
      .withDescription('Round.')
      .asLoop(agents(), 2)
      .build();
    assert.ok(built.agent instanceof LoopAgent && built.agent.maxIterations === 2);
    assert.equal(built.agent.description, 'Round.');
    assert.equal((await built.runner.ask('Hi')).length, 2);
  });

  it('run as a workflow along its routes', async () => {
    const classify = (_: unknown, message: string) => event({ route: message });
    const answer = await AgentBuilder.create('flow')
      .asWorkflow([['START', classify, { a: speaker('a'), b: speaker('b') }]])
      .ask('b');
    assert.deepEqual(answer, [{ agent: 'b', response: 'heard b' }]);
  });

  it('run as a graph in the syntax of ADK-TS, in a loop while a condition holds', async () => {
    let rounds = 0;
    const nodes = [
      { name: 'write', agent: speaker('writer'), targets: ['review'] },
      { name: 'review', agent: speaker('reviewer'), targets: ['again', 'end'] },
      {
        name: 'again',
        agent: speaker('fixer'),
        targets: ['review'],
        condition: () => ++rounds < 3,
      },
      { name: 'end', agent: speaker('printer'), condition: async () => rounds >= 3 },
    ];
    const answer = await AgentBuilder.create('flow').asLangGraph(nodes, 'write').ask('Go');
    const names = answer.map(({ agent }) => agent).toSorted((a, b) => a.localeCompare(b));
    assert.deepEqual(names, ['fixer', 'printer', 'reviewer', 'writer']);
    assert.equal(rounds, 3);
    const builder = AgentBuilder.create('flow');
    assert.throws(() => builder.asLangGraph(nodes, 'nowhere'), /no node "nowhere"/);
  });

  it('reject options that would have no effect, by name', async () => {
    const flow = AgentBuilder.create('flow').asSequential([speaker('a')]);
    assert.throws(
      () => flow.asParallel([speaker('b')]),
      /asParallel: cannot be combined with asSequential/,
    );
    await assert.rejects(flow.withInstruction('Be brief.').build(), /instruction.*asSequential/);
    const wrapped = AgentBuilder.withAgent(speaker('a'));
    await assert.rejects(wrapped.withModel(echo()).build(), /model.*existing agent/);
    await assert.rejects(wrapped.withSubAgents([speaker('b')]).build(), /subAgents/);
    await assert.rejects(AgentBuilder.create('a').build(), /withModel/);
  });
});

describe('services', () => {
  it('a custom session service continues its sessions', async () => {
    const service = new InMemorySessionService();
    const where = { appName: 'support', userId: 'alice', sessionId: 's1', state: { tone: 'kind' } };
    const builder = AgentBuilder.withModel(echoInstruction()).withInstruction('Be {tone}.');
    const first = await builder.withSessionService(service, where).build();
    assert.equal(
      await first.runner.ask('Hi'),
      'You are an agent. Your internal name is "default_agent".\n\nBe kind.',
    );
    await first.runner.close();
    const session = await service.getSession(where);
    assert.equal(session?.events.length, 2);
    assert.ok(session !== undefined);
    await using again = await builder.withSessionService(service).withSession(session).build();
    await again.runner.ask('Hi');
    assert.equal((await service.getSession(where))?.events.length, 4);
    await assert.rejects(builder.withSession(session).build(), /withSessionService/);
  });

  it('withQuickSession uses the given session id', async () => {
    const builder = AgentBuilder.withModel(echo());
    await using byId = await builder.withQuickSession('user-456').build();
    assert.equal(byId.session.id, 'user-456');
    await using more = await builder
      .withQuickSession({ appName: 'app', userId: 'u', state: { a: 1 } })
      .build();
    const { appName, userId, state } = more.session;
    assert.deepEqual([appName, userId, state], ['app', 'u', { a: 1 }]);
  });

  it('memory is added, artifacts are stored, credentials are found', async () => {
    const memory = new InMemoryMemoryService();
    const artifacts = new InMemoryArtifactService();
    const credentials = new InMemoryCredentialService();
    const auth = { authScheme: { type: 'apiKey' }, credentialKey: 'k' };
    await credentials.saveCredential(
      { ...auth, exchangedAuthCredential: { key: 'open' } },
      { appName: 'app', userId: 'u' },
    );
    const keep = new AuthenticatedFunctionTool({
      name: 'keep',
      description: 'Keeps.',
      authConfig: auth,
      execute: async (_, context, credential) => {
        await context.artifacts.save('note', { text: JSON.stringify(credential) });
        return 'kept';
      },
    });
    await using built = await AgentBuilder.withModel(calling('keep'))
      .withTools(keep, loadMemoryTool())
      .withMemory(memory)
      .withArtifactService(artifacts)
      .withCredentialService(credentials)
      .withQuickSession({ appName: 'app', userId: 'u', sessionId: 's' })
      .build();
    assert.match(await built.runner.ask('Keep the tulips'), /kept/);
    const key = { session: { appName: 'app', userId: 'u', sessionId: 's' }, name: 'note' };
    assert.deepEqual(await artifacts.load(key), { text: '{"key":"open"}' });
    const found = await memory.search({ appName: 'app', userId: 'u' }, 'tulips');
    assert.equal(found.length, 1);
  });

  it('a run config applies to every question', async () => {
    const loud = new ScriptedModel(() => ({ toolCalls: [{ name: 'look' }] }));
    const look = tool({ name: 'look', description: 'L.', execute: () => 1 });
    const builder = AgentBuilder.withModel(loud)
      .withTools(look)
      .withRunConfig({ customMetadata: { a: 1 } })
      .withRunConfig({ maxLlmCalls: 2 });
    await assert.rejects(builder.ask('Go'), { code: 'llm_calls_limit_exceeded', maxLlmCalls: 2 });
  });

  it('older events are compacted as configured', async () => {
    let summarize = (): void => {};
    const summarized = new Promise<void>((resolve) => (summarize = resolve));
    class Summary extends BaseEventsSummarizer {
      override async summarizeEvents(): Promise<undefined> {
        summarize();
      }
    }
    await using built = await AgentBuilder.withModel(echo())
      .withEventsCompaction({ compactionInterval: 2, overlapSize: 0, summarizer: new Summary() })
      .build();
    await built.runner.ask('one');
    await built.runner.ask('two');
    await summarized;
    const wrong = AgentBuilder.withModel(echo()).withEventsCompaction({ compactionInterval: 0 });
    await assert.rejects(wrong.build(), { code: 'invalid_input' });
  });

  it('plugins, a context cache and resumability belong to the app', async () => {
    const requests: string[] = [];
    class Spy extends BasePlugin {
      override async beforeRunCallback(): Promise<undefined> {
        requests.push(this.name);
      }
    }
    await using built = await AgentBuilder.withModel(echo())
      .withPlugins(new Spy('one'))
      .withPlugins(new Spy('two'))
      .withContextCacheConfig({ cacheIntervals: 5 })
      .withResumability({ isResumable: false })
      .build();
    await built.runner.ask('Hi');
    assert.deepEqual(requests, ['one', 'two']);
    const { contextCacheConfig, resumabilityConfig } = built.runner.app;
    assert.deepEqual(
      [contextCacheConfig, resumabilityConfig],
      [{ cacheIntervals: 5 }, { isResumable: false }],
    );
  });
});
