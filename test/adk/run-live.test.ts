import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { FunctionTool, LlmAgent } from '../../src/adk/index.ts';
import type { LlmAgentConfig } from '../../src/adk/index.ts';
import { ScriptedLive } from '../../src/live/index.ts';
import type { LiveScript } from '../../src/live/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { runLive } from './live-session.ts';
import type { LiveSession } from './live-session.ts';

type Talk = { readonly live: LiveSession; readonly model: ScriptedLive } & AsyncDisposable;

async function talk(
  script: LiveScript,
  config: Partial<LlmAgentConfig> = {},
  params: Parameters<typeof runLive>[2] = {},
): Promise<Talk> {
  const clock = new SimulatedClock();
  const model = new ScriptedLive(script, { clock });
  const live = await runLive(new LlmAgent({ name: 'assistant', model, ...config }), clock, params);
  return { live, model, [Symbol.asyncDispose]: async () => live[Symbol.asyncDispose]() };
}

const text = (said: string): { readonly role: 'user'; readonly parts: [{ text: string }] } => ({
  role: 'user',
  parts: [{ text: said }],
});

test('a text turn: transcripts and audio in progress, the whole transcript, the end of the turn', async () => {
  await using one = await talk({ turns: [{ text: 'Hi there.' }] });
  one.live.queue.sendContent(text('Hello'));
  await one.live.turns(1);
  await one.live.close();
  assert.deepEqual(one.live.lines(), [
    'handle scripted:1',
    'assistant: "Hi"…',
    'assistant: " there."…',
    'assistant: "Hi there."',
    'turn complete',
  ]);
  const audio = one.live.events.flatMap(({ partial, content }) =>
    partial === true ? (content?.parts ?? []) : [],
  );
  assert.deepEqual(
    audio.map((part) => 'inlineData' in part && part.inlineData.mimeType),
    ['audio/pcm;rate=24000', 'audio/pcm;rate=24000'],
  );
  assert.equal(new Set(one.live.events.slice(1).map(({ invocationId }) => invocationId)).size, 1);
});

test('an audio turn has the transcripts of both sides', async () => {
  await using one = await talk({ turns: [{ heard: 'Hello?', text: 'Hi there.' }] });
  await one.live.say();
  await one.live.turns(1);
  await one.live.close();
  assert.deepEqual(one.live.stored(), [
    'user: "Hello?"',
    'assistant: "Hi there."',
    'turn complete',
  ]);
  const [partial] = one.live.events.filter(({ inputTranscription }) => inputTranscription);
  assert.deepEqual(partial?.inputTranscription, { text: 'Hello?', finished: false });
  assert.equal(partial?.invocationId, one.live.events.at(-1)?.invocationId);
});

test('after speech interrupts a reply, no event of its turn follows but its end', async () => {
  await using one = await talk({
    turns: [
      { heard: 'Tell me all.', text: 'One two three four five six seven eight.' },
      { heard: 'Stop.', text: 'All right.' },
    ],
  });
  await one.live.say();
  await one.live.until(() =>
    one.live.events.some(({ outputTranscription }) => outputTranscription),
  );
  await one.live.pass(500);
  await one.live.say();
  await one.live.turns(2);
  await one.live.close();
  const [, cut = '', ...rest] = one.live.stored();
  assert.match(cut, /^assistant: "One two( three( four)?)?" \(interrupted\)$/);
  assert.deepEqual(rest, [
    'turn complete (interrupted)',
    'user: "Stop."',
    'assistant: "All right."',
    'turn complete',
  ]);
  const end = one.live.events.findIndex(({ turnComplete }) => turnComplete);
  const { invocationId } = one.live.events[end] ?? {};
  assert.ok(!one.live.events.slice(end + 1).some((event) => event.invocationId === invocationId));
});

