import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentText, contentThinking } from '../core/index.ts';
import type { Event } from '../core/index.ts';
import { ScriptedModel } from '../models/index.ts';
import { InMemoryArtifactService, tool } from '../tools/index.ts';
import { App } from './app/app.ts';
import { BaseAgent } from './agents/base-agent.ts';
import type { CallbackContext } from './contracts/contexts.ts';
import { InMemoryRunner } from './runner/in-memory-runner.ts';
import { InMemorySessionService } from './sessions/in-memory-session-service.ts';
import { LlmAgent } from './agents/llm-agent.ts';
import { ParallelAgent } from './agents/parallel-agent.ts';
import { Runner } from './runner/runner.ts';
import { SequentialAgent } from './agents/sequential-agent.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;

const scriptedAgent = (name: string, text: string): LlmAgent =>
  new LlmAgent({ name, model: new ScriptedModel(() => ({ text })) });

describe('a session', () => {
  it('is plain data: its JSON and its copies have its state and its events', async () => {
    await using runner = new InMemoryRunner({
      agent: scriptedAgent('chat', 'Hello.'),
      appName: 'demo',
    });
    const address = { appName: 'demo', ...sessionIds };
    await runner.sessionService.createSession({ ...address, state: { city: 'Oslo' } });
    await runner.run({ ...sessionIds, newMessage: 'Hi' });
    const session = await runner.sessionService.getSession(address);
    assert.ok(session !== undefined);
    const { id, appName, userId, state, events, lastUpdateTime } = session;
    const plain = { id, appName, userId, state, events, lastUpdateTime };
    assert.equal(events.length, 2);
    assert.deepEqual(JSON.parse(JSON.stringify(session)), JSON.parse(JSON.stringify(plain)));
    assert.deepEqual({ ...session }, plain);
    assert.deepEqual(structuredClone({ ...session }), plain);
  });

  it('includes in its JSON the events that were appended through it', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession({ appName: 'demo', ...sessionIds });
    const event: Event = {
      id: 'x1',
      timestamp: 1,
      invocationId: 'e-1',
      author: 'user',
      actions: {
        stateDelta: { a: 1 },
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
      },
    };
    await service.appendEvent({ session, event });
    const plain = JSON.parse(JSON.stringify(session));
    assert.deepEqual(plain.state, { a: 1 });
    assert.deepEqual(
      plain.events.map(({ id }: Event) => id),
      ['x1'],
    );
    await service.close();
  });

  it('is created with positional arguments too: app, user, state and id', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession('my-app', 'user_123');
    assert.deepEqual([session.appName, session.userId], ['my-app', 'user_123']);
    const second = await service.createSession('my-app', 'user_123', { city: 'Oslo' }, 's2');
    assert.equal(second.id, 's2');
    assert.deepEqual(second.state, { city: 'Oslo' });
    await assert.rejects(
      // @ts-expect-error -- the user is missing
      service.createSession('my-app'),
      { code: 'invalid_input', field: 'userId' },
    );
    await service.close();
  });

  it('is created once when several first messages need it at once', async () => {
    for (let round = 0; round < 5; round++) {
      const sessionService = new InMemorySessionService();
      await using runner = new Runner({
        appName: 'demo',
        agent: scriptedAgent('chat', 'Hello.'),
        sessionService,
        autoCreateSession: true,
      });
      const runs = await Promise.all(
        Array.from({ length: 5 }, async (_, n) =>
          runner.run({ ...sessionIds, newMessage: `${n}` }),
        ),
      );
      assert.deepEqual(
        runs.map((events) => events.map(({ content }) => contentText(content))),
        Array.from({ length: 5 }, () => ['Hello.']),
      );
      await sessionService.close();
    }
  });

  it('for debugging is created once, too', async () => {
    await using runner = new InMemoryRunner({ agent: scriptedAgent('chat', 'Hello.') });
    const runs = await Promise.all([runner.runDebug('1'), runner.runDebug('2')]);
    assert.deepEqual(
      runs.map((events) => events.length),
      [1, 1],
    );
  });
});

