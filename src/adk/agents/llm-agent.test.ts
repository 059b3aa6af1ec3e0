import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { isFinalResponse, contentText, contentThinking } from '../../core/index.ts';
import type { AuthConfig, Content, Event, JsonObject } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { ModelRequest } from '../../models/index.ts';
import { tool } from '../../tools/index.ts';
import { AgentTool } from './agent-tool.ts';
import { AuthenticatedFunctionTool } from '../tools/authenticated-function-tool.ts';
import { BasePlugin } from '../plugins/base-plugin.ts';
import { BaseTool, FunctionTool, LongRunningFunctionTool } from '../tools/base-tool.ts';
import { BaseToolset } from '../tools/base-toolset.ts';
import { BuiltInPlanner } from './built-in-planner.ts';
import { InMemoryCredentialService } from '../tools/credential-service.ts';
import type { FunctionToolContext } from '../tools/function-tool-context.ts';
import { InMemoryRunner } from '../runner/in-memory-runner.ts';
import { InMemorySessionService } from '../sessions/in-memory-session-service.ts';
import { LlmAgent } from './llm-agent.ts';
import type { LlmAgentConfig } from './llm-agent.ts';
import { PlanReActPlanner } from './plan-re-act-planner.ts';
import { Runner } from '../runner/runner.ts';
import { SequentialAgent } from './sequential-agent.ts';
import { SqliteSessionService } from '../sessions/sqlite-session-service.ts';

const sessionIds = { userId: 'debug_user_id', sessionId: 'debug_session_id' } as const;
const sessionKey = { appName: 'InMemoryRunner', ...sessionIds };

const messageTexts = (events: readonly Event[]): readonly string[] =>
  events.flatMap(({ author, content }) =>
    content === undefined || contentText(content) === ''
      ? []
      : [`${author}: ${contentText(content)}`],
  );

const lastText = ({ contents }: ModelRequest): string => {
  const last = contents.at(-1);
  return last === undefined ? '' : contentText(last) || JSON.stringify(last.parts);
};

/** Calls this tool first, then returns the text of its result. */
const calling = (name: string, args: JsonObject = {}): ScriptedModel =>
  new ScriptedModel((request) =>
    request.contents.at(-1)?.role === 'tool'
      ? { text: lastText(request) }
      : { toolCalls: [{ name, args }] },
  );

function createRunner(config: Partial<LlmAgentConfig>, plugins: readonly BasePlugin[] = []) {
  const agent = new LlmAgent({ name: 'chat', model: new ScriptedModel([]), ...config });
  return new InMemoryRunner({ agent, plugins });
}

function answer(id: string, response: JsonObject): Content {
  return { role: 'user', parts: [{ functionResponse: { id, name: 'x', response } }] };
}

const waitingCallId = (events: readonly Event[]): string => {
  const id = events.at(-1)?.longRunningToolIds?.[0];
  assert.ok(id !== undefined, 'a call waits');
  return id;
};

describe('the instruction and contents of a model request', () => {
  it('an instruction provider gets the invocation context, and its text is used unchanged', async () => {
    await using runner = createRunner({
      model: new ScriptedModel(({ instruction = '' }) => ({ text: instruction })),
      identity: false,
      globalInstruction: ({ agentName, userId }) => `${agentName} for ${userId}`,
      instruction: async ({ state, userContent, invocationId }) =>
        `{${String(state['mood'])}} ${contentText(userContent ?? { role: 'user', parts: [] })} ${invocationId.slice(0, 2)}`,
    });
    await runner.sessionService.createSession({ ...sessionKey, state: { mood: 'good' } });
    assert.deepEqual(messageTexts(await runner.runDebug('Hi')), [
      'chat: chat for debug_user_id\n\n{good} Hi e-',
    ]);
  });

  it('includeContents selects the whole conversation or the current invocation', async () => {
    const counting = new ScriptedModel(({ contents }) => ({ text: `saw ${contents.length}` }));
    await using all = createRunner({ model: counting });
    assert.deepEqual(messageTexts(await all.runDebug(['1', '2'])), ['chat: saw 1', 'chat: saw 3']);
    await using none = createRunner({ model: counting, includeContents: 'none' });
    assert.deepEqual(messageTexts(await none.runDebug(['1', '2'])), ['chat: saw 1', 'chat: saw 1']);
  });
});

