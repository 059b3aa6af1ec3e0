import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AgentTool,
  deleteLiveRecordings,
  FunctionTool,
  LiveRequestQueue,
  LlmAgent,
  ParallelAgent,
  SequentialAgent,
} from '../../src/adk/index.ts';
import type { RunConfig } from '../../src/adk/index.ts';
import type { InMemoryArtifactService } from '../../src/tools/index.ts';
import { contentText, isFinalResponse } from '../../src/core/index.ts';
import { ScriptedLive } from '../../src/live/index.ts';
import type { ScriptedLiveTurn } from '../../src/live/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { LiveSession, runLive } from './live-session.ts';

const address = { userId: 'u', sessionId: 's' } as const;
const text = (said: string): { readonly role: 'user'; readonly parts: [{ text: string }] } => ({
  role: 'user',
  parts: [{ text: said }],
});

test('after a live session, rewind takes back one turn of it, and runAsync goes on with the transcripts', async () => {
  const clock = new SimulatedClock();
  const liveModel = new ScriptedLive(
    {
      turns: [
        { heard: 'I am Ann.', text: 'Hello Ann.' },
        { heard: 'I am Bob.', text: 'Hello Bob.' },
      ],
    },
    { clock },
  );
  const model = new ScriptedModel(({ contents }) => ({
    text: contents.map((content) => contentText(content)).join(' | '),
  }));
  const agent = new LlmAgent({ name: 'assistant', model, liveModel });
  await using live = await runLive(agent, clock);
  await live.say();
  await live.turns(1);
  await live.say();
  await live.turns(2);
  await live.close();
  const second = live.events.findLast(({ inputTranscription }) => inputTranscription?.finished);
  assert.equal(second?.inputTranscription?.text, 'I am Bob.');
  await live.runner.rewind({ ...address, rewindBeforeInvocationId: second.invocationId });
  const events = await live.runner.run({ ...address, newMessage: 'Who am I?' });
  assert.deepEqual(
    events.filter(isFinalResponse).map(({ content }) => content && contentText(content)),
    ['I am Ann. | Hello Ann. | Who am I?'],
  );
  const session = await live.runner.sessionService.getSession({ appName: 'demo', ...address });
  assert.deepEqual(
    session?.events.map(({ inputTranscription: input, outputTranscription: output }) => [
      input?.text,
      output?.text,
    ]),
    [
      ['I am Ann.', undefined],
      [undefined, 'Hello Ann.'],
      ['I am Bob.', undefined],
      [undefined, 'Hello Bob.'],
      [undefined, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ],
  );
});

test('a rewind during a live session comes before the message that was sent with it', async () => {
  const clock = new SimulatedClock();
  const sales = new LlmAgent({ name: 'sales', model: new ScriptedLive({ turns: [] }, { clock }) });
  const turns = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }];
  const model = new ScriptedLive({ turns }, { clock });
  const agent = new LlmAgent({ name: 'assistant', model, subAgents: [sales] });
  await using live = await runLive(agent, clock);
  live.queue.sendContent(text('First'));
  await live.turns(1);
  live.queue.sendContent(text('Second'));
  await live.until(() => model.commands.length === 2);
  const { invocationId = '' } = live.events.find(({ turnComplete }) => turnComplete) ?? {};
  // The turn of the second message runs: both wait for its end.
  const rewound = live.runner.rewind({ ...address, rewindBeforeInvocationId: invocationId });
  await live.pass(0);
  live.queue.sendContent(text('Third'));
  await live.turns(3);
  await rewound;
  await live.close();
  const session = await live.runner.sessionService.getSession({ appName: 'demo', ...address });
  const order = (session?.events ?? []).flatMap(({ content, actions, author }) => {
    if (actions.rewindBeforeInvocationId !== undefined) return ['rewind'];
    return author === 'user' && content !== undefined ? [contentText(content)] : [];
  });
  assert.deepEqual(order, ['First', 'Second', 'rewind', 'Third']);
});