describe('the name of an app', () => {
  it('can have hyphens', async () => {
    const sessionService = new InMemorySessionService();
    await using runner = new Runner({
      appName: 'my-app',
      agent: scriptedAgent('chat', 'Hello.'),
      sessionService,
    });
    const { id: sessionId } = await sessionService.createSession('my-app', 'user_123');
    const events = await runner.run({
      userId: 'user_123',
      sessionId,
      newMessage: { parts: [{ text: 'Hello! How are you?' }] },
    });
    assert.equal(contentText(events.at(-1)?.content), 'Hello.');
    assert.equal(new App({ name: 'a-b', rootAgent: scriptedAgent('chat', '') }).name, 'a-b');
    await sessionService.close();
  });
});

describe("another agent's thoughts", () => {
  it('are not part of the context that tells an agent about it', async () => {
    const model = new ScriptedModel(() => ({ thinking: 'They must not know.', text: 'Fine.' }));
    const listener = new ScriptedModel(() => ({ text: 'Heard.' }));
    await using runner = new InMemoryRunner({
      agent: new SequentialAgent({
        name: 'both',
        subAgents: [
          new LlmAgent({ name: 'thinker', model }),
          new LlmAgent({ name: 'listener', model: listener }),
        ],
      }),
    });
    const events = await runner.runDebug('Well?');
    assert.equal(contentThinking(events[0]?.content), 'They must not know.');
    const [request] = listener.requests;
    const shown = (request?.contents ?? []).map(
      (content) => contentText(content) + contentThinking(content),
    );
    assert.deepEqual(shown, ['Well?', 'For context:[thinker] said: Fine.']);
  });
});

describe('a placeholder of an artifact', () => {
  const names = [
    'notes.txt',
    'user:profile.md',
    'my report',
    'plan-b',
    'v1.2.3',
    'année (1).txt',
    'user:my plan-b.txt',
  ];
  for (const name of names)
    it(`accepts the name "${name}"`, async () => {
      const artifactService = new InMemoryArtifactService();
      const sessionService = new InMemorySessionService();
      const model = new ScriptedModel(({ instruction = '' }) => ({ text: instruction }));
      await using runner = new Runner({
        appName: 'demo',
        agent: new LlmAgent({
          name: 'chat',
          model,
          identity: false,
          instruction: `<{artifact.${name}}> <{artifact.${name}-2?}>`,
        }),
        sessionService,
        artifactService,
        autoCreateSession: true,
      });
      const session = { appName: 'demo', ...sessionIds };
      await artifactService.save({ session, name }, { text: 'inside' }, { saveId: '1' });
      const events = await runner.run({ ...sessionIds, newMessage: 'Go' });
      assert.equal(contentText(events.at(-1)?.content), '<inside> <>');
      await sessionService.close();
    });

  it('leaves the validation of names to the service', async () => {
    const artifactNames: string[] = [];
    const artifactService = new InMemoryArtifactService();
    const open = {
      save: artifactService.save,
      list: artifactService.list,
      versions: artifactService.versions,
      describe: artifactService.describe,
      delete: artifactService.delete,
      load: async ({ name }: { readonly name: string }) => {
        artifactNames.push(name);
        return { text: 'from a folder' };
      },
    };
    const sessionService = new InMemorySessionService();
    await using runner = new Runner({
      appName: 'demo',
      agent: new LlmAgent({
        name: 'chat',
        model: new ScriptedModel(({ instruction = '' }) => ({ text: instruction })),
        identity: false,
        instruction: '{artifact.reports/2024/may.txt}',
      }),
      sessionService,
      artifactService: open,
      autoCreateSession: true,
    });
    const events = await runner.run({ ...sessionIds, newMessage: 'Go' });
    assert.equal(contentText(events.at(-1)?.content), 'from a folder');
    assert.deepEqual(artifactNames, ['reports/2024/may.txt']);
    await sessionService.close();
  });
});