describe('a planner', () => {
  it("asks for a plan, and only the final answer is the agent's text", async () => {
    const planned = '/*PLANNING*/ 1. look /*REASONING*/ fine. /*FINAL_ANSWER*/ Grass.';
    const instructions: string[] = [];
    await using runner = createRunner({
      model: new ScriptedModel(({ instruction = '' }) => {
        instructions.push(instruction);
        return { text: planned };
      }),
      identity: false,
      instruction: 'Be brief.',
      planner: new PlanReActPlanner(),
      outputKey: 'answer',
    });
    const events = await runner.runDebug('What is there?');
    assert.match(instructions[0] ?? '', /^Be brief\.\n\n.*\/\*PLANNING\*\//s);
    assert.deepEqual(messageTexts(events), ['chat: Grass.']);
    assert.match(contentThinking(events[0]?.content ?? never()), /1\. look/);
    assert.equal((await runner.sessionService.getSession(sessionKey))?.state['answer'], 'Grass.');
  });

  it('sets the thinking config of the model', async () => {
    const configs: unknown[] = [];
    await using runner = createRunner({
      model: new ScriptedModel(({ config }) => {
        configs.push(config);
        return { text: 'Hm.' };
      }),
      generateContentConfig: { temperature: 0 },
      planner: new BuiltInPlanner({ thinkingConfig: { effort: 'high' } }),
    });
    await runner.runDebug('Hi');
    assert.deepEqual(configs, [{ temperature: 0, thinking: { effort: 'high' } }]);
  });
});

describe('an output schema', () => {
  const outputSchema = z.object({ n: z.number() });

  it('validates every answer and keeps its value', async () => {
    class Instead extends BasePlugin {
      override async beforeModelCallback({
        llmRequest,
      }: Parameters<BasePlugin['beforeModelCallback']>[0]) {
        const text = contentText(llmRequest.contents.at(-1) ?? never());
        const parts = [{ text }];
        return text.startsWith('{') ? { content: { role: 'model' as const, parts } } : undefined;
      }
    }
    for (const [message, value] of [
      ['Hi', { n: 1 }],
      ['{"n":2}', { n: 2 }],
    ] as const) {
      await using runner = createRunner(
        { model: new ScriptedModel([{ text: '{"n":1}' }]), outputSchema, outputKey: 'out' },
        [new Instead('instead')],
      );
      await runner.runDebug(message);
      assert.deepEqual((await runner.sessionService.getSession(sessionKey))?.state['out'], value);
    }
  });

  it('rejects an answer that does not match', async () => {
    for (const text of ['no', '[]', '{"n":"1"}']) {
      await using runner = createRunner({ model: new ScriptedModel([{ text }]), outputSchema });
      const [event] = await runner.runDebug('Hi');
      assert.match(event?.errorMessage ?? '', /does not match its outputSchema/);
      assert.equal(event?.errorCode, 'output_schema');
    }
  });
});

describe('agents that transfer', () => {
  const to = (name: string) =>
    new ScriptedModel(({ tools, contents }) => {
      const last = contents.at(-1);
      return last?.role === 'user' && tools.some((tool) => tool.name === 'transfer_to_agent')
        ? { toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: name } }] }
        : { text: 'Me.' };
    });
  const team = (rules: Partial<LlmAgentConfig>) =>
    new InMemoryRunner({
      agent: new LlmAgent({
        name: 'boss',
        model: to('clerk'),
        subAgents: [
          new LlmAgent({ name: 'clerk', model: to('boss'), description: 'Writes.', ...rules }),
          new LlmAgent({ name: 'cook', model: to('boss'), description: 'Cooks.' }),
        ],
      }),
    });

  it('can transfer to the parent and to peers, except when that is disallowed', async () => {
    await using free = team({});
    const events = await free.runDebug('Hi');
    assert.deepEqual(
      events.flatMap(({ author, actions }) => actions.transferToAgent ?? [author]).slice(0, 3),
      ['boss', 'clerk', 'clerk'],
    );
    await using bound = team({ disallowTransferToParent: true, disallowTransferToPeers: true });
    assert.deepEqual(messageTexts(await bound.runDebug('Hi')).at(-1), 'clerk: Me.');
  });
});

describe('an agent as a tool', () => {
  it('takes a text or the fields of its input schema, and returns its last text', async () => {
    const echo = new ScriptedModel((request) => ({ text: `heard ${lastText(request)}` }));
    const plain = new LlmAgent({ name: 'adder', model: echo, description: 'Adds.' });
    const typed = new LlmAgent({
      name: 'adder',
      model: echo,
      inputSchema: z.object({ a: z.number(), b: z.number() }),
    });
    for (const [agent, args, received] of [
      [plain, { request: 'one and one' }, /heard one and one/],
      [typed, { a: 1, b: 2 }, /heard \{\\"a\\":1,\\"b\\":2\}/],
      [typed, { a: 'x', b: 2 }, /invalid/],
    ] as const) {
      await using runner = createRunner({
        model: calling('adder', args),
        tools: [new AgentTool({ agent })],
      });
      assert.match(messageTexts(await runner.runDebug('Add')).join(), received);
    }
  });
});

