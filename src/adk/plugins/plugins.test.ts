import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentText, userContent } from '../../core/index.ts';
import type { Content, Event } from '../../core/index.ts';
import { ModelError, ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { InMemoryArtifactService, tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';
import { App } from '../app/app.ts';
import { BasePlugin } from './base-plugin.ts';
import { ContextFilterPlugin } from './context-filter-plugin.ts';
import { GlobalInstructionPlugin } from './global-instruction-plugin.ts';
import { InMemoryRunner } from '../runner/in-memory-runner.ts';
import { InMemorySessionService } from '../sessions/in-memory-session-service.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import type { LlmAgentConfig } from '../agents/llm-agent.ts';
import { LoggingPlugin } from './logging-plugin.ts';
import { ModelFallbackPlugin } from './model-fallback-plugin.ts';
import { ReflectAndRetryToolPlugin } from './reflect-and-retry-tool-plugin.ts';
import { Runner } from '../runner/runner.ts';
import { SaveFilesAsArtifactsPlugin } from './save-files-as-artifacts-plugin.ts';
import { SequentialAgent } from '../agents/sequential-agent.ts';
import { ToolFilterPlugin } from './tool-filter-plugin.ts';

const sessionIds = { userId: 'debug_user_id', sessionId: 'debug_session_id' } as const;
const sessionKey = { appName: 'demo', ...sessionIds };

/** Repeats the last message; calls `look` first if the message says so. */
const model = (): ScriptedModel =>
  new ScriptedModel(({ contents }) => {
    const last = contents.at(-1);
    const lastMessage = last === undefined ? '' : contentText(last);
    return lastMessage.startsWith('call ')
      ? { toolCalls: [{ name: lastMessage.slice(5), args: {} }] }
      : { text: lastMessage === '' ? JSON.stringify(last?.parts[0]) : `You said: ${lastMessage}` };
  });

const look: Tool = tool({ name: 'look', description: 'Looks.', execute: () => 'grass' });
const broken: Tool = tool({
  name: 'broken',
  description: 'Fails.',
  execute: () => {
    throw new Error('out of order');
  },
});

function createRunner(plugins: readonly BasePlugin[], more: Partial<LlmAgentConfig> = {}) {
  const rootAgent = new LlmAgent({
    name: 'chat',
    model: model(),
    tools: [look, broken],
    ...more,
  });
  return new InMemoryRunner({ app: new App({ name: 'demo', rootAgent, plugins }) });
}

const messageTexts = (events: readonly Event[]): readonly string[] =>
  events.flatMap(({ content }) =>
    content === undefined || contentText(content) === '' ? [] : [contentText(content)],
  );

/** Records every callback, and returns the configured results. */
class Spy extends BasePlugin {
  readonly #calls: string[];
  readonly #answers: Readonly<Record<string, unknown>>;

  constructor(name: string, calls: string[], answers: Readonly<Record<string, unknown>> = {}) {
    super(name);
    this.#calls = calls;
    this.#answers = answers;
  }

  async #record(what: string): Promise<undefined> {
    this.#calls.push(`${this.name} ${what}`);
    const answer = this.#answers[what];
    if (answer instanceof Error) throw answer;
    return answer as undefined;
  }

  override onUserMessageCallback = async (): Promise<undefined> => this.#record('message');
  override beforeRunCallback = async (): Promise<undefined> => this.#record('before run');
  override onEventCallback = async (): Promise<undefined> => this.#record('event');
  override afterRunCallback = async (): Promise<undefined> => this.#record('after run');
  override beforeAgentCallback = async (): Promise<undefined> => this.#record('before agent');
  override afterAgentCallback = async (): Promise<undefined> => this.#record('after agent');
  override beforeModelCallback = async (): Promise<undefined> => this.#record('before model');
  override afterModelCallback = async (): Promise<undefined> => this.#record('after model');
  override onModelErrorCallback = async (): Promise<undefined> => this.#record('model error');
  override beforeToolCallback = async (): Promise<undefined> => this.#record('before tool');
  override afterToolCallback = async (): Promise<undefined> => this.#record('after tool');
  override onToolErrorCallback = async (): Promise<undefined> => this.#record('tool error');
}

describe('plugins of an app', () => {
  it("are called at every point, in the order of the app and before the agent's own callbacks", async () => {
    const callbacks: string[] = [];
    await using runner = createRunner([new Spy('a', callbacks), new Spy('b', callbacks)], {
      beforeModelCallback: () => void callbacks.push('own before model'),
    });
    await runner.runDebug('call look');
    assert.deepEqual(
      callbacks.filter((line) => !line.endsWith(' event')),
      [
        'a message',
        'b message',
        'a before run',
        'b before run',
        'a before agent',
        'b before agent',
        'a before model',
        'b before model',
        'own before model',
        'a after model',
        'b after model',
        'a before tool',
        'b before tool',
        'a after tool',
        'b after tool',
        'a before model',
        'b before model',
        'own before model',
        'a after model',
        'b after model',
        'a after agent',
        'b after agent',
        'a after run',
        'b after run',
      ],
    );
  });

  it('end a callback chain with the first result', async () => {
    const answer: Content = { role: 'model', parts: [{ text: 'mine' }] };
    for (const [what, given, expected] of [
      ['message', userContent('else'), ['You said: else']],
      ['before run', answer, ['mine']],
      ['before agent', answer, ['mine']],
      ['before model', { content: answer }, ['mine']],
      ['after model', { content: answer }, ['mine']],
      ['after agent', answer, ['You said: Hi', 'mine']],
    ] as const) {
      const callbacks: string[] = [];
      const plugins = [new Spy('a', callbacks, { [what]: given }), new Spy('b', callbacks)];
      await using runner = createRunner(plugins);
      assert.deepEqual(messageTexts(await runner.runDebug('Hi')), expected, what);
      assert.ok(callbacks.includes(`a ${what}`) && !callbacks.includes(`b ${what}`), what);
      assert.ok(callbacks.includes('a after run'), what);
    }
  });

  it('change the arguments and the result of a tool, and replace the result of a failed tool', async () => {
    for (const [what, given, message, expected] of [
      ['before tool', { seen: 'nothing' }, 'call look', /nothing/],
      ['after tool', { seen: 'snow' }, 'call look', /snow/],
      ['tool error', { seen: 'smoke' }, 'call broken', /smoke/],
    ] as const) {
      await using runner = createRunner([new Spy('a', [], { [what]: given })]);
      assert.match(messageTexts(await runner.runDebug(message)).join(), expected, what);
    }
  });

  it('replace the response of a failed model, and see its request', async () => {
    class Excuse extends BasePlugin {
      override async onModelErrorCallback({
        llmRequest,
        error,
      }: Parameters<BasePlugin['onModelErrorCallback']>[0]) {
        const question = llmRequest.contents.map(contentText).join();
        const parts = [{ text: `${question}: ${error.message}` }];
        return { content: { role: 'model' as const, parts } };
      }
    }
    await using runner = createRunner([new Excuse('excuse')], {
      model: {
        name: 'down',
        generate: async () =>
          Promise.reject(new ModelError({ kind: 'bad_request', message: 'down', model: 'down' })),
      },
    });
    assert.match(messageTexts(await runner.runDebug('Hi')).join(), /^Hi: .*down/);
  });

  it('that throw fail the agent, model or tool they were called for, and the session continues', async () => {
    for (const what of ['before agent', 'after agent', 'before model', 'after model']) {
      await using runner = createRunner([new Spy('a', [], { [what]: new Error('no!') })]);
      const events = await runner.runDebug('Hi');
      assert.match(JSON.stringify(events), /callback_failed.*no!/, what);
      const again = await runner.runDebug('Hi');
      assert.notEqual(again[0]?.invocationId, events[0]?.invocationId);
    }
    await using runner = createRunner([new Spy('a', [], { 'before tool': new Error('no!') })]);
    assert.match(messageTexts(await runner.runDebug('call look')).join(), /callback_failed.*no!/);
  });

  it('that throw around an invocation make runAsync throw', async () => {
    for (const what of ['message', 'before run', 'event', 'after run']) {
      const callbacks: string[] = [];
      const plugins = [
        new Spy('a', callbacks, { [what]: new Error('no!') }),
        new Spy('b', callbacks),
      ];
      await using runner = createRunner(plugins);
      await assert.rejects(runner.runDebug('Hi'), { code: 'plugin_failed', plugin: 'a' });
      if (what === 'after run') assert.ok(callbacks.includes('b after run'));
    }
  });

  it('with model callbacks do not hide that the model call limit is reached', async () => {
    const loud = new ScriptedModel(() => ({ toolCalls: [{ name: 'look' }] }));
    await using runner = createRunner([new Spy('a', [])], { model: loud });
    await assert.rejects(runner.runDebug('Go', { runConfig: { maxLlmCalls: 2 } }), {
      code: 'llm_calls_limit_exceeded',
      maxLlmCalls: 2,
    });
  });

  it('can end an invocation before it begins: the message is kept, and no agent runs', async () => {
    class Gate extends BasePlugin {
      override async beforeRunCallback({
        invocationContext,
      }: Parameters<BasePlugin['beforeRunCallback']>[0]): Promise<undefined> {
        const { state } = await invocationContext.session();
        if (state['open'] !== true) invocationContext.endInvocation();
        assert.equal(invocationContext.ended, state['open'] !== true);
      }
    }
    await using runner = createRunner([new Gate('gate')]);
    assert.deepEqual(await runner.runDebug('Hi'), []);
    const stored = await runner.sessionService.getSession(sessionKey);
    assert.deepEqual(messageTexts(stored?.events ?? []), ['Hi']);
  });

  it('can end an invocation from any callback', async () => {
    for (const callback of ['beforeAgent', 'beforeModel', 'afterModel'] as const) {
      class Guard extends BasePlugin {}
      const ends = async (params: object): Promise<undefined> => {
        const { callbackContext } = params as {
          readonly callbackContext: { readonly actions: { readonly endInvocation: () => void } };
        };
        callbackContext.actions.endInvocation();
      };
      const guard = Object.assign(new Guard('guard'), { [`${callback}Callback`]: ends });
      await using runner = createRunner([guard]);
      assert.ok(!JSON.stringify(await runner.runDebug('call look')).includes('grass'), callback);
    }
  });

  it('are closed with the runner, each within a time limit', async () => {
    const clock = new SimulatedClock(0);
    const warnings: string[] = [];
    let closing = (): void => {};
    const begun = new Promise<void>((resolve) => (closing = resolve));
    class Stuck extends BasePlugin {
      override async close(): Promise<void> {
        closing();
        await new Promise(() => {});
      }
    }
    const closed: string[] = [];
    class Good extends BasePlugin {
      override async close(): Promise<void> {
        closed.push(this.name);
      }
    }
    class Bad extends BasePlugin {
      override close(): Promise<void> {
        throw new Error('cannot close');
      }
    }
    const failures: unknown[] = [];
    const rootAgent = new LlmAgent({ name: 'chat', model: model() });
    const plugins = [new Stuck('stuck'), new Bad('bad'), new Good('good')];
    const runner = new Runner({
      app: new App({ name: 'demo', rootAgent, plugins }),
      sessionService: new InMemorySessionService({ clock }),
      clock,
      pluginCloseTimeoutMs: 200,
      onWarning: (message) => warnings.push(message),
      onError: (error) => failures.push(error),
    });
    await runner.runDebug('Hi');
    const closes = runner.close();
    await begun;
    clock.advance(199);
    assert.deepEqual(closed, []);
    clock.advance(1);
    await closes;
    assert.deepEqual(closed, ['good']);
    assert.match(warnings.join(), /"stuck" did not close in time/);
    assert.match(String(failures), /cannot close/);
  });
});

describe('built-in plugins', () => {
  it('logging writes a line at every point', async () => {
    const lines: string[] = [];
    await using runner = createRunner([new LoggingPlugin({ print: (line) => lines.push(line) })]);
    await runner.runDebug(['call look', 'call broken']);
    for (const what of [
      'user message',
      'invocation begins',
      'agent begins',
      'model call',
      'model answer',
      'tool call',
      'tool result',
      'tool error',
      'event',
      'agent ends',
      'invocation ends',
    ])
      assert.ok(
        lines.some((line) => line.startsWith(`[logging] ${what} · e-`)),
        what,
      );
    assert.ok(lines.some((line) => line.includes('look: {"result":"grass"}')));
  });

  it("the global instruction plugin puts an instruction before every agent's own", async () => {
    const repeatInstruction = (): ScriptedModel =>
      new ScriptedModel(({ instruction = '' }) => ({ text: instruction }));
    const rootAgent = new SequentialAgent({
      name: 'flow',
      subAgents: [
        new LlmAgent({
          name: 'a',
          model: repeatInstruction(),
          identity: false,
          instruction: 'Be a.',
          globalInstruction: 'Own.',
        }),
        new LlmAgent({
          name: 'b',
          model: repeatInstruction(),
          identity: false,
          instruction: 'Be b.',
        }),
      ],
    });
    const plugins = [
      new GlobalInstructionPlugin('For {app:firm?}.'),
      new GlobalInstructionPlugin(({ agentName, userContent }) => {
        return `${agentName} hears ${userContent === undefined ? '' : contentText(userContent)} {as it is}.`;
      }, 'more'),
    ];
    await using runner = new InMemoryRunner({ app: new App({ name: 'demo', rootAgent, plugins }) });
    await runner.sessionService.createSession({ ...sessionKey, state: { 'app:firm': 'Acme' } });
    assert.deepEqual(messageTexts(await runner.runDebug('Hi')), [
      'a hears Hi {as it is}.\n\nFor Acme.\n\nOwn.\n\nBe a.',
      'b hears Hi {as it is}.\n\nFor Acme.\n\nBe b.',
    ]);
  });

  it('reflect and retry gives the model guidance after an error, and counts attempts', async () => {
    let calls = 0;
    const flaky = tool({
      name: 'flaky',
      description: 'Works the third time.',
      execute: () => {
        calls++;
        if (calls % 3 === 0) return 'done';
        throw new Error('not yet');
      },
    });
    const seen: string[] = [];
    const again = new ScriptedModel(({ contents }) => {
      const last = JSON.stringify(contents.at(-1)?.parts[0]);
      seen.push(last);
      return last.includes('done') || contents.length > 40
        ? { text: 'It worked.' }
        : { toolCalls: [{ name: 'flaky' }] };
    });
    await using runner = createRunner([new ReflectAndRetryToolPlugin({ maxRetries: 2 })], {
      model: again,
      tools: [flaky],
    });
    assert.deepEqual(messageTexts(await runner.runDebug('Go')), ['It worked.']);
    assert.deepEqual(
      seen.slice(1, 3).map((line) => /"retry_count":(\d)/.exec(line)?.[1]),
      ['1', '2'],
    );
    assert.match(seen[1] ?? '', /not yet.*find out why/);
    // The next invocation starts with a new count.
    assert.deepEqual(messageTexts(await runner.runDebug('Go')), ['It worked.']);
    assert.match(seen[5] ?? '', /"retry_count":1/);
  });

  it('reflect and retry stops when the retries are used up', async () => {
    for (const [whenExceeded, expected] of [
      ['error', /out of order/],
      ['guidance', /do not call it again/],
    ] as const) {
      const seen: string[] = [];
      const stubborn = new ScriptedModel(({ contents }) => {
        seen.push(JSON.stringify(contents.at(-1)?.parts[0]));
        return contents.length > 5 ? { text: 'Never mind.' } : { toolCalls: [{ name: 'broken' }] };
      });
      const plugin = new ReflectAndRetryToolPlugin({ maxRetries: 1, whenExceeded });
      await using runner = createRunner([plugin], { model: stubborn });
      await runner.runDebug('Go');
      assert.match(seen[1] ?? '', /Attempt 1 of 1/);
      assert.match(seen[2] ?? '', expected);
      assert.equal(seen[2]?.includes('Attempt'), false);
    }
  });

  it('reflect and retry can detect errors in successful results', async () => {
    class Careful extends ReflectAndRetryToolPlugin {
      override async extractErrorFromResult({
        result,
      }: Parameters<ReflectAndRetryToolPlugin['extractErrorFromResult']>[0]) {
        return result['result'] === 'grass' ? 'only grass' : undefined;
      }
    }
    await using runner = createRunner([new Careful()]);
    assert.match(
      messageTexts(await runner.runDebug('call look')).join(),
      /only grass.*find out why/,
    );
  });

  it('files of a message become artifacts, and a rewind removes them', async () => {
    const picture = { mimeType: 'image/png', data: 'AAAA', displayName: 'cat.png' };
    const parts = [
      { text: 'Look: ' },
      { inlineData: picture },
      { inlineData: { ...picture, displayName: undefined } },
    ];
    await using runner = createRunner([new SaveFilesAsArtifactsPlugin()]);
    await runner.sessionService.createSession(sessionKey);
    const newMessage: Content = { role: 'user', parts: JSON.parse(JSON.stringify(parts)) };
    const events = await runner.run({ ...sessionIds, newMessage });
    const [{ invocationId } = never()] = events;
    assert.deepEqual(messageTexts(events), [
      `You said: Look: [Uploaded Artifact: "cat.png"][Uploaded Artifact: "artifact_${invocationId}_2"]`,
    ]);
    const stored = await runner.sessionService.getSession(sessionKey);
    assert.deepEqual(
      stored?.events
        .map(({ actions }) => Object.keys(actions.artifactDelta))
        .find((l) => l.length > 0),
      ['cat.png', `artifact_${invocationId}_2`],
    );
    assert.equal((await runner.artifactService.list(sessionKey)).length, 2);
    await runner.rewind({ ...sessionIds, rewindBeforeInvocationId: invocationId });
    assert.deepEqual(await runner.artifactService.list(sessionKey), []);
  });

  it('images from the model become artifacts, and a rewind removes them', async () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'dog.png' } }];
    const painter: LlmAgentConfig['model'] = {
      name: 'painter',
      generate: async () => ({ content: { role: 'model', parts }, finishReason: 'stop' }),
    };
    await using runner = createRunner([new SaveFilesAsArtifactsPlugin()], { model: painter });
    const events = await runner.runDebug('Paint');
    assert.deepEqual(
      events.map(({ content, actions }) => content?.parts ?? actions.artifactDelta),
      [{ 'dog.png': 0 }, parts],
    );
    const [{ invocationId } = never()] = events;
    assert.ok(runner.artifactService instanceof InMemoryArtifactService);
    assert.deepEqual(await runner.artifactService.list(sessionKey), ['dog.png']);
    await runner.rewind({ ...sessionIds, rewindBeforeInvocationId: invocationId });
    assert.deepEqual(await runner.artifactService.list(sessionKey), []);
  });

  it('the context filter sends the newest invocations only', async () => {
    const seen: string[][] = [];
    const watched = new ScriptedModel(({ contents }) => {
      seen.push(contents.map(({ role, parts }) => `${role} ${parts.length}`));
      const last = contents.at(-1);
      return last?.role === 'user' ? { toolCalls: [{ name: 'look' }] } : { text: 'Seen.' };
    });
    await using runner = createRunner(
      [
        new ContextFilterPlugin({
          numInvocationsToKeep: 2,
          customFilter: (contents) => contents.filter((content) => contentText(content) !== 'one'),
        }),
      ],
      { model: watched },
    );
    await runner.runDebug(['one', 'two', 'three']);
    const turn = ['user 1', 'model 1', 'tool 1'];
    assert.deepEqual(seen.at(-1), [...turn, 'model 1', ...turn]);
    assert.throws(() => new ContextFilterPlugin({ numInvocationsToKeep: 0 }), /1 or more/);
  });

  it('the tool filter offers some tools and rejects the others', async () => {
    const names = new ScriptedModel(({ tools, contents }) =>
      contents.length > 1
        ? { text: JSON.stringify(contents.at(-1)?.parts[0]) }
        : { text: tools.map(({ name }) => name).join() },
    );
    const plugin = new ToolFilterPlugin({ keep: ['look'] });
    await using offered = createRunner([plugin], { model: names });
    assert.deepEqual(messageTexts(await offered.runDebug('Hi')), ['look']);
    await using runner = createRunner([
      new ToolFilterPlugin({ keep: ({ name }) => name !== 'broken' }),
    ]);
    assert.match(
      messageTexts(await runner.runDebug('call broken')).join(),
      /is not available here/,
    );
  });

  it('model fallback calls the next model when one fails', async () => {
    const down: LlmAgentConfig['model'] = {
      name: 'down',
      generate: async () =>
        Promise.reject(new ModelError({ kind: 'bad_request', message: 'down', model: 'down' })),
    };
    const rootAgent = new LlmAgent({ name: 'chat', model: 'first' });
    const plugins = [new ModelFallbackPlugin({ models: ['second', model()] })];
    await using runner = new InMemoryRunner({
      app: new App({ name: 'demo', rootAgent, plugins }),
      modelResolver: async () => down,
    });
    assert.deepEqual(messageTexts(await runner.runDebug('Hi')), ['You said: Hi']);
    assert.throws(() => new ModelFallbackPlugin({ models: [] }), /not be empty/);
  });
});

function never(): never {
  throw new Error('It is not there.');
}
