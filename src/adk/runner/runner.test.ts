import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { agent } from '../../agents/index.ts';
import { isFinalResponse, contentText } from '../../core/index.ts';
import type { Content, Event } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { InMemoryMemoryService, tool } from '../../tools/index.ts';
import { App } from '../app/app.ts';
import { BasePlugin } from '../plugins/base-plugin.ts';
import { InMemoryRunner } from './in-memory-runner.ts';
import { InMemorySessionService } from '../sessions/in-memory-session-service.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import { LlmCallsLimitExceededError } from './runner-errors.ts';
import { Runner } from './runner.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;

const echo = (): ScriptedModel =>
  new ScriptedModel(({ contents }) => ({
    text: `You said: ${contentText(contents.findLast(({ role }) => role === 'user') ?? { role: 'user', parts: [] })}`,
  }));

const chat = (model: ScriptedModel = echo()): LlmAgent => new LlmAgent({ name: 'chat', model });

const messageTexts = (events: readonly Event[]): readonly string[] =>
  events.flatMap(({ author, content }) =>
    content === undefined || contentText(content) === ''
      ? []
      : [`${author}: ${contentText(content)}`],
  );

async function runnerWithSession(root: LlmAgent): Promise<InMemoryRunner> {
  const runner = new InMemoryRunner({ agent: root, appName: 'demo' });
  await runner.sessionService.createSession({ appName: 'demo', ...sessionIds });
  return runner;
}

describe('the options of a runner', () => {
  it('include exactly one of app, agent and node', () => {
    const sessionService = new InMemorySessionService();
    const app = new App({ name: 'demo', rootAgent: chat() });
    assert.throws(() => new Runner({ sessionService }), { code: 'invalid_input' });
    assert.throws(() => new Runner({ sessionService, app, agent: chat(), appName: 'demo' }), {
      code: 'invalid_input',
    });
    assert.throws(() => new Runner({ sessionService, agent: chat() }), /appName/);
    assert.equal(new Runner({ sessionService, app }).appName, 'demo');
    assert.equal(new Runner({ sessionService, node: chat(), appName: 'x' }).appName, 'x');
  });

  it('accept plugins, with a warning that they belong to the app', () => {
    const warnings: string[] = [];
    const runner = new Runner({
      sessionService: new InMemorySessionService(),
      agent: chat(),
      appName: 'demo',
      plugins: [new BasePlugin('p')],
      onWarning: (message) => warnings.push(message),
    });
    assert.deepEqual(
      runner.app.plugins.map(({ name }) => name),
      ['p'],
    );
    assert.match(warnings.join(), /deprecated/);
  });

  it('accept an agent that was created by a function', async () => {
    await using runner = new InMemoryRunner({ agent: agent({ name: 'made', model: echo() }) });
    assert.deepEqual(messageTexts(await runner.runDebug('Hi')), ['made: You said: Hi']);
  });

  it('accept an app name of letters, digits, _ and -, other than "user"', () => {
    for (const name of ['-app', '1st', 'user', '', 'a b', 'a/b'])
      assert.throws(() => new App({ name, rootAgent: chat() }), { code: 'invalid_input' });
    for (const name of ['my_app', 'my-app'])
      assert.equal(new App({ name, rootAgent: chat() }).name, name);
  });

  it('validate the ranges of a context cache', () => {
    const made = (contextCacheConfig: object) => () =>
      new App({ name: 'a', rootAgent: chat(), contextCacheConfig });
    assert.throws(made({ cacheIntervals: 0 }), /1 to 100/);
    assert.throws(made({ cacheIntervals: 101 }), /1 to 100/);
    assert.throws(made({ ttlSeconds: 0 }), /above 0/);
    assert.throws(made({ minTokens: -1 }), /0 or more/);
    assert.doesNotThrow(made({ cacheIntervals: 20, ttlSeconds: 3600, minTokens: 1000 }));
  });
});