test('older turns of a live session are compacted as those of any session', async () => {
  const clock = new SimulatedClock();
  const liveModel = new ScriptedLive(
    {
      turns: [
        { heard: 'I am Ann.', text: 'Hello Ann.' },
        { heard: 'I like tea.', text: 'Me too.' },
      ],
    },
    { clock },
  );
  const seen: string[] = [];
  const model = new ScriptedModel(({ contents }) => {
    const shown = contents.map((content) => contentText(content)).join(' | ');
    seen.push(shown);
    return { text: 'A summary.' };
  });
  const agent = new LlmAgent({ name: 'assistant', model, liveModel });
  const app = { eventsCompactionConfig: { compactionInterval: 2, overlapSize: 0 } };
  await using live = await runLive(agent, clock, { app });
  await live.say();
  await live.turns(1);
  await live.say();
  await live.turns(2);
  await live.close();
  await live.until(() => seen.length > 0);
  assert.match(seen.join(), /I am Ann\.[^]*Hello Ann\.[^]*I like tea\./);
  await live.runner.run({ ...address, newMessage: 'Who am I?' });
  assert.match(seen.at(-1) ?? '', /A summary\.[^]*Who am I\?/);
  assert.ok(!seen.at(-1)?.includes('Hello Ann.'));
});

test('an approval is given through the queue, or later in runAsync', async () => {
  for (const inQueue of [true, false]) {
    const clock = new SimulatedClock();
    const paid: string[] = [];
    const pay = new FunctionTool({
      name: 'pay',
      description: 'Pays.',
      needsApproval: true,
      execute: () => {
        paid.push('Ann');
        return 'paid';
      },
    });
    const turns = [
      { heard: 'Pay Ann.', toolCalls: [{ id: 'c1', name: 'pay' }] },
      { text: 'It is paid.' },
    ];
    const liveModel = new ScriptedLive({ turns }, { clock });
    const model = new ScriptedModel(() => ({ text: 'It is paid, as text.' }));
    await using live = await runLive(
      new LlmAgent({ name: 'assistant', model, liveModel, tools: [pay] }),
      clock,
    );
    await live.say();
    const find = (): string | undefined =>
      live.events.find(({ longRunningToolIds }) => longRunningToolIds)?.longRunningToolIds?.[0];
    await live.until(() => find() !== undefined);
    const functionResponse = { id: find() ?? '', name: 'pay', response: { confirmed: true } };
    const answer = { role: 'user' as const, parts: [{ functionResponse }] };
    assert.deepEqual(paid, []);
    if (inQueue) {
      live.queue.sendContent(answer);
      await live.turns(1);
    }
    await live.close();
    if (!inQueue) await live.runner.run({ ...address, newMessage: answer });
    assert.deepEqual(paid, ['Ann']);
    const session = await live.runner.sessionService.getSession({ appName: 'demo', ...address });
    const last = session?.events.at(-1);
    assert.equal(
      last?.outputTranscription?.text ?? contentText(last?.content ?? { role: 'model', parts: [] }),
      inQueue ? 'It is paid.' : 'It is paid, as text.',
    );
  }
});

test('saveLiveBlob saves the audio of both sides as artifacts, and no model is shown them', async () => {
  const clock = new SimulatedClock(1_000);
  const turns = [{ heard: 'Hello?', text: 'Hi there.' }];
  const liveModel = new ScriptedLive({ turns }, { clock });
  const model = new ScriptedModel(({ contents }) => ({ text: `${contents.length} messages` }));
  const agent = new LlmAgent({ name: 'assistant', model, liveModel });
  await using live = await runLive(agent, clock, { runConfig: { saveLiveBlob: true } });
  await live.say();
  await live.turns(1);
  await live.close();
  const session = { appName: 'demo', ...address };
  const service: InMemoryArtifactService = live.runner.artifactService;
  const names = await service.list(session);
  assert.equal(names.length, 2);
  assert.match(names.join(), /adk_live_audio_storage_input_audio_1\d+\.pcm/);
  assert.match(names.join(), /adk_live_audio_storage_output_audio_1\d+\.pcm/);
  for (const name of names) {
    const part = await service.load({ session, name });
    assert.ok(part !== undefined && 'inlineData' in part);
    const bytes = Buffer.from(part.inlineData.data, 'base64').byteLength;
    // 500 ms of input at 16 kHz; two words of 200 ms at 24 kHz.
    assert.equal(bytes, name.includes('input') ? 16_000 : 19_200);
    assert.ok(
      live.events.some(({ content, actions }) => {
        const [file] = content?.parts ?? [];
        const uri = file !== undefined && 'fileData' in file ? file.fileData.fileUri : '';
        return uri.includes(`/_adk_live/${name}#`) && name in actions.artifactDelta;
      }),
      name,
    );
  }
  const [answer] = (await live.runner.run({ ...address, newMessage: 'And now?' })).filter(
    isFinalResponse,
  );
  assert.equal(answer?.content && contentText(answer.content), '3 messages');

  await service.save({ session, name: 'mine.txt' }, { text: 'Mine.' }, { saveId: 'mine' });
  const remove = async (before?: number): Promise<readonly string[]> =>
    deleteLiveRecordings({
      artifactService: service,
      session,
      ...(before !== undefined && { before }),
    });
  assert.deepEqual(await remove(0), []);
  assert.deepEqual([...(await remove())].toSorted(), [...names].toSorted());
  assert.deepEqual(await service.list(session), ['mine.txt']);
});

