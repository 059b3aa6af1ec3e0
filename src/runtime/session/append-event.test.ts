import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, sequential } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { contentText, UnknownFieldError } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { EventToAppend } from './append-event.ts';
import type { Session } from './session.ts';

/** An agent that answers with the texts of the conversation, and calls its tool for the message `look`. */
function reader(wait: () => Promise<string> = async () => 'seen'): Agent {
  return agent({
    name: 'reader',
    tools: [tool({ name: 'look', description: 'Looks.', readOnly: true, execute: wait })],
    model: new ScriptedModel(({ contents }) =>
      contentText(contents.at(-1)) === 'look'
        ? { toolCalls: [{ name: 'look' }] }
        : { text: contents.map((one) => `${one.role}: ${contentText(one)}`).join(' | ') },
    ),
  });
}

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

/** The first event of this type. */
async function findEvent(session: Session, type: LogEvent['type']): Promise<LogEvent> {
  for await (const event of session.events(0))
    if ('seq' in event && event.type === type) return event;
  throw new Error(`The log has no ${type}.`);
}

test('an appended event is in the log, the state and the conversation, and starts no turn', async () => {
  await using runtime = await openRuntime({ agents: [reader()] });
  const session = await runtime.session('x');
  const { eventId, duplicate } = await session.append({
    author: 'crm',
    content: 'The customer has paid.',
    stateDelta: { paid: true, 'temp:note': 1, 'user:name': 'Ada' },
    customMetadata: { source: 'webhook' },
  });
  assert.equal(duplicate, false);
  const appended = await findEvent(session, 'event.appended');
  assert.ok(appended.type === 'event.appended');
  const { event } = appended;
  assert.deepEqual(
    [event.id, event.author, event.customMetadata],
    [eventId, 'crm', { source: 'webhook' }],
  );
  assert.deepEqual(event.actions.stateDelta, { paid: true, 'user:name': 'Ada' });
  assert.equal(await session.ask('Hello'), 'model: The customer has paid. | user: Hello');
  const types = (await readLog(session)).map(({ type }) => type);
  assert.equal(types.filter((type) => type === 'turn.started').length, 1);
  const other = await runtime.session('y');
  assert.deepEqual((await runtime.store.shared(other.key)).entries, { 'user:name': 'Ada' });
});

test('an event that arrives during a turn is logged at once and joins the conversation after the turn', async () => {
  const started = Promise.withResolvers<void>();
  const result = Promise.withResolvers<string>();
  const one = reader(async () => {
    started.resolve();
    return result.promise;
  });
  await using runtime = await openRuntime({ agents: [one] });
  const session = await runtime.session('x');
  const turn = session.send('look');
  await turn.accepted;
  await started.promise;
  await session.append({ author: 'user', content: 'by the way' });
  await findEvent(session, 'event.appended');
  assert.equal((await session.status()).status, 'running');
  result.resolve('seen');
  assert.doesNotMatch(await turn.text(), /by the way/);
  assert.match(await session.ask('And now?'), / \| user: by the way \| user: And now\?$/);
});

test('sessions of several agents accept events', async () => {
  const team = sequential({
    name: 'team',
    subAgents: [reader(), agent({ name: 'second', model: new ScriptedModel([{ text: 'done' }]) })],
  });
  await using runtime = await openRuntime({ agents: [team] });
  const session = await runtime.session('x');
  await session.append({ author: 'crm', content: 'Paid.' });
  for await (const _ of session.send('Hello'));
  const answer = (await readLog(session)).find((event) => event.type === 'agent.message');
  assert.match(JSON.stringify(answer), /\[crm\] said: Paid\./);
});

test('an event with a known dedupeKey is dropped, and has the same id', async () => {
  const store = new MemoryStore();
  const event: EventToAppend = { author: 'user', content: 'once' };
  const append = async (): Promise<unknown> => {
    await using runtime = await openRuntime({ agents: [reader()], store });
    return (await runtime.session('x')).append(event, { dedupeKey: 'k' });
  };
  const first = await append();
  const second = await append();
  assert.deepEqual({ ...Object(first), duplicate: true }, second);
  await using runtime = await openRuntime({ agents: [reader()], store });
  const log = await readLog(await runtime.session('x'));
  assert.equal(log.filter(({ type }) => type === 'event.appended').length, 1);
});

test('a closed session refuses an event', async () => {
  await using runtime = await openRuntime({ agents: [reader()] });
  const session = await runtime.session('x');
  await session.archive();
  const event: EventToAppend = { author: 'user', content: 'late', stateDelta: { late: true } };
  const refused = { code: 'illegal_transition', status: 'archived' };
  await assert.rejects(session.append(event), refused);
  assert.deepEqual(
    (await readLog(session)).map(({ type }) => type).filter((type) => type.startsWith('session.')),
    ['session.archived'],
  );
});

test('a wrong event is refused by the name of the field, and nothing is written', async () => {
  await using runtime = await openRuntime({ agents: [reader()], maxInputBytes: 2_000 });
  const session = await runtime.session('x');
  const wrong: readonly (readonly [event: unknown, expected: RegExp])[] = [
    [{ author: 'crm', text: 'Paid.' }, /append\.text: is unknown\. Did you mean `content`/],
    [{ author: '', content: 'Paid.' }, /author/],
    [{ content: 'Paid.' }, /author/],
    [{ author: 'crm' }, /content/],
    [{ author: 'crm', content: { role: 'model', parts: [] } }, /content\.parts/],
    [{ author: 'crm', stateDelta: { a: () => 1 } }, /stateDelta/],
    [{ author: 'crm', content: 'Paid.', customMetadata: 'x' }, /customMetadata/],
    [
      {
        author: 'user',
        content: { role: 'user', parts: [{ functionCall: { id: '1', name: 'f', args: {} } }] },
      },
      /functionCall/,
    ],
    [{ author: 'crm', content: 'x'.repeat(3_000) }, /event\.in/],
  ];
  for (const [event, expected] of wrong)
    await assert.rejects(session.append(event as EventToAppend), expected, JSON.stringify(event));
  await assert.rejects(
    session.append({ author: 'crm', content: 'x' }, { messageId: 'm' } as object),
    (error) => error instanceof UnknownFieldError && error.message.includes('dedupeKey'),
  );
  assert.deepEqual(await readLog(session), []);
  assert.deepEqual(await runtime.store.inbox(session.key, 0), []);
});