describe('the author of an event', () => {
  it('of a partial is the agent that streams it, with its branch and the metadata', async () => {
    await using runner = new InMemoryRunner({
      agent: new SequentialAgent({
        name: 'root',
        subAgents: [
          new ParallelAgent({
            name: 'both',
            subAgents: [scriptedAgent('a', 'From a.'), scriptedAgent('b', 'From b.')],
          }),
          scriptedAgent('last', 'From last.'),
        ],
      }),
    });
    const events = await runner.runDebug('Go', {
      runConfig: { streamingMode: 'sse', customMetadata: { trace: 't1' } },
    });
    const pieces = events.filter(({ partial }) => partial === true);
    const whole = events.filter(({ partial }) => partial !== true);
    const facts = ({ author, branch, customMetadata }: Event) =>
      JSON.stringify({ author, branch, customMetadata });
    const expected = whole.map(facts).toSorted();
    assert.deepEqual(new Set(pieces.map(facts)), new Set(expected));
    assert.deepEqual(expected, [
      '{"author":"a","branch":"both.a","customMetadata":{"trace":"t1"}}',
      '{"author":"b","branch":"both.b","customMetadata":{"trace":"t1"}}',
      '{"author":"last","customMetadata":{"trace":"t1"}}',
    ]);
    for (const { author, content } of pieces)
      assert.ok(`From ${author}.`.includes(contentText(content)), author);
  });

  it('of a state change is the agent that wrote it, by a tool, a callback or itself, or the user', async () => {
    const noteTool = tool({
      name: 'note',
      description: 'Notes.',
      execute: (_, { state }) => {
        state.set('byTool', 1);
        return 'noted';
      },
    });
    class Counter extends BaseAgent {
      protected override async *runAsyncImpl(
        context: Parameters<BaseAgent['runAsync']>[0],
      ): AsyncGenerator<string> {
        context.state.set('byItself', 1);
        yield 'counted';
      }
    }
    const caller = new LlmAgent({
      name: 'caller',
      model: new ScriptedModel(({ contents }) =>
        contents.at(-1)?.role === 'tool' ? { text: 'Done.' } : { toolCalls: [{ name: 'note' }] },
      ),
      tools: [noteTool],
      beforeAgentCallback: ({ state }) => state.set('byCallback', 1),
      outputKey: 'answer',
    });
    await using runner = new InMemoryRunner({
      appName: 'demo',
      agent: new SequentialAgent({
        name: 'root',
        subAgents: [
          new ParallelAgent({
            name: 'both',
            subAgents: [caller, new Counter({ name: 'counter' })],
          }),
        ],
      }),
    });
    await runner.sessionService.createSession({ appName: 'demo', ...sessionIds });
    const events = await runner.run({ ...sessionIds, newMessage: 'Go', stateDelta: { byUser: 1 } });
    const written = events.flatMap(({ author, branch, actions: { stateDelta } }) =>
      Object.keys(stateDelta).map((key) => `${key}: ${author} in ${branch}`),
    );
    assert.deepEqual(written.toSorted(), [
      'answer: caller in both.caller',
      'byCallback: caller in both.caller',
      'byItself: counter in both.counter',
      'byTool: caller in both.caller',
      'byUser: user in undefined',
    ]);
  });
});