test('each agent of a sequence speaks until it says that it is done', async () => {
  const clock = new SimulatedClock();
  const done = { id: 'd1', name: 'task_completed' };
  const first = new ScriptedLive(
    {
      turns: [
        { heard: 'Hello?', text: 'What is your name?' },
        { heard: 'Ann.', toolCalls: [done] },
      ],
    },
    { clock },
  );
  const second = new ScriptedLive(
    { turns: [{ text: 'Hello Ann. Tea?' }, { heard: 'Yes.', text: 'Here.' }] },
    { clock },
  );
  const agent = new SequentialAgent({
    name: 'cafe',
    subAgents: [
      new LlmAgent({ name: 'asks', model: first }),
      new LlmAgent({ name: 'serves', model: second }),
    ],
  });
  await using live = await runLive(agent, clock);
  for (const turn of [1, 2, 3]) {
    await live.say();
    await live.turns(turn);
  }
  await live.close();
  const stored = live.stored().filter((line) => !line.includes('task_completed'));
  assert.deepEqual(stored, [
    'user: "Hello?"',
    'asks: "What is your name?"',
    'turn complete',
    'user: "Ann."',
    'serves: "Hello Ann. Tea?"',
    'turn complete',
    'user: "Yes."',
    'serves: "Here."',
    'turn complete',
  ]);
  const [{ tools = [], instruction = '' } = {}] = first.requests;
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['task_completed'],
  );
  assert.match(instruction, /task_completed/);
});

test('a session has one live session at a time', async () => {
  const clock = new SimulatedClock();
  const model = new ScriptedLive({ turns: [{ text: 'Hi.' }] }, { clock });
  await using live = await runLive(new LlmAgent({ name: 'assistant', model }), clock);
  live.queue.sendContent(text('Hello'));
  await live.turns(1);
  const other = new LiveSession(live.runner, clock);
  await assert.rejects(other.ended, { code: 'live_session_busy' });
  await live.close();
  const next = new LiveSession(live.runner, clock);
  await next.close();
});

test('the models of a live session are called at most maxLlmCalls times', async () => {
  const clock = new SimulatedClock();
  const turns = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }];
  const model = new ScriptedLive({ turns }, { clock });
  const agent = new LlmAgent({ name: 'assistant', model });
  await using live = await runLive(agent, clock, { runConfig: { maxLlmCalls: 2 } });
  for (const turn of [1, 2]) {
    live.queue.sendContent(text('Go on'));
    await live.turns(turn);
  }
  live.queue.sendContent(text('Go on'));
  await live.until(() => live.isOver);
  await assert.rejects(live.ended, { code: 'llm_calls_limit_exceeded', maxLlmCalls: 2 });
});

/** An agent that one speaks with, and that asks a clerk. The clerk calls a tool until it is stopped, or `calls` times. */
function withClerk(
  clock: SimulatedClock,
  calls: number,
  subAgents: readonly LlmAgent[] = [],
): { readonly agent: LlmAgent; readonly clerk: ScriptedModel } {
  const asks = (id: string): ScriptedLiveTurn => ({
    heard: 'Count.',
    toolCalls: [{ id, name: 'clerk', args: { request: 'Count' } }],
  });
  const answers = { text: 'Done.' };
  const live = new ScriptedLive({ turns: [asks('c1'), answers, asks('c2'), answers] }, { clock });
  let made = 0;
  const clerk = new ScriptedModel(() =>
    ++made % calls === 0 ? { text: 'Counted.' } : { toolCalls: [{ name: 'count', args: {} }] },
  );
  const count = new FunctionTool({ name: 'count', description: 'Counts.', execute: () => 'one' });
  const called = new LlmAgent({ name: 'clerk', model: clerk, tools: [count] });
  const agent = new LlmAgent({
    name: 'assistant',
    model: live,
    tools: [new AgentTool({ agent: called })],
    subAgents,
  });
  return { agent, clerk };
}

