import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  BaseAgent as StockBase,
  createEvent,
  InMemorySessionService,
  isFinalResponse,
  LoopAgent as StockLoop,
  ParallelAgent as StockParallel,
  Runner as StockRunner,
  SequentialAgent as StockSequential,
  setLogger,
  StreamingMode,
} from '@google/adk';
import type { Event as StockEvent, InvocationContext } from '@google/adk';
import { agent } from '../../agents/index.ts';
import { contentText } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { LlmAgent, Runner, InMemorySessionService as OwnSessions } from '../../adk/index.ts';
import { LoopAgent, SequentialAgent } from '../../adk/index.ts';
import { tool } from '../../tools/index.ts';
import { PetriAgent } from './petri-agent.ts';
import { cleanerOwned, strongOwned } from './session-registry.ts';
import { StockAgent } from './stock-agent.ts';

// Stock ADK prints deprecation warnings for its workflow agents.
setLogger(null);

const user = { userId: 'u1' } as const;

/** An agent whose answer lists its model's contents, so that tests can read them. */
const echoModel = () =>
  new ScriptedModel(({ contents }) => ({ text: contents.map(contentText).join(' | ') }));

const echo = (name: string) => agent({ name, model: echoModel() });

const eventTexts = (events: readonly StockEvent[]): readonly string[] =>
  events.flatMap(({ author, content }) => {
    const text = (content?.parts ?? []).map((part) => part.text ?? '').join('');
    return text === '' ? [] : [`${author}: ${text}`];
  });

/** A stock agent that yields one text. */
class FixedAgent extends StockBase {
  readonly #event: (context: InvocationContext) => Partial<StockEvent>;

  constructor(name: string, event: string | ((context: InvocationContext) => Partial<StockEvent>)) {
    super({ name });
    this.#event =
      typeof event === 'string'
        ? () => ({ content: { role: 'model', parts: [{ text: event }] } })
        : event;
  }