describe('the after-agent callbacks', () => {
  const transfersTo = (agentName: string) => ({
    toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: agentName } }],
  });
  const recordingAgent = (name: string) => ({
    name,
    afterAgentCallback: ({ state }: CallbackContext) => {
      state.append('after', name);
      return { role: 'model' as const, parts: [{ text: `${name} is done.` }] };
    },
  });
  const messageTexts = (events: readonly Event[]): readonly string[] =>
    events.flatMap(({ author, content }) =>
      contentText(content) === '' ? [] : [`${author}: ${contentText(content)}`],
    );

  it('run after the agent that got the turn is done, the latest caller first', async () => {
    const deep = new LlmAgent({
      ...recordingAgent('deep'),
      model: new ScriptedModel(() => ({ text: 'Deep.' })),
    });
    const middle = new LlmAgent({
      ...recordingAgent('middle'),
      model: new ScriptedModel(() => transfersTo('deep')),
      subAgents: [deep],
    });
    const root = new LlmAgent({
      ...recordingAgent('root'),
      model: new ScriptedModel(() => transfersTo('middle')),
      subAgents: [middle],
    });
    await using runner = new InMemoryRunner({ agent: root });
    const events = await runner.runDebug('Go');
    assert.deepEqual(messageTexts(events), [
      'deep: Deep.',
      'deep: deep is done.',
      'middle: middle is done.',
      'root: root is done.',
    ]);
  });

  it('run each time the agent had the turn, also after it got the turn back', async () => {
    let modelCalls = 0;
    const helper = new LlmAgent({
      ...recordingAgent('helper'),
      model: new ScriptedModel(() => transfersTo('root')),
    });
    const root = new LlmAgent({
      ...recordingAgent('root'),
      model: new ScriptedModel(() =>
        modelCalls++ === 0 ? transfersTo('helper') : { text: 'Back.' },
      ),
      subAgents: [helper],
    });
    await using runner = new InMemoryRunner({ agent: root, appName: 'demo' });
    const address = { appName: 'demo', ...sessionIds };
    await runner.sessionService.createSession(address);
    assert.deepEqual(messageTexts(await runner.run({ ...sessionIds, newMessage: 'Go' })), [
      'root: Back.',
      'root: root is done.',
      'helper: helper is done.',
      'root: root is done.',
    ]);
    const session = await runner.sessionService.getSession(address);
    assert.deepEqual(session?.state['after'], ['root', 'helper', 'root']);
    // No call waits when the next turn starts.
    assert.deepEqual(messageTexts(await runner.run({ ...sessionIds, newMessage: 'Again' })), [
      'root: Back.',
      'root: root is done.',
    ]);
  });

  it('run for a custom agent that transferred to a peer or a sub-agent', async () => {
    class Desk extends BaseAgent {
      protected override async *runAsyncImpl() {
        yield { actions: { transferToAgent: this.description } };
      }
    }
    for (const to of ['peer', 'own']) {
      const desk = new Desk({
        ...recordingAgent('desk'),
        description: to,
        subAgents: [scriptedAgent('own', 'own')],
      });
      const root = new LlmAgent({
        name: 'root',
        model: new ScriptedModel(() => transfersTo('desk')),
        subAgents: [desk, scriptedAgent('peer', 'peer')],
      });
      await using runner = new InMemoryRunner({ agent: root });
      assert.deepEqual(messageTexts(await runner.runDebug('Go')), [
        `${to}: ${to}`,
        'desk: desk is done.',
      ]);
    }
  });

  it('do not run when the invocation was ended', async () => {
    const stop = tool({
      name: 'stop',
      description: 'Stops.',
      execute: (_, { actions }) => actions.endInvocation(),
    });
    const helper = new LlmAgent({
      name: 'helper',
      model: new ScriptedModel(() => ({ toolCalls: [{ name: 'stop' }] })),
      tools: [stop],
    });
    let turns = 0;
    const root = new LlmAgent({
      ...recordingAgent('root'),
      model: new ScriptedModel(() => (turns++ === 0 ? transfersTo('helper') : { text: 'Here.' })),
      subAgents: [
        new LlmAgent({ ...recordingAgent('middle'), model: new ScriptedModel([]) }),
        helper,
      ],
    });
    await using runner = new InMemoryRunner({ agent: root, appName: 'demo' });
    await runner.sessionService.createSession({ appName: 'demo', ...sessionIds });
    assert.deepEqual(messageTexts(await runner.run({ ...sessionIds, newMessage: 'Go' })), []);
  });
});
