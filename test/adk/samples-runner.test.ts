/** The code samples of ADK's pages on Runner, App and run configuration, in TypeScript. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  App,
  BasePlugin,
  getFunctionCalls,
  InMemoryRunner,
  InMemorySessionService,
  isFinalResponse,
  LlmAgent,
  LlmCallsLimitExceededError,
  LoggingPlugin,
  Runner,
  SqliteSessionService,
  contentText,
} from '../../src/adk/index.ts';
import type { CallbackContext, Event, RunConfig } from '../../src/adk/index.ts';
import { InMemoryArtifactService, InMemoryMemoryService, tool } from '../../src/tools/index.ts';
import { echo, scriptedResolver } from './scripted-resolver.ts';

const modelResolver = scriptedResolver();
const agent = new LlmAgent({
  name: 'chat',
  model: 'gemini-2.5-flash',
  instruction: 'Be concise.',
});

describe('Runner', () => {
  it('minimal example: an in-memory runner sends a message in a new session and receives its events', async () => {
    const printed: string[] = [];
    const runner = new InMemoryRunner({ agent, appName: 'demo', modelResolver });
    const session = await runner.sessionService.createSession({
      appName: 'demo',
      userId: 'u1',
      sessionId: 's1',
    });
    for await (const event of runner.runAsync({
      userId: 'u1',
      sessionId: session.id,
      newMessage: { role: 'user', parts: [{ text: 'Hi' }] },
    })) {
      for (const part of event.content?.parts ?? []) {
        if ('text' in part) printed.push(`${event.author} → ${part.text}`);
      }
    }
    await runner.close();
    assert.deepEqual(printed, ['chat → You said: Hi']);
  });

  it('direct setup: a runner is created from an agent and a session service', async () => {
    const assistant = new LlmAgent({
      name: 'assistant',
      model: 'gemini-2.0-flash-exp',
      description: 'A helpful assistant',
      instruction: 'You are a helpful assistant. Be concise and friendly.',
    });
    const sessionService = new InMemorySessionService();
    const session = await sessionService.createSession({ appName: 'my_app', userId: 'user_123' });
    const runner = new Runner({
      appName: 'my_app',
      agent: assistant,
      sessionService,
      modelResolver,
    });
    const printed: string[] = [];
    for await (const event of runner.runAsync({
      userId: 'user_123',
      sessionId: session.id,
      newMessage: { parts: [{ text: 'Hello! How are you?' }] },
    })) {
      printed.push(`${event.author}: ${contentText(event.content)}`);
    }
    await runner.close();
    assert.deepEqual(printed, ['assistant: You said: Hello! How are you?']);
  });

  it('constructor: a runner takes every service, and `await using` closes its connections', async () => {
    const lines: string[] = [];
    const logging = new LoggingPlugin({ print: (line) => lines.push(line) });
    const app = new App({
      name: 'demo',
      rootAgent: agent,
      plugins: [logging],
      resumabilityConfig: { isResumable: true },
      contextCacheConfig: { cacheIntervals: 20, ttlSeconds: 3600, minTokens: 1000 },
    });
    const sessionService = new SqliteSessionService(':memory:');
    {
      await using runner = new Runner({
        app,
        sessionService,
        memoryService: new InMemoryMemoryService(),
        artifactService: new InMemoryArtifactService(),
        autoCreateSession: true,
        pluginCloseTimeoutMs: 5000,
        modelResolver,
      });
      const events = await runner.run({ userId: 'u1', sessionId: 's1', newMessage: 'Hi' });
      assert.equal(contentText(events.at(-1)?.content), 'You said: Hi');
    }
    await sessionService.close();
    assert.ok(lines.length > 0);
  });

  it('dev loop: runDebug() sends all messages in one session', async () => {
    await using runner = new InMemoryRunner({
      agent,
      modelResolver: scriptedResolver((request) => ({
        text: request.contents.length > 1 ? 'You said “Hi” first.' : 'Hello.',
      })),
    });
    const events = await runner.runDebug(['Hi', 'What did I say?']);
    assert.deepEqual(
      events.map(({ content }) => contentText(content)),
      ['Hello.', 'You said “Hi” first.'],
    );
  });

  it('rewind() restores the state of the session before the invocation', async () => {
    const remember = tool({
      name: 'remember',
      description: 'x',
      execute: (_, { state, invocationId }) => state.set('last', invocationId),
    });
    await using runner = new InMemoryRunner({
      agent: new LlmAgent({ name: 'chat', model: 'gemini-2.5-flash', tools: [remember] }),
      appName: 'demo',
      modelResolver: scriptedResolver(({ contents }) =>
        contents.at(-1)?.role === 'user'
          ? { toolCalls: [{ name: 'remember' }] }
          : { text: `saw ${contents.length}` },
      ),
    });
    const sessionKey = { userId: 'u1', sessionId: 's1' };
    await runner.sessionService.createSession({ appName: 'demo', ...sessionKey });
    const [firstEvent] = await runner.run({ ...sessionKey, newMessage: 'one' });
    const [secondEvent] = await runner.run({ ...sessionKey, newMessage: 'two' });
    await runner.rewind({
      ...sessionKey,
      rewindBeforeInvocationId: secondEvent?.invocationId ?? '',
    });
    const session = await runner.sessionService.getSession({ appName: 'demo', ...sessionKey });
    assert.deepEqual(session?.state, { last: firstEvent?.invocationId });
    const retry = await runner.run({ ...sessionKey, newMessage: 'two, again' });
    assert.equal(contentText(retry.at(-1)?.content), 'saw 7');
  });
});

describe('RunConfig', () => {
  const runWithConfig = async (
    runConfig: RunConfig,
    print: (event: Event) => void,
  ): Promise<void> => {
    const look = tool({ name: 'look', description: 'Looks.', execute: () => 'a tree' });
    await using runner = new InMemoryRunner({
      agent: new LlmAgent({ name: 'chat', model: 'gemini-2.5-flash', tools: [look] }),
      modelResolver: scriptedResolver(({ contents }) =>
        contents.at(-1)?.role === 'user'
          ? { text: 'I will look.', toolCalls: [{ name: 'look' }] }
          : { text: 'There is a tree there.' },
      ),
    });
    for (const event of await runner.runDebug('What is there?', { runConfig })) print(event);
  };

  it('sets a streaming mode, a limit of model calls, and the number of events to load', async () => {
    const config: RunConfig = {
      streamingMode: 'sse',
      maxLlmCalls: 50,
      getSessionConfig: { numRecentEvents: 20 },
    };
    const events: Event[] = [];
    await runWithConfig(config, (event) => events.push(event));
    assert.ok(events.some(({ partial }) => partial === true));
    assert.equal(contentText(events.at(-1)?.content), 'There is a tree there.');
  });

  const sse: RunConfig = { streamingMode: 'sse' };

  it('strategy 1, typewriter: partial events print text, and calls print as they are made', async () => {
    let printed = '';
    await runWithConfig(sse, (event) => {
      const calls = getFunctionCalls(event);
      if (event.partial === true && calls.length === 0) printed += contentText(event.content);
      else
        for (const { name, args } of calls)
          printed += `\n[tool] ${name}(${JSON.stringify(args)})\n`;
    });
    assert.equal(printed, 'I will look.\n[tool] look({})\nThere is a tree there.');
  });

  it('strategy 2, final only: only final responses print', async () => {
    const printed: string[] = [];
    await runWithConfig(sse, (event) => {
      if (event.partial !== true && isFinalResponse(event))
        printed.push(contentText(event.content));
    });
    assert.deepEqual(printed, ['There is a tree there.']);
  });

  it('strategy 3, deduplicate: a complete event prints only text that was not streamed', async () => {
    let printed = '';
    let streamed = '';
    await runWithConfig(sse, (event) => {
      const text = contentText(event.content);
      if (event.partial === true) {
        printed += text;
        streamed += text;
        return;
      }
      if (text !== streamed) printed += text;
      streamed = '';
    });
    assert.equal(printed, 'I will look.There is a tree there.');
  });

  it('maxLlmCalls: a run that exceeds the limit throws LlmCallsLimitExceededError', async () => {
    const again = tool({ name: 'again', description: 'x', execute: () => 'more' });
    await using runner = new InMemoryRunner({
      agent: new LlmAgent({ name: 'chat', model: 'gemini-2.5-flash', tools: [again] }),
      modelResolver: scriptedResolver(() => ({ toolCalls: [{ name: 'again' }] })),
    });
    let printed = '';
    try {
      await runner.runDebug('Go', { runConfig: { maxLlmCalls: 2 } });
    } catch (error) {
      if (!(error instanceof LlmCallsLimitExceededError)) throw error;
      printed = `Budget exceeded: ${error.message}`;
    }
    assert.match(printed, /^Budget exceeded: .*2 model calls/);
  });
});

/** Terminates the invocation if a forbidden phrase is detected. */
class SafetyPlugin extends BasePlugin {
  readonly #forbidden: ReadonlySet<string>;

  constructor(forbidden: ReadonlySet<string>) {
    super('safety');
    this.#forbidden = forbidden;
  }

  override async beforeModelCallback({
    callbackContext,
  }: {
    readonly callbackContext: CallbackContext;
  }): Promise<undefined> {
    const userText = contentText(callbackContext.userContent).toLowerCase();
    if ([...this.#forbidden].some((phrase) => userText.includes(phrase)))
      callbackContext.actions.endInvocation();
  }
}

it('early termination: a plugin ends the invocation before the model is called', async () => {
  const requests: string[] = [];
  const app = new App({
    name: 'demo',
    rootAgent: agent,
    plugins: [new SafetyPlugin(new Set(['forbidden']))],
  });
  await using runner = new InMemoryRunner({
    app,
    modelResolver: scriptedResolver((request, turn) => {
      requests.push(contentText(request.contents.at(-1)));
      return echo(request, turn);
    }),
  });
  assert.deepEqual(
    (await runner.runDebug('Something FORBIDDEN')).filter(({ content }) => content !== undefined),
    [],
  );
  assert.deepEqual(requests, []);
  const [answer] = await runner.runDebug('Something else');
  assert.equal(contentText(answer?.content), 'You said: Something else');
});