describe('a message', () => {
  it('is answered with events that are stored before they are yielded', async () => {
    await using runner = await runnerWithSession(chat());
    for await (const event of runner.runAsync({ ...sessionIds, newMessage: 'Hi' })) {
      const stored = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
      assert.ok(stored?.events.some(({ id }) => id === event.id));
      assert.match(event.invocationId, /^e-/);
    }
    const stored = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
    assert.deepEqual(messageTexts(stored?.events ?? []), ['user: Hi', 'chat: You said: Hi']);
  });

  it('is itself yielded as an event on request', async () => {
    await using runner = await runnerWithSession(chat());
    const message = { ...sessionIds, newMessage: { parts: [{ text: 'Hi' }] } };
    assert.deepEqual(messageTexts(await runner.run(message)), ['chat: You said: Hi']);
    assert.deepEqual(messageTexts(await runner.run({ ...message, yieldUserMessage: true })), [
      'user: Hi',
      'chat: You said: Hi',
    ]);
  });

  it('needs a session, or a runner that creates sessions', async () => {
    const sessionService = new InMemorySessionService();
    await using strict = new Runner({ sessionService, agent: chat(), appName: 'demo' });
    await assert.rejects(strict.run({ ...sessionIds, newMessage: 'Hi' }), {
      code: 'session_not_found',
    });
    await using lenient = new Runner({
      sessionService,
      agent: chat(),
      appName: 'demo',
      autoCreateSession: true,
    });
    assert.deepEqual(messageTexts(await lenient.run({ ...sessionIds, newMessage: 'Hi' })), [
      'chat: You said: Hi',
    ]);
  });

  it('can have a state delta, which its agents see', async () => {
    await using runner = await runnerWithSession(
      new LlmAgent({
        name: 'chat',
        model: new ScriptedModel(({ instruction = '' }) => ({ text: instruction })),
        identity: false,
        instruction: 'Call them {user:name}.',
      }),
    );
    const events = await runner.run({
      ...sessionIds,
      newMessage: 'Hi',
      stateDelta: { 'user:name': 'Ada' },
    });
    assert.deepEqual(messageTexts(events), ['chat: Call them Ada.']);
    const other = await runner.sessionService.createSession({ appName: 'demo', userId: 'u1' });
    assert.deepEqual(other.state, { 'user:name': 'Ada' });
  });

  it('sees events that were appended to the session before it', async () => {
    const model = new ScriptedModel(({ contents }) => ({
      text: contents.map(contentText).join(' | '),
    }));
    await using runner = await runnerWithSession(chat(model));
    const service = runner.sessionService;
    const session = await service.getSession({ appName: 'demo', ...sessionIds });
    assert.ok(session !== undefined);
    const [event] = await runner.run({ ...sessionIds, newMessage: 'one' });
    assert.ok(event !== undefined);
    await assert.rejects(service.appendEvent({ session, event }), { code: 'stale_session' });
    const fresh = await service.getSession({ appName: 'demo', ...sessionIds });
    assert.ok(fresh !== undefined);
    const content: Content = { role: 'user', parts: [{ text: 'by the way' }] };
    await service.appendEvent({
      session: fresh,
      event: { ...event, id: 'mine', author: 'user', content },
    });
    const events = await runner.run({ ...sessionIds, newMessage: 'two' });
    assert.deepEqual(messageTexts(events), ['chat: one | one | by the way | two']);
  });

  it('whose events are read slowly does not slow the run, and leaving the iteration stops nothing', async () => {
    await using runner = await runnerWithSession(chat());
    for await (const event of runner.runAsync({
      ...sessionIds,
      newMessage: 'Hi',
      yieldUserMessage: true,
    })) {
      assert.equal(event.author, 'user');
      break;
    }
    assert.deepEqual(messageTexts(await runner.run({ ...sessionIds, newMessage: 'Again' })), [
      'chat: You said: Again',
    ]);
    const stored = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
    assert.equal(stored?.events.length, 4);
  });
});