describe('tools', () => {
  it('of a custom class get their call and can use actions', async () => {
    class Greet extends BaseTool {
      constructor() {
        super({ name: 'greet', description: 'Greets.' });
      }
      override parametersSchema() {
        return z.object({ name: z.string() });
      }
      override async runAsync({
        args,
        toolContext,
      }: {
        readonly args: { readonly name: string };
        readonly toolContext: FunctionToolContext;
      }): Promise<unknown> {
        const { functionCallId, callId, userId, agentName, actions, state } = toolContext;
        actions.skipSummarization();
        state.set('greeted', args.name);
        return { same: functionCallId === callId, userId, agentName };
      }
    }
    await using runner = createRunner({
      model: calling('greet', { name: 'Ada' }),
      tools: [new Greet()],
    });
    const events = await runner.runDebug('Hi');
    const last = events.findLast(({ content }) => content?.role === 'tool') ?? never();
    assert.ok(isFinalResponse(last));
    assert.match(
      JSON.stringify(last.content),
      /"same":true,"userId":"debug_user_id","agentName":"chat"/,
    );
    assert.equal((await runner.sessionService.getSession(sessionKey))?.state['greeted'], 'Ada');
  });

  it('that are long-running return a first result, and a later one starts another invocation', async () => {
    const ticket = new LongRunningFunctionTool({
      name: 'ticket',
      description: 'Files a ticket.',
      execute: () => ({ status: 'filed' }),
    });
    await using runner = createRunner({ model: calling('ticket'), tools: [ticket] });
    assert.equal(ticket.isLongRunning, true);
    const first = await runner.runDebug('Go');
    const [id = ''] = first[0]?.longRunningToolIds ?? [];
    assert.match(messageTexts(first).join(), /filed/);
    const newMessage = answer(id, { status: 'approved' });
    const rest = await runner.run({ ...sessionIds, newMessage });
    assert.match(messageTexts(rest).join(), /approved/);
    assert.notEqual(rest[0]?.invocationId, first[0]?.invocationId);
    await assert.rejects(
      runner.run({ ...sessionIds, newMessage: answer('call_x', { status: 'approved' }) }),
      { code: 'invalid_input' },
    );
  });

  it('can ask for a confirmation while they run, and run again with it', async () => {
    const pay = new FunctionTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ amount: z.number() }),
      execute: ({ amount }, { toolConfirmation, requestConfirmation }) => {
        if (toolConfirmation === undefined)
          return requestConfirmation({ hint: `Pay ${amount}?`, payload: { amount } });
        return toolConfirmation.confirmed === true
          ? { paid: toolConfirmation.payload ?? null }
          : { error: 'not allowed' };
      },
    });
    for (const [response, expected] of [
      [{ confirmed: true, payload: { amount: 5 } }, /paid.*5/],
      [{ confirmed: false }, /not allowed/],
    ] as const) {
      await using runner = createRunner({ model: calling('pay', { amount: 9 }), tools: [pay] });
      const events = await runner.runDebug('Go');
      const id = waitingCallId(events);
      assert.deepEqual(events.at(-1)?.actions.requestedToolConfirmations, {
        [id.replace('adk-', '')]: { hint: 'Pay 9?', confirmed: false, payload: { amount: 9 } },
      });
      const rest = await runner.run({ ...sessionIds, newMessage: answer(id, response) });
      assert.match(messageTexts(rest).join(), expected);
    }
  });

  it('of a toolset are filtered, and listed again for each request', async () => {
    class Doors extends BaseToolset {
      override async getTools() {
        return ['open', 'close'].map((name) =>
          tool({ name, description: name, execute: (_, { state }) => state.set('open', true) }),
        );
      }
    }
    const other = tool({ name: 'other', description: 'Other.', execute: () => 1 });
    const offered: string[] = [];
    const model = new ScriptedModel((request) => {
      offered.push(request.tools.map(({ name }) => name).join());
      const text = lastText(request);
      return request.contents.at(-1)?.role === 'tool' ? { text } : { toolCalls: [{ name: text }] };
    });
    const doors = new Doors('doors', {
      toolFilter: ({ name }, { state }) => (name === 'close') === (state.get('open') === true),
    });
    await using runner = createRunner({ model, tools: [doors, other] });
    const events = await runner.runDebug(['close', 'open', 'close']);
    assert.deepEqual(offered, [
      'open,other',
      'open,other',
      'open,other',
      'close,other',
      'close,other',
      'close,other',
    ]);
    assert.deepEqual(
      messageTexts(events).map((line) => line.includes('is not available now')),
      [true, false, false],
    );
    await using named = createRunner({
      model: new ScriptedModel(({ tools }) => ({ text: tools.map(({ name }) => name).join() })),
      tools: [new Doors('doors', { toolFilter: ['open'] })],
    });
    assert.deepEqual(messageTexts(await named.runDebug('Hi')), ['chat: open']);
  });

  it('run programs that the model writes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'code-'));
    try {
      await using runner = createRunner({
        model: calling('code_execution', { language: 'javascript', code: 'console.log(6 * 7)' }),
        codeExecutor: { environment: { folder }, unsandboxed: true, needsApproval: false },
      });
      assert.match(messageTexts(await runner.runDebug('Compute')).join(), /42/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a credential that a tool needs', () => {
  const authConfig: AuthConfig = {
    authScheme: { type: 'oauth2' },
    credentialKey: 'mail',
    rawAuthCredential: { clientSecret: 'hush' },
  };
  const mail = (): LlmAgent =>
    new LlmAgent({
      name: 'chat',
      model: calling('mail'),
      tools: [
        new AuthenticatedFunctionTool({
          name: 'mail',
          description: 'Reads mail.',
          authConfig,
          execute: (_, { userId }, credential) => ({
            read: `${userId} with ${JSON.stringify(credential)}`,
          }),
        }),
      ],
    });

  it('is requested, the call waits over a restart, and the answer resumes it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'auth-'));
    const credentialService = new InMemoryCredentialService();
    const open = () => {
      const sessionService = new SqliteSessionService(join(folder, 'adk.db'));
      const runner = new Runner({
        agent: mail(),
        appName: 'mail',
        sessionService,
        credentialService,
        autoCreateSession: true,
      });
      return { sessionService, runner };
    };
    try {
      const before = open();
      const events = await before.runner.run({ ...sessionIds, newMessage: 'Any mail?' });
      const id = waitingCallId(events);
      assert.deepEqual(events.at(-1)?.actions.requestedAuthConfigs, {
        [id.replace('adk-', '')]: { authScheme: { type: 'oauth2' }, credentialKey: 'mail' },
      });
      await before.runner.close();
      await before.sessionService.close();

      const after = open();
      const wrong = answer(id, { token: 'T' });
      await assert.rejects(after.runner.run({ ...sessionIds, newMessage: wrong }), {
        code: 'invalid_input',
      });
      const newMessage = answer(id, { exchangedAuthCredential: { token: 'T' } });
      const rest = await after.runner.run({ ...sessionIds, newMessage });
      assert.match(messageTexts(rest).join(), /debug_user_id with \{.*token.*T/);
      // The credential is saved, so the user is not asked again.
      const again = await after.runner.run({ ...sessionIds, newMessage: 'More?' });
      assert.match(messageTexts(again).join(), /with \{/);
      // The credential is in no log.
      const session = await after.sessionService.getSession({ appName: 'mail', ...sessionIds });
      const logged = JSON.stringify(
        session?.events.filter(({ content }) => content?.role === 'user'),
      );
      assert.ok(!logged.includes('token') && !logged.includes('hush'));
      await after.runner.close();
      await after.sessionService.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('belongs to one user, and tools can load and save it', async () => {
    const credentialService = new InMemoryCredentialService();
    const keep = new FunctionTool({
      name: 'keep',
      description: 'Keeps.',
      execute: async (_, { userId, loadCredential, saveCredential }) => {
        const known = await loadCredential(authConfig);
        await saveCredential({ ...authConfig, exchangedAuthCredential: { of: userId } });
        return { known: known ?? 'nothing' };
      },
    });
    await using runner = new Runner({
      agent: new LlmAgent({ name: 'chat', model: calling('keep'), tools: [keep] }),
      appName: 'mail',
      sessionService: new InMemorySessionService(),
      credentialService,
      autoCreateSession: true,
    });
    for (const [userId, expected] of [
      ['a', /nothing/],
      ['b', /nothing/],
      ['a', /"of":"a"/],
    ] as const) {
      const events = await runner.run({ userId, sessionId: 's', newMessage: 'Go' });
      assert.match(messageTexts(events).join(), expected);
    }
  });
});

describe('the output key of an agent', () => {
  it('is available in the instruction of the next agent', async () => {
    await using runner = new InMemoryRunner({
      agent: new SequentialAgent({
        name: 'flow',
        subAgents: [
          new LlmAgent({ name: 'a', model: new ScriptedModel([{ text: 'blue' }]), outputKey: 'c' }),
          new LlmAgent({
            name: 'b',
            model: new ScriptedModel(({ instruction = '' }) => ({ text: instruction })),
            identity: false,
            instruction: 'Paint it {c}.',
          }),
        ],
      }),
    });
    assert.deepEqual(messageTexts(await runner.runDebug('Go')), ['a: blue', 'b: Paint it blue.']);
  });
});

function never(): never {
  throw new Error('It is not there.');
}