for (const that of ['one agent', 'one agent without transcripts', 'several agents'])
  test(`the agents that a spoken turn of ${that} calls make at most maxLlmCalls calls`, async () => {
    const clock = new SimulatedClock();
    const other = new LlmAgent({
      name: 'other',
      model: new ScriptedLive({ turns: [] }, { clock }),
    });
    const { agent, clerk } = withClerk(clock, Infinity, that === 'several agents' ? [other] : []);
    const runConfig = {
      maxLlmCalls: 4,
      ...(that === 'one agent without transcripts' && { inputAudioTranscription: null }),
    };
    await using live = await runLive(agent, clock, { runConfig });
    await live.say();
    await live.until(() => live.isOver);
    await assert.rejects(live.ended, { code: 'llm_calls_limit_exceeded', maxLlmCalls: 4 });
    assert.equal(clerk.requests.length, 4);
    // The turn was over: nothing was left to interrupt.
    assert.equal(live.stored().filter((line) => line.startsWith('turn complete')).length, 1);
  });

test('model calls of called agents count for the whole live session', async () => {
  const clock = new SimulatedClock();
  const { agent, clerk } = withClerk(clock, 1);
  await using live = await runLive(agent, clock, { runConfig: { maxLlmCalls: 5 } });
  await live.say();
  await live.turns(1);
  assert.equal(live.isOver, false, 'two replies and a call of the clerk');
  await live.say();
  await live.until(() => live.isOver);
  await assert.rejects(live.ended, { code: 'llm_calls_limit_exceeded' });
  assert.equal(clerk.requests.length, 2);
});

test('an abort interrupts the turn and ends the live session', async () => {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  const turns = [{ text: 'One two three four five six.' }, { text: 'unused' }];
  const model = new ScriptedLive({ turns }, { clock });
  const agent = new LlmAgent({ name: 'assistant', model });
  await using live = await runLive(agent, clock, { abortSignal: stop.signal });
  live.queue.sendContent(text('Talk'));
  await live.until(() => live.events.some(({ outputTranscription }) => outputTranscription));
  stop.abort();
  await live.until(() => live.isOver);
  await live.ended;
  assert.equal(live.stored().at(-1), 'turn complete (interrupted)');
});

test('a minute of audio adds no record to the journal', async () => {
  const clock = new SimulatedClock();
  const turns = [{ heard: 'Hello?', text: 'Hi.' }];
  const model = new ScriptedLive({ turns }, { clock });
  await using live = await runLive(new LlmAgent({ name: 'assistant', model }), clock);
  await live.say();
  await live.turns(1);
  const silence = Buffer.alloc(640).toString('base64');
  for (let frame = 0; frame < 3_000; frame++) {
    live.queue.sendRealtime({ mimeType: 'audio/pcm;rate=16000', data: silence });
    if (frame % 10 === 0) await live.pass(0);
  }
  await live.close();
  const session = await live.runner.sessionService.getSession({ appName: 'demo', ...address });
  assert.equal(session?.events.length, 2);
  const store = await live.runner.sessionService.store();
  const row = await store.find({ appName: 'demo', ...address });
  assert.ok((row?.lastSeq ?? 99) < 10, `${row?.lastSeq} log events`);
});

test('what a live session needs is checked before it connects', async () => {
  const clock = new SimulatedClock();
  const model = new ScriptedLive({ turns: [] }, { clock });
  const speaks = (name: string): LlmAgent => new LlmAgent({ name, model });
  const writes = new LlmAgent({ name: 'writes', model: new ScriptedModel([]) });
  const both = new ParallelAgent({ name: 'both', subAgents: [speaks('a'), speaks('b')] });
  for (const agent of [writes, both]) {
    await using live = await runLive(agent, clock);
    await live.until(() => live.isOver);
    await assert.rejects(live.ended, { kind: 'unsupported' }, agent.name);
  }
  const refused: readonly (readonly [RunConfig, RegExp])[] = [
    [{ supportCfc: true }, /supportCfc/],
    [{ avatarConfig: {} }, /avatarConfig/],
    [{ toolThreadPoolConfig: { maxWorkers: 0 } }, /maxWorkers/],
    [{ maxLlmCalls: 0.5 }, /maxLlmCalls/],
    [{ historyConfig: { initialHistoryInClientContent: false } }, /initialHistory/],
  ];
  for (const [runConfig, message] of refused) {
    await using live = await runLive(speaks('a'), clock, { runConfig });
    await live.until(() => live.isOver);
    await assert.rejects(live.ended, message);
  }
  assert.equal(model.requests.length, 0);
});