test('calls of one reply run at once; the one that the model cancels is stopped and gets no result', async () => {
  const ran: string[] = [];
  let stopped = false;
  const lookUp = new FunctionTool({
    name: 'look_up',
    description: 'Looks up.',
    parameters: z.object({ what: z.string() }),
    idempotent: true,
    execute: async ({ what }, { signal }) => {
      ran.push(what);
      if (what === 'fast') return { found: what };
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          stopped = true;
          reject(new Error('stopped'));
        });
      });
    },
  });
  await using one = await talk(
    {
      turns: [
        {
          heard: 'Look.',
          toolCalls: [
            { id: 'c1', name: 'look_up', args: { what: 'fast' } },
            { id: 'c2', name: 'look_up', args: { what: 'slow' } },
          ],
          cancelCallsAfterMs: 500,
        },
        { text: 'Found.' },
      ],
    },
    { tools: [lookUp] },
  );
  await one.live.say();
  await one.live.turns(1);
  await one.live.close();
  assert.deepEqual(ran, ['fast', 'slow']);
  assert.ok(stopped);
  const stored = one.live.stored();
  assert.ok(stored.includes('assistant: look_up? look_up?'), stored.join());
  // The results of one reply are one event, which completes when the model has canceled the other call.
  assert.match(stored.join(), /assistant: look_up: {"found":"fast"} look_up: {"error"/);
  assert.match(stored.join(), /canceled_by_model/);
});

test('a streaming tool goes on in the background: the model gets what it yields, until it stops the tool', async () => {
  let stopped = false;
  const frames: string[] = [];
  const watch = new FunctionTool({
    name: 'watch',
    description: 'Watches the stock.',
    execute: async function* (_, { inputStream, signal }) {
      signal.addEventListener('abort', () => (stopped = true));
      yield { price: 1 };
      for await (const { blob } of inputStream?.read(signal) ?? []) {
        if (blob === undefined) continue;
        frames.push(blob.mimeType);
        yield { price: 2 };
      }
    },
  });
  await using one = await talk(
    {
      turns: [
        { toolCalls: [{ id: 'c1', name: 'watch' }] },
        { text: 'I watch it.' },
        { text: 'It is at one.' },
        { text: 'It is at two.' },
        { toolCalls: [{ id: 'c2', name: 'stop_streaming', args: { function_name: 'watch' } }] },
        { text: 'I stopped.' },
        { toolCalls: [{ id: 'c3', name: 'stop_streaming', args: { function_name: 'watch' } }] },
        { text: 'It does not run.' },
      ],
    },
    { tools: [watch] },
  );
  one.live.queue.sendContent(text('Watch the stock.'));
  await one.live.turns(2);
  one.live.queue.sendRealtime({ mimeType: 'image/jpeg', data: 'AAAA' });
  await one.live.turns(3);
  one.live.queue.sendContent(text('Stop.'));
  await one.live.turns(4);
  one.live.queue.sendContent(text('Stop again.'));
  await one.live.turns(5);
  await one.live.close();
  assert.deepEqual(one.live.stored(), [
    'assistant: watch?',
    'assistant: watch: {"status":"The function is running asynchronously and the results are pending."}',
    'assistant: "I watch it."',
    'turn complete',
    'user: Function watch returned: {"price":1}',
    'assistant: "It is at one."',
    'turn complete',
    'user: Function watch returned: {"price":2}',
    'assistant: "It is at two."',
    'turn complete',
    'assistant: stop_streaming?',
    'assistant: stop_streaming: {"status":"Successfully stopped streaming function watch"}',
    'assistant: "I stopped."',
    'turn complete',
    'assistant: stop_streaming?',
    'assistant: stop_streaming: {"status":"No active streaming function named watch found"}',
    'assistant: "It does not run."',
    'turn complete',
  ]);
  assert.ok(stopped);
  assert.deepEqual(frames, ['image/jpeg']);
  const [{ tools = [] } = {}] = one.model.requests;
  assert.deepEqual(
    tools.map(({ name, nonBlocking }) => [name, nonBlocking]),
    [
      ['watch', true],
      ['stop_streaming', undefined],
    ],
  );
});