  protected async *runAsyncImpl(context: InvocationContext): AsyncGenerator<StockEvent> {
    const { invocationId, branch } = context;
    const place = { invocationId, author: this.name, ...(branch !== undefined && { branch }) };
    yield createEvent({ ...place, ...this.#event(context) });
  }

  // oxlint-disable-next-line require-yield -- stock ADK asks for it; nobody goes live here
  protected async *runLiveImpl(): AsyncGenerator<StockEvent> {
    throw new Error('not live');
  }
}

const text = (words: string) => ({ role: 'user', parts: [{ text: words }] });

/** A stock runner with one session, and a function that sends messages to it. */
async function stockRunner(root: StockBase, state: Record<string, unknown> = {}) {
  const sessionService = new InMemorySessionService();
  const runner = new StockRunner({ appName: 'my-app', agent: root, sessionService });
  const { id: sessionId } = await sessionService.createSession({
    appName: 'my-app',
    ...user,
    state,
  });
  const key = { appName: 'my-app', ...user, sessionId };
  const send = async (
    words: string,
    more: Partial<Parameters<StockRunner['runAsync']>[0]> = {},
  ): Promise<StockEvent[]> => {
    const events: StockEvent[] = [];
    const message = { ...user, sessionId, newMessage: text(words), ...more };
    for await (const event of runner.runAsync(message)) events.push(event);
    return events;
  };
  const stored = async () => (await sessionService.getSession(key)) ?? assert.fail();
  return { runner, sessionService, key, send, stored };
}

describe('a Petrichor agent under the stock Runner', () => {
  it('as root agent, has one net per session, for all messages', async () => {
    await using petri = new PetriAgent({ agent: echo('echo') });
    const { send, stored } = await stockRunner(petri);
    assert.deepEqual(eventTexts(await send('one')), ['echo: one']);
    assert.deepEqual(eventTexts(await send('two')), ['echo: one | one | two']);
    const other = await stockRunner(petri);
    assert.deepEqual(eventTexts(await other.send('three')), ['echo: three']);
    const { events } = await stored();
    assert.deepEqual(eventTexts(events), [
      'user: one',
      'echo: one',
      'user: two',
      'echo: one | one | two',
    ]);
    assert.ok(
      events.slice(0, 2).every((event, _, all) => event.invocationId === all[0]?.invocationId),
    );
  });

  it('calls its tools, writes its state, and reports both to the stock session', async () => {
    const count = tool({
      name: 'count',
      description: 'Counts.',
      execute: (_, { state }) => {
        state.increment('n');
        state.set('user:seen', true);
        return 'counted';
      },
    });
    const usage = { inputTokens: 5, outputTokens: 7, totalTokens: 12, thinkingTokens: 2 };
    const counter = new LlmAgent({
      name: 'counter',
      model: new ScriptedModel(({ contents, instruction = '' }) =>
        contents.at(-1)?.role === 'user'
          ? { toolCalls: [{ name: 'count' }] }
          : { text: instruction, usage },
      ),
      identity: false,
      instruction: 'There are {n} of {thing}.',
      tools: [count],
    });
    await using petri = new PetriAgent({ agent: counter });
    const { send, stored, sessionService, key } = await stockRunner(petri, {
      thing: 'sheep',
      n: 0,
    });
    const events = await send('go');
    assert.deepEqual(eventTexts(events), ['counter: There are 1 of sheep.']);
    const calls = events.flatMap(({ content }) => content?.parts ?? []);
    const called = calls.find((part) => part.functionCall !== undefined)?.functionCall;
    const answer = calls.find((part) => part.functionResponse !== undefined)?.functionResponse;
    assert.equal(called?.name, 'count');
    assert.deepEqual([answer?.id, answer?.response], [called.id, { result: 'counted' }]);
    const last = events.at(-1) ?? assert.fail();
    assert.ok(isFinalResponse(last));
    assert.deepEqual(last.usageMetadata, {
      promptTokenCount: 5,
      candidatesTokenCount: 5,
      totalTokenCount: 12,
      thoughtsTokenCount: 2,
    });
    assert.deepEqual((await stored()).state, { thing: 'sheep', n: 1, 'user:seen': true });
    // State that the stock session received since then is passed to the net with the next message.
    const session = await stored();
    await sessionService.appendEvent({
      session,
      event: createEvent({ author: 'user', actions: { stateDelta: { thing: 'goats' } } }),
    });
    assert.deepEqual(eventTexts(await send('go')), ['counter: There are 2 of goats.']);
    assert.deepEqual((await sessionService.getSession(key))?.state['n'], 2);
  });

  it('streams partial events when the stock run config enables it', async () => {
    const model = new ScriptedModel([{ text: 'One two three four.' }, { text: 'Five.' }]);
    await using petri = new PetriAgent({ agent: agent({ name: 'talker', model }) });
    const { send } = await stockRunner(petri);
    const events = await send('hi', { runConfig: { streamingMode: StreamingMode.SSE } });
    const pieces = events.filter(({ partial }) => partial === true);
    assert.ok(pieces.length > 0);
    assert.equal(
      eventTexts(pieces)
        .map((line) => line.slice('talker: '.length))
        .join(''),
      'One two three four.',
    );
    assert.deepEqual(eventTexts((await send('again')).filter(({ partial }) => partial !== true)), [
      'talker: Five.',
    ]);
  });

  it('asks for an approval, and the answer, a function response, resumes the call', async () => {
    const remove = tool({
      name: 'remove',
      description: 'x',
      needsApproval: true,
      execute: () => 'gone',
    });
    const guarded = agent({
      name: 'guarded',
      model: new ScriptedModel(({ contents }) =>
        contents.at(-1)?.role === 'user'
          ? { toolCalls: [{ name: 'remove' }] }
          : { text: JSON.stringify(contents.at(-1)?.parts[0]) },
      ),
      tools: [remove],
    });
    await using petri = new PetriAgent({ agent: guarded });
    const { send } = await stockRunner(petri);
    const approvalEvent = (await send('go')).at(-1) ?? assert.fail();
    const [id = ''] = approvalEvent.longRunningToolIds ?? [];
    assert.ok(isFinalResponse(approvalEvent));
    const response = { functionResponse: { id, name: 'remove', response: { confirmed: true } } };
    const answered = await send('', { newMessage: { role: 'user', parts: [response] } });
    assert.match(eventTexts(answered).join(), /gone/);
  });

  it('stops when it is aborted, and the session continues', async () => {
    const stop = new AbortController();
    const slow = tool({
      name: 'slow',
      description: 'x',
      execute: async (_, { signal }) => {
        const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
        stop.abort();
        await aborted;
      },
    });
    const model = new ScriptedModel(({ contents }) =>
      contents.length === 1 ? { toolCalls: [{ name: 'slow' }] } : { text: 'Here.' },
    );
    await using petri = new PetriAgent({ agent: agent({ name: 'worker', model, tools: [slow] }) });
    const { send } = await stockRunner(petri);
    await send('go', { abortSignal: stop.signal });
    assert.deepEqual(eventTexts(await send('there?')), ['worker: Here.']);
  });

  it('stops when its events are no longer consumed, and the session continues', async () => {
    const stopped = Promise.withResolvers<string>();
    const slow = tool({
      name: 'slow',
      description: 'x',
      execute: async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        stopped.resolve('stopped');
      },
    });
    const model = new ScriptedModel(({ contents }) =>
      contents.length === 1 ? { toolCalls: [{ name: 'slow' }] } : { text: 'Here.' },
    );
    await using petri = new PetriAgent({ agent: agent({ name: 'worker', model, tools: [slow] }) });
    const { runner, key, send } = await stockRunner(petri);
    for await (const _ of runner.runAsync({ ...key, newMessage: text('go') })) break;
    assert.equal(await stopped.promise, 'stopped');
    assert.deepEqual(eventTexts(await send('there?')), ['worker: Here.']);
  });

  it('receives stock state with JSON values and valid keys', async () => {
    const model = new ScriptedModel(({ instruction = '' }) => ({ text: instruction }));
    const teller = agent({
      name: 'teller',
      model,
      instruction: ({ state }) =>
        Object.keys(state)
          .filter((key) => !key.startsWith('temp:'))
          .join(),
    });
    await using petri = new PetriAgent({ agent: teller });
    const { send } = await stockRunner(petri, { good: 1, 'a/../b': 2, odd: () => {} });
    assert.deepEqual(eventTexts(await send('go')), ['teller: good']);
  });

  it('rejects live sessions by name', async () => {
    await using petri = new PetriAgent({ agent: echo('echo') });
    const live = petri.runLive({} as InvocationContext);
    await assert.rejects(async () => live.next(), { code: 'invalid_input' });
  });
});

describe('a Petrichor agent as a child of stock agents', () => {
  it('in a sequence, sees what the agents before it said', async () => {
    await using petri = new PetriAgent({ agent: echo('reader') });
    const root = new StockSequential({
      name: 'root',
      subAgents: [
        new FixedAgent('writer', 'A draft.'),
        petri,
        new FixedAgent('closer', 'The end.'),
      ],
    });
    const { send } = await stockRunner(root);
    assert.deepEqual(eventTexts(await send('write')), [
      'writer: A draft.',
      'reader: [writer] said: A draft.write',
      'closer: The end.',
    ]);
  });

  it('in a parallel agent, does not see its peers', async () => {
    await using a = new PetriAgent({ agent: echo('a') });
    await using b = new PetriAgent({ agent: echo('b') });
    const { send } = await stockRunner(new StockParallel({ name: 'both', subAgents: [a, b] }));
    const events = await send('go');
    assert.deepEqual(eventTexts(events).toSorted(), ['a: go', 'b: go']);
    assert.deepEqual(new Set(events.map(({ branch }) => branch)), new Set(['both.a', 'both.b']));
  });

  it('in a loop, ends it when a tool escalates', async () => {
    let rounds = 0;
    const leave = tool({
      name: 'leave',
      description: 'x',
      execute: (_, { actions }) => {
        if (++rounds === 3) actions.escalate();
        return rounds;
      },
    });
    const model = new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'leave' }] } : { text: 'Hm.' },
    );
    await using petri = new PetriAgent({ agent: agent({ name: 'turner', model, tools: [leave] }) });
    const { send } = await stockRunner(
      new StockLoop({ name: 'loop', subAgents: [petri], maxIterations: 10 }),
    );
    await send('go');
    assert.equal(rounds, 3);
  });
});

