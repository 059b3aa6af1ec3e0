import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { AgentDefinition } from '../../agents/index.ts';
import { isFunctionResponsePart } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { ModelScript } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import type { ClientTool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Runtime } from '../runtime.ts';
import type { Turn } from './turn.ts';

const pickColor: ClientTool = {
  name: 'pick_color',
  description: 'Asks the user for a color.',
  parameters: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
};

/** Calls `pick_color` when it is offered, and repeats results. */
const script: ModelScript = ({ contents, tools }) => {
  const results = (contents.at(-1)?.parts ?? []).filter(isFunctionResponsePart);
  if (results.length > 0)
    return { text: results.map((one) => JSON.stringify(one.functionResponse.response)).join(' ') };
  const names = tools.map(({ name }) => name);
  if (!names.includes('pick_color')) return { text: `I have ${names.join(' and ') || 'no tool'}.` };
  return { toolCalls: [{ name: 'pick_color', args: { of: 'sky' } }] };
};

async function open(
  more: Partial<AgentDefinition> = {},
  store: MemoryStore = new MemoryStore(),
): Promise<Runtime> {
  const model = new ScriptedModel(script);
  return openRuntime({ agents: [agent({ name: 'painter', model, ...more })], store });
}

async function read(turn: Turn): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of turn) if ('seq' in event) events.push(event);
  return events;
}

test('the tool of a sender is offered in the turn of its message, and its call waits for the answer', async () => {
  await using runtime = await open();
  const session = await runtime.session('s');
  const events = await read(session.send('Paint', { clientTools: [pickColor] }));
  const call = events.find((event) => event.type === 'tool.call');
  assert.deepEqual(
    [call?.name, call?.needs, call?.origin, call?.args],
    ['pick_color', 'result', { kind: 'custom' }, { of: 'sky' }],
  );
  const [waiting] = await session.pending();
  assert.equal(waiting?.needs, 'result');
  assert.equal(waiting?.expiresAt, undefined, 'it waits until it is answered');
  assert.equal(await session.answer(waiting?.id ?? '', { color: 'red' }).text(), '{"color":"red"}');
  assert.equal(await session.ask('And now?'), 'I have no tool.');
});

test('a call of a client tool waits over a restart', async () => {
  const store = new MemoryStore();
  {
    await using runtime = await open({}, store);
    await read((await runtime.session('s')).send('Paint', { clientTools: [pickColor] }));
  }
  await using runtime = await open({}, store);
  const session = await runtime.session('s');
  const [waiting] = await session.pending();
  assert.equal(await session.answer(waiting?.id ?? '', 'blue').text(), '{"result":"blue"}');
});

test('a tool of the agent takes precedence over a client tool with its name', async () => {
  const own = tool({
    name: 'pick_color',
    description: 'Picks.',
    parameters: { type: 'object', properties: { of: { type: 'string' } } },
    execute: () => ({ color: 'own' }),
  });
  await using runtime = await open({ tools: [own] });
  const session = await runtime.session('s');
  assert.equal(await session.ask('Paint', { clientTools: [pickColor] }), '{"color":"own"}');
});

test('callbacks before tools see the calls of client tools', async () => {
  const seen: string[] = [];
  const beforeTool = ({ name }: { readonly name: string }): undefined => void seen.push(name);
  await using runtime = await open({
    callbacks: { beforeTool: (_, call) => beforeTool(call) },
  });
  const session = await runtime.session('s');
  const events = await read(session.send('Paint', { clientTools: [pickColor] }));
  assert.deepEqual(seen, ['pick_color']);
  assert.ok(events.some((event) => event.type === 'tool.call' && event.needs === 'result'));
  const [waiting] = await session.pending();
  assert.equal(await session.answer(waiting?.id ?? '', 1).text(), '{"result":1}');
});

test('arguments that the schema of a client tool does not allow are an error for the model', async () => {
  await using runtime = await open();
  const session = await runtime.session('s');
  const strict = { ...pickColor, parameters: { type: 'object', required: ['hue'] } } as const;
  const events = await read(session.send('Paint', { clientTools: [strict] }));
  const result = events.find((event) => event.type === 'tool.result');
  assert.equal(result?.outcome, 'invalid');
  assert.deepEqual(await session.pending(), []);
});

test('a client tool with a time limit ends its call with an error', async () => {
  await using runtime = await open();
  const session = await runtime.session('s');
  await read(session.send('Paint', { clientTools: [{ ...pickColor, timeoutMs: 60_000 }] }));
  const [waiting] = await session.pending();
  assert.equal(waiting?.expiresAt, (waiting?.since ?? 0) + 60_000);
});

test('client tools that no model can be offered are refused, and the message is not sent', async () => {
  await using runtime = await open();
  const session = await runtime.session('s');
  const refused: readonly (readonly [unknown, RegExp])[] = [
    ['pick_color', /clientTools/],
    [[{ name: 'transfer_to_agent' }], /reserved/],
    [[{ name: 'a b' }], /its name must be/],
    [[pickColor, pickColor], /Two tools are named/],
    [[{ ...pickColor, execute: 'x' }], /execute/],
    [
      [{ name: 'a', parameters: { type: 'object', properties: { a: { pattern: '(a)\\1' } } } }],
      /a/,
    ],
    [Array.from({ length: 257 }, (_, index) => ({ name: `t${index}` })), /at most 256/],
  ];
  for (const [clientTools, message] of refused)
    assert.throws(
      () => session.send('Paint', { clientTools: clientTools as readonly ClientTool[] }),
      message,
    );
  assert.deepEqual((await session.status()).lastSeq, 0);
});