test('the queue drops old audio, and never a message', async () => {
  const queue = new LiveRequestQueue({ maxQueuedMs: 100 });
  const frame = { mimeType: 'audio/pcm;rate=16000', data: Buffer.alloc(640).toString('base64') };
  queue.sendContent(text('Hello'));
  for (let count = 0; count < 10; count++) queue.sendRealtime(frame);
  queue.close();
  const kinds: string[] = [];
  for await (const request of queue.read()) kinds.push(Object.keys(request).join());
  assert.deepEqual(kinds, ['content', 'blob', 'blob', 'blob', 'blob', 'blob']);
  assert.equal(queue.droppedMs, 100);
  assert.throws(() => queue.sendActivityStart(), { code: 'invalid_input' });
});

test('the queue refuses what no reader could use', () => {
  const queue = new LiveRequestQueue();
  const refused: readonly (readonly [unknown, RegExp])[] = [
    [{}, /empty/],
    [{ close: true, content: text('x') }, /must be alone/],
    [{ blob: { mimeType: 'audio/mpeg', data: '' } }, /mimeType/],
    [{ blob: { mimeType: 'audio/pcm;rate=4000', data: '' } }, /rate/],
    [{ blob: { mimeType: 'image/png', data: 1 } }, /base64/],
    [{ speech: true }, /unknown/],
  ];
  for (const [request, message] of refused)
    assert.throws(() => queue.send(Object(request)), message);
});

test('the options of a run reach the model, and those of its agent win', async () => {
  const clock = new SimulatedClock();
  const model = new ScriptedLive({ turns: [{ text: 'Hi.' }] }, { clock });
  const agent = new LlmAgent({
    name: 'assistant',
    model,
    liveConfig: { speechConfig: { languageCode: 'de-DE' } },
  });
  const runConfig: RunConfig = {
    responseModalities: ['TEXT'],
    speechConfig: { languageCode: 'en-US' },
    inputAudioTranscription: null,
    contextWindowCompression: { triggerTokens: 9_000 },
    sessionResumption: { handle: 'unknown' },
    customMetadata: { tenant: 'a' },
  };
  await using live = await runLive(agent, clock, { runConfig });
  live.queue.sendContent(text('Hello'));
  await live.turns(1);
  await live.close();
  const [first, second] = model.requests;
  // A handle that the server does not know is dropped.
  assert.deepEqual([first?.handle, second?.handle], ['unknown', undefined]);
  assert.deepEqual(second?.config, {
    responseModalities: ['TEXT'],
    speechConfig: { languageCode: 'de-DE' },
    inputAudioTranscription: null,
    contextWindowCompression: { triggerTokens: 9_000 },
  });
  assert.deepEqual(live.stored(), ['assistant: Hi.', 'turn complete']);
  assert.ok(live.events.every(({ customMetadata }) => customMetadata?.['tenant'] === 'a'));
  const session = await live.runner.sessionService.getSession({ appName: 'demo', ...address });
  assert.ok(session?.events.every(({ customMetadata }) => customMetadata?.['tenant'] === 'a'));
});

test('at most maxWorkers tools run at once', async () => {
  const clock = new SimulatedClock();
  let running = 0;
  let most = 0;
  const work = new FunctionTool({
    name: 'work',
    description: 'Works.',
    execute: async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => clock.at(clock.now() + 100, () => resolve(0)));
      running--;
    },
  });
  const toolCalls = ['c1', 'c2', 'c3', 'c4'].map((id) => ({ id, name: 'work' }));
  const model = new ScriptedLive({ turns: [{ toolCalls }, { text: 'Done.' }] }, { clock });
  const agent = new LlmAgent({ name: 'assistant', model, tools: [work] });
  const runConfig: RunConfig = { toolThreadPoolConfig: { maxWorkers: 2 } };
  await using live = await runLive(agent, clock, { runConfig });
  live.queue.sendContent(text('Work'));
  await live.turns(1);
  await live.close();
  assert.equal(most, 2);
});