describe('a message while a call of a Petrichor agent waits', () => {
  it('gets an event that lists the call, and its answer after the call is answered', async () => {
    const ask = tool({ name: 'ask', description: 'Asks a person.', longRunning: true });
    const model = new ScriptedModel(({ contents }) => {
      const last = contents.at(-1);
      if (last?.role === 'tool') return { text: 'Asked.' };
      return contents.length === 1
        ? { toolCalls: [{ name: 'ask' }] }
        : { text: `Heard ${contentText(last)}.` };
    });
    await using petri = new PetriAgent({ agent: agent({ name: 'worker', model, tools: [ask] }) });
    const { send, stored } = await stockRunner(petri);
    const longRunningIds = (events: readonly StockEvent[]) =>
      events.flatMap(({ longRunningToolIds }) => longRunningToolIds ?? []);
    const [id = ''] = longRunningIds(await send('one'));
    const second = await send('two');
    assert.deepEqual(longRunningIds(second), [id]);
    assert.deepEqual(eventTexts(second), []);
    const response = { id, name: 'ask', response: { result: 'yes' } };
    const answered = await send('', {
      newMessage: { role: 'user', parts: [{ functionResponse: response }] },
    });
    assert.deepEqual(eventTexts(answered), ['worker: Asked.', 'worker: Heard two.']);
    const texts = eventTexts((await stored()).events);
    assert.deepEqual(texts, ['user: one', 'user: two', 'worker: Asked.', 'worker: Heard two.']);
    assert.deepEqual(eventTexts(await send('three')), ['worker: Heard three.']);
  });
});

