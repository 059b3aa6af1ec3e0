import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventActions, contentText, AdkEventMapper } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import type { SendOptions, Session } from '../../runtime/index.ts';
import {
  InMemoryArtifactService,
  InMemoryMemoryService,
  toMemoryEntries,
  tool,
} from '../../tools/index.ts';
import { agent } from '../index.ts';

async function say(session: Session, text: string): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of session.send(text)) if ('seq' in event) events.push(event);
  return events;
}

function isCommitted(event: object): event is LogEvent {
  return 'seq' in event;
}

test('a tool saves an artifact and searches the memory of another session', async () => {
  const write = tool({
    name: 'write',
    description: 'Writes down',
    execute: async (_, { artifacts, memory }) => {
      const memories = (await memory.search('tea')).map(({ content }) => contentText(content));
      return { version: await artifacts.save('notes.txt', { text: memories.join() }) };
    },
  });
  const model = new ScriptedModel(({ contents }) =>
    contentText(contents.at(-1)) === 'Write.'
      ? { toolCalls: [{ name: 'write' }] }
      : { text: 'Yes.' },
  );
  const artifacts = new InMemoryArtifactService();
  const memory = new InMemoryMemoryService();
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', model, tools: [write] })],
    artifacts,
    memory,
  });
  const before = await runtime.session('before');
  const firstEvents = await say(before, 'I like tea.');
  await memory.add(before.key, toMemoryEntries(firstEvents.filter(isCommitted)));

  const session = await runtime.session('now');
  const events = await say(session, 'Write.');
  const result = events.find((event) => event.type === 'tool.result');
  assert.deepEqual([result?.outcome, result?.response], ['ok', { version: 0 }]);
  assert.deepEqual(result?.actions, { artifactDelta: { 'notes.txt': 0 } });
  assert.deepEqual(await artifacts.load({ session: session.key, name: 'notes.txt' }), {
    text: 'I like tea.',
  });
  // In the format of ADK.
  assert.ok(result);
  assert.deepEqual(
    new AdkEventMapper('uid').add(result)[0]?.actions,
    createEventActions({ artifactDelta: { 'notes.txt': 0 } }),
  );
});

test('a tool knows the message of its turn', async () => {
  const quote = tool({
    name: 'quote',
    description: 'Quotes',
    readOnly: true,
    execute: (_, { userContent }) => contentText(userContent),
  });
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'quote' }] } : { text: 'Done.' },
  );
  const quoter = agent({ name: 'a', model, tools: [quote] });
  await using runtime = await openRuntime({ agents: [quoter] });
  const session = await runtime.session('s');
  for (const text of ['First.', 'Second.']) {
    const result = (await say(session, text)).find((event) => event.type === 'tool.result');
    assert.deepEqual(result?.response, { result: text });
  }
});

test('a tool gets the run config of its message only', async () => {
  const reportRunConfig = tool({
    name: 'tell',
    description: 'Tells',
    readOnly: true,
    execute: (_, { runConfig }) => runConfig,
  });
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'tell' }] } : { text: 'Done.' },
  );
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', model, tools: [reportRunConfig] })],
  });
  const session = await runtime.session('s');
  const readRunConfig = async (options: SendOptions): Promise<unknown> => {
    const events: unknown[] = [];
    for await (const event of session.send('Tell.', options)) {
      if (event.type === 'tool.result') events.push(event.response);
      assert.ok(event.type !== 'state.changed', 'it is nothing to log');
    }
    return events[0];
  };
  const runConfig = { locale: 'la', trace: { on: true } };
  assert.deepEqual(await readRunConfig({ runConfig }), runConfig);
  assert.deepEqual(await readRunConfig({}), {});
});

test('a tool whose service is missing gets an error, and the turn continues', async () => {
  const write = tool({
    name: 'write',
    description: 'Writes down',
    execute: (_, { artifacts }) => artifacts.save('a', { text: '' }),
  });
  const model = new ScriptedModel([{ toolCalls: [{ name: 'write' }] }, { text: 'I could not.' }]);
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', model, tools: [write] })],
  });
  const events = await say(await runtime.session('s'), 'Write.');
  const result = events.find((event) => event.type === 'tool.result');
  assert.equal(result?.outcome, 'error');
  assert.match(JSON.stringify(result?.response), /no_service.*pass \{ artifacts \}/);
  assert.equal(events.at(-1)?.type, 'turn.ended');
});