describe('the run config', () => {
  const loopingAgent = (): LlmAgent =>
    new LlmAgent({
      name: 'chat',
      model: new ScriptedModel(({ contents }) => ({
        text: 'Hm.',
        toolCalls: [{ name: 'again', args: { n: contents.length } }],
      })),
      tools: [
        tool({
          name: 'again',
          description: 'Again',
          parameters: z.object({ n: z.number() }),
          execute: () => 'ok',
        }),
      ],
    });

  it('limits the number of model calls exactly', async () => {
    await using runner = await runnerWithSession(loopingAgent());
    const seen: Event[] = [];
    await assert.rejects(async () => {
      const runConfig = { maxLlmCalls: 3 };
      for await (const event of runner.runAsync({ ...sessionIds, newMessage: 'Go', runConfig }))
        seen.push(event);
    }, LlmCallsLimitExceededError);
    assert.equal(seen.filter(({ content }) => content?.role === 'model').length, 3);
    // The session stays usable.
    await assert.rejects(
      runner.run({ ...sessionIds, newMessage: 'Go', runConfig: { maxLlmCalls: 1 } }),
      {
        code: 'llm_calls_limit_exceeded',
        maxLlmCalls: 1,
      },
    );
  });

  it('sets no limit with a value of 0 or less', async () => {
    await using runner = await runnerWithSession(loopingAgent());
    const events = await runner.run({
      ...sessionIds,
      newMessage: 'Go',
      runConfig: { maxLlmCalls: 0 },
    });
    assert.ok(events.length > 25, 'the budget of the agent ended it');
  });

  it('enables partial events with streamingMode sse, and they join to the whole text', async () => {
    const model = new ScriptedModel([{ text: 'One two three four.' }, { text: 'Five.' }]);
    await using runner = await runnerWithSession(chat(model));
    const events = await runner.run({
      ...sessionIds,
      newMessage: 'Hi',
      runConfig: { streamingMode: 'sse' },
    });
    const pieces = events.filter(({ partial }) => partial === true);
    const [whole] = events.filter(({ partial }) => partial !== true);
    assert.ok(pieces.length > 0 && whole?.content !== undefined);
    assert.equal(
      pieces.map(({ content }) => contentText(content ?? whole.content ?? never())).join(''),
      contentText(whole.content),
    );
    assert.ok(isFinalResponse(whole) && !pieces.some(isFinalResponse));
    const quiet = await runner.run({ ...sessionIds, newMessage: 'Hi' });
    assert.equal(quiet.filter(({ partial }) => partial === true).length, 0);
  });

  it('adds custom metadata to every event, also in the stored session', async () => {
    await using runner = await runnerWithSession(chat());
    await runner.run({ ...sessionIds, newMessage: 'plain' });
    const customMetadata = { trace: 'abc' };
    const events = await runner.run({
      ...sessionIds,
      newMessage: 'Hi',
      runConfig: { customMetadata },
    });
    assert.deepEqual(
      events.map((event) => event.customMetadata),
      [customMetadata],
    );
    const stored = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
    assert.deepEqual(
      stored?.events.map((event) => event.customMetadata),
      [undefined, undefined, customMetadata, customMetadata],
    );
  });

  it('limits the number of recent events in a model request', async () => {
    const model = new ScriptedModel(({ contents }) => ({ text: `saw ${contents.length}` }));
    await using runner = await runnerWithSession(chat(model));
    for (const newMessage of ['1', '2', '3']) await runner.run({ ...sessionIds, newMessage });
    const runConfig = { getSessionConfig: { numRecentEvents: 2 } };
    assert.deepEqual(
      messageTexts(await runner.run({ ...sessionIds, newMessage: '4', runConfig })),
      ['chat: saw 3'],
    );
    assert.deepEqual(messageTexts(await runner.run({ ...sessionIds, newMessage: '5' })), [
      'chat: saw 9',
    ]);
  });

  it('rejects options of live sessions by name, and warns about deprecated options', async () => {
    const warnings: string[] = [];
    await using runner = new InMemoryRunner({
      agent: chat(),
      onWarning: (message) => warnings.push(message),
    });
    for (const runConfig of [
      { streamingMode: 'bidi' as const },
      { responseModalities: ['AUDIO'] },
      { supportCfc: true },
      { maxLlmCalls: 1.5 },
    ])
      await assert.rejects(runner.runDebug('Hi', { runConfig }), { code: 'invalid_input' });
    await runner.runDebug('Hi', { runConfig: { saveInputBlobsAsArtifacts: true } });
    assert.match(warnings.join(), /SaveFilesAsArtifactsPlugin/);
  });

  it('an abort signal stops the invocation, and the session continues', async () => {
    const stop = new AbortController();
    const slow = tool({
      name: 'slow',
      description: 'Slow',
      execute: () => {
        stop.abort();
        return new Promise(() => {});
      },
    });
    const model = new ScriptedModel(({ contents }) =>
      contents.length === 1 ? { toolCalls: [{ name: 'slow' }] } : { text: 'Here.' },
    );
    await using runner = await runnerWithSession(
      new LlmAgent({ name: 'chat', model, tools: [slow] }),
    );
    const events = await runner.run({ ...sessionIds, newMessage: 'Go', abortSignal: stop.signal });
    // The interrupt answered the call, so no call stays open.
    assert.match(JSON.stringify(events.at(-1)), /stopped by an interrupt/);
    assert.deepEqual(messageTexts(await runner.run({ ...sessionIds, newMessage: 'There?' })), [
      'chat: Here.',
    ]);
  });
});