describe('the lifetime of a net', () => {
  it('a net serves one session until it is closed by its key', async () => {
    const registry = strongOwned<never>();
    await using petri = new PetriAgent({ agent: echo('echo'), registry });
    const first = await stockRunner(petri);
    const second = await stockRunner(petri);
    await first.send('one');
    await first.send('two');
    await second.send('three');
    assert.equal(registry.size, 2);
    assert.equal(await petri.close(first.key), true);
    assert.equal(await petri.close(first.key), false);
    assert.equal(registry.size, 1);
    assert.deepEqual(eventTexts(await second.send('four')), ['echo: three | three | four']);
    assert.equal(registry.size, 1);
    // The net's own memory ended with it, so the contents of the stock session are passed again.
    assert.deepEqual(eventTexts(await first.send('five')), [
      'echo: [user] said: one[echo] said: one[user] said: two[echo] said: one | one | twofive',
    ]);
  });

  it('with a Petrichor session service, the data of a net outlives the net', async () => {
    const sessionService = new OwnSessions();
    const team = (): PetriAgent =>
      new PetriAgent({
        agent: new SequentialAgent({
          name: 'team',
          subAgents: [new LlmAgent({ name: 'a', model: echoModel() })],
        }),
        sessionService,
      });
    const first = team();
    const { send, key, sessionService: stockSessions } = await stockRunner(first);
    assert.deepEqual(eventTexts(await send('one')), ['a: one']);
    await first[Symbol.asyncDispose]();
    await using second = team();
    const later = new StockRunner({
      appName: 'my-app',
      agent: second,
      sessionService: stockSessions,
    });
    const events: StockEvent[] = [];
    for await (const event of later.runAsync({ ...key, newMessage: text('two') }))
      events.push(event);
    assert.deepEqual(eventTexts(events), ['a: one | one | two']);
    await second[Symbol.asyncDispose]();
    await sessionService.close();
  });

  it('closing a net stops what runs in it', async () => {
    const begun = Promise.withResolvers<void>();
    const slow = tool({
      name: 'slow',
      description: 'x',
      execute: async (_, { signal }) => {
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const model = new ScriptedModel([{ toolCalls: [{ name: 'slow' }] }]);
    await using petri = new PetriAgent({ agent: agent({ name: 'worker', model, tools: [slow] }) });
    const { send, key } = await stockRunner(petri);
    const running = send('go').catch((error: unknown) => error);
    await begun.promise;
    await petri.close(key);
    await running;
  });

  it('a registry belongs to one agent, and returns no net of another agent', async () => {
    const registry = strongOwned<never>();
    await using a = new PetriAgent({ agent: echo('a'), registry });
    const b = new PetriAgent({ agent: echo('b'), registry });
    const { send } = await stockRunner(new StockSequential({ name: 'both', subAgents: [a, b] }));
    await assert.rejects(send('go'), { code: 'invalid_input', field: 'registry' });
    assert.throws(() => b.clone(), { code: 'invalid_input' });
  });

  it('a runner that fails to be created is not kept', async () => {
    const registry = strongOwned<{ close: () => Promise<void> }>();
    const key = { appName: 'a', userId: 'u', sessionId: 's' };
    await assert.rejects(
      registry.getOrCreate(key, {}, async () => {
        throw new Error('no');
      }),
      /no/,
    );
    assert.equal(registry.size, 0);
  });

  it('a net ends when its owner is garbage-collected', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const registry = cleanerOwned<{ close: () => Promise<void> }>();
    const closed = Promise.withResolvers<string>();
    const key = { appName: 'a', userId: 'u', sessionId: 's' };
    const livingOwner = {};
    const open = (name: string) => async () => ({ close: async () => closed.resolve(name) });
    await registry.getOrCreate({ ...key, sessionId: 'kept' }, livingOwner, open('kept'));
    await registry.getOrCreate(key, {}, open('orphan'));
    for (let round = 0; round < 100 && registry.size > 1; round++) {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(await closed.promise, 'orphan');
    assert.equal(registry.size, 1);
    assert.ok(livingOwner);
  });

  it('the default owner is the stock session service, and dropping the runner releases its nets', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const registry = cleanerOwned<never>();
    const petri = new PetriAgent({ agent: echo('echo'), registry });
    await (async () => {
      const { send } = await stockRunner(petri);
      await send('one');
      assert.equal(registry.size, 1);
    })();
    for (let round = 0; round < 1000 && registry.size > 0; round++) {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(registry.size, 0);
  });
});

describe('a stock agent as a child of a Petrichor agent', () => {
  const sessionService = new OwnSessions();
  after(async () => sessionService.close());

  it('sees the conversation and the state, and its text and state changes are in our session', async () => {
    const stock = new FixedAgent('stock', ({ session }) => ({
      content: {
        role: 'model',
        parts: [
          {
            text: `${String(session.state['topic'])}: ${eventTexts(session.events).join(' | ')}`,
          },
        ],
      },
      actions: { ...createEvent().actions, stateDelta: { done: true } },
    }));
    const root = new SequentialAgent({
      name: 'root',
      subAgents: [
        new LlmAgent({ name: 'first', model: new ScriptedModel([{ text: 'A draft.' }]) }),
        new StockAgent(stock),
        new LlmAgent({
          name: 'last',
          model: new ScriptedModel(({ instruction = '' }) => ({ text: instruction })),
          identity: false,
          instruction: 'Done: {done}',
        }),
      ],
    });
    await using runner = new Runner({ appName: 'ours', agent: root, sessionService });
    await sessionService.createSession({
      appName: 'ours',
      ...user,
      sessionId: 's1',
      state: { topic: 'Sheep' },
    });
    const events = await runner.run({ ...user, sessionId: 's1', newMessage: 'write' });
    const lines = events.map(({ author, content }) => `${author}: ${contentText(content)}`);
    assert.equal(lines[0], 'first: A draft.');
    assert.match(lines[1] ?? '', /^stock: Sheep: user: write \| .*first.* said: A draft\.$/);
    assert.equal(lines.at(-1), 'last: Done: true');
    const session = await sessionService.getSession({ appName: 'ours', ...user, sessionId: 's1' });
    assert.equal(session?.state['done'], true);
  });

  it('writes state and leaves the enclosing loop with actions alone', async () => {
    const stock = new FixedAgent('checker', () => ({
      actions: { ...createEvent().actions, stateDelta: { checked: true }, escalate: true },
    }));
    const root = new LoopAgent({
      name: 'loop',
      maxIterations: 3,
      subAgents: [
        new LlmAgent({ name: 'writer', model: new ScriptedModel(() => ({ text: 'A draft.' })) }),
        new StockAgent(stock),
      ],
    });
    await using runner = new Runner({ appName: 'ours', agent: root, sessionService });
    await sessionService.createSession({ appName: 'ours', ...user, sessionId: 's3' });
    const events = await runner.run({ ...user, sessionId: 's3', newMessage: 'go' });
    assert.deepEqual(
      events.map(({ author, actions }) => [author, actions.escalate ?? actions.stateDelta]),
      [
        ['writer', {}],
        ['checker', true],
        ['checker', { checked: true }],
      ],
    );
  });

  it('fails the invocation when it fails, and not the session', async () => {
    const stock = new FixedAgent('stock', () => {
      throw new Error('broken');
    });
    await using runner = new Runner({
      appName: 'ours',
      agent: new StockAgent(stock),
      sessionService,
      autoCreateSession: true,
    });
    const events = await runner.run({ ...user, sessionId: 's2', newMessage: 'go' });
    assert.match(events.at(-1)?.errorMessage ?? '', /broken/);
  });
});