test('a transfer beside another call opens a connection for the other agent, which speaks next', async () => {
  const clock = new SimulatedClock();
  const note = new FunctionTool({ name: 'note', description: 'Notes.', execute: () => 'noted' });
  const handOver = new FunctionTool({
    name: 'hand_over',
    description: 'Hands over.',
    execute: (_, { actions }) => {
      actions.transferToAgent('billing');
      return 'handed over';
    },
  });
  const first = new ScriptedLive(
    {
      turns: [
        {
          heard: 'My bill is wrong.',
          toolCalls: [
            { id: 'c1', name: 'note' },
            { id: 'c2', name: 'hand_over' },
          ],
        },
      ],
    },
    { clock },
  );
  const second = new ScriptedLive(
    { turns: [{ text: 'Billing here.' }, { heard: 'Thanks.', text: 'Bye.' }] },
    { clock },
  );
  const billing = new LlmAgent({ name: 'billing', model: second, description: 'Bills.' });
  const greeter = new LlmAgent({
    name: 'greeter',
    model: first,
    tools: [note, handOver],
    subAgents: [billing],
  });
  await using live = await runLive(greeter, clock);
  await live.say();
  await live.turns(1);
  await live.say();
  await live.turns(2);
  await live.close();
  const stored = live.stored();
  assert.match(stored.join('\n'), /^greeter: note: {"result":"noted"} hand_over: /m);
  assert.deepEqual(stored.slice(-5), [
    'billing: "Billing here."',
    'turn complete',
    'user: "Thanks."',
    'billing: "Bye."',
    'turn complete',
  ]);
  assert.equal(first.requests.length, 1);
  assert.deepEqual(
    second.requests.map(({ handle }) => handle),
    [undefined],
  );
});

test('before the server closes the connection, it is resumed, and no history is sent again', async () => {
  await using one = await talk({
    turns: [
      { heard: 'Hello?', text: 'Hi.', goAway: { timeLeftMs: 10_000 } },
      { heard: 'Still there?', text: 'Yes.' },
    ],
  });
  await one.live.say();
  await one.live.turns(1);
  await one.live.until(() => one.model.requests.length === 2);
  await one.live.say();
  await one.live.turns(2);
  await one.live.close();
  assert.deepEqual(
    one.model.requests.map(({ handle }) => handle),
    [undefined, 'scripted:1'],
  );
  assert.ok(one.live.lines().includes('go away'));
  assert.deepEqual(one.live.stored().slice(-3), [
    'user: "Still there?"',
    'assistant: "Yes."',
    'turn complete',
  ]);
});

test('closing the queue while the connection is opened again ends the live session', async () => {
  await using one = await talk({
    turns: [{ heard: 'Hello?', text: 'Hi.', close: { code: 1011 } }],
    opens: ['accepted', ...Array.from({ length: 9 }, () => ({ error: 'server' as const }))],
  });
  await one.live.say();
  await one.live.turns(1);
  await one.live.until(() => one.model.requests.length > 1);
  await one.live.close();
  const opened = one.model.requests.length;
  await one.live.pass(20_000);
  assert.equal(one.model.requests.length, opened, 'nothing is opened afterwards');
});

test('a model that refuses the key ends the live session with its error', async () => {
  await using one = await talk({ turns: [], opens: [{ error: 'auth' }] });
  await one.live.until(() => one.live.isOver);
  await assert.rejects(one.live.ended, { kind: 'auth' });
});

test('a connection that is lost for good ends the live session, with an event', async () => {
  await using one = await talk({
    turns: [],
    opens: Array.from({ length: 9 }, () => ({ error: 'server' as const })),
  });
  await one.live.until(() => one.live.isOver);
  await one.live.ended;
  assert.deepEqual(one.live.stored(), ['error live_connection_lost']);
});