describe('waiting calls', () => {
  const guarded = (): LlmAgent =>
    new LlmAgent({
      name: 'chat',
      model: new ScriptedModel(({ contents }) =>
        contents.at(-1)?.role === 'user'
          ? { toolCalls: [{ name: 'remove', args: {} }] }
          : { text: JSON.stringify(contents.at(-1)?.parts[0]) },
      ),
      tools: [
        tool({
          name: 'remove',
          description: 'Removes',
          needsApproval: true,
          execute: () => 'gone',
        }),
      ],
    });

  for (const [confirmed, expected] of [
    [true, /gone/],
    [false, /denied/],
  ] as const)
    it(`a confirmation is a function response: ${confirmed ? 'yes' : 'no'}`, async () => {
      await using runner = await runnerWithSession(guarded());
      const events = await runner.run({ ...sessionIds, newMessage: 'Go' });
      const confirmations = events.at(-1)?.actions.requestedToolConfirmations ?? {};
      const [id = ''] = Object.keys(confirmations);
      assert.ok(isFinalResponse(events.at(-1) ?? never()));
      const answer = { functionResponse: { id, name: 'remove', response: { confirmed } } };
      const newMessage: Content = { role: 'user', parts: [answer] };
      const rest = await runner.run({ ...sessionIds, newMessage });
      assert.match(messageTexts(rest).join(), expected);
      assert.deepEqual(new Set(rest.map(({ invocationId }) => invocationId)).size, 1);
      await assert.rejects(runner.run({ ...sessionIds, newMessage }), { code: 'invalid_input' });
    });
});

describe('other ways to run', () => {
  it('runDebug continues one conversation and prints it with a given function', async () => {
    const lines: string[] = [];
    await using runner = new InMemoryRunner({ agent: chat() });
    const events = await runner.runDebug(['Hi', 'You?'], { print: (line) => lines.push(line) });
    assert.deepEqual(messageTexts(events), ['chat: You said: Hi', 'chat: You said: You?']);
    assert.deepEqual(lines, [
      'User > Hi',
      'chat > You said: Hi',
      'User > You?',
      'chat > You said: You?',
    ]);
    await runner.runDebug('Again', { quiet: true, print: (line) => lines.push(line) });
    assert.equal(lines.length, 4);
    const address = {
      appName: 'InMemoryRunner',
      userId: 'debug_user_id',
      sessionId: 'debug_session_id',
    };
    assert.equal((await runner.sessionService.getSession(address))?.events.length, 6);
  });

  it('runEphemeral leaves no session behind', async () => {
    await using runner = new InMemoryRunner({ agent: chat(), appName: 'demo' });
    const events: Event[] = [];
    for await (const event of runner.runEphemeral({ userId: 'u1', newMessage: 'Hi' }))
      events.push(event);
    assert.deepEqual(messageTexts(events), ['chat: You said: Hi']);
    assert.deepEqual(await runner.sessionService.listSessions({ appName: 'demo' }), {
      sessions: [],
    });
  });

  it('a memory service gets the new events of each invocation once', async () => {
    const memoryService = new InMemoryMemoryService();
    const sessionService = new InMemorySessionService();
    await using runner = new Runner({
      agent: chat(),
      appName: 'demo',
      sessionService,
      memoryService,
      autoCreateSession: true,
    });
    await runner.run({ ...sessionIds, newMessage: 'I like tulips.' });
    await runner.run({ ...sessionIds, newMessage: 'And roses.' });
    const found = await memoryService.search({ appName: 'demo', userId: 'u1' }, 'tulips');
    assert.deepEqual(found.map(({ content }) => contentText(content)).toSorted(), [
      'I like tulips.',
      'You said: I like tulips.',
    ]);
  });

  it('a closed runner rejects runs', async () => {
    const runner = await runnerWithSession(chat());
    await runner.close();
    await runner.close();
    await assert.rejects(runner.run({ ...sessionIds, newMessage: 'Hi' }), {
      code: 'runner_closed',
    });
  });
});

function never(): never {
  throw new Error('It is not there.');
}
