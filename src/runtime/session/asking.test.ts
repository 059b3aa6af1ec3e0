import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import * as z from 'zod';
import { agent, agentTool, parallel, sequential } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import {
  contentText,
  InvalidInputError,
  InvalidOutputError,
  TurnNotCompletedError,
} from '../../core/index.ts';
import { ModelError, ScriptedModel } from '../../models/index.ts';
import type { ModelRequest, ScriptedTurn } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import { RuntimeClosedError } from './runtime-errors.ts';

const Invoice = z.object({ seller: z.string(), total: z.number() });

/** An agent with this script, and the schemas that its model was asked for, call by call. */
function scripted(
  name: string,
  script: (request: ModelRequest) => ScriptedTurn,
  tools: Agent['tools'] extends ReadonlyMap<string, infer T> ? readonly T[] : never = [],
): { readonly agent: Agent; readonly schemas: unknown[] } {
  const schemas: unknown[] = [];
  const model = new ScriptedModel((request) => {
    schemas.push(request.config?.responseSchema);
    return script(request);
  });
  return { agent: agent({ name, model, tools }), schemas };
}

const echo = (): Agent =>
  scripted('echo', ({ contents }) => ({ text: `You said ${contentText(contents.at(-1))}` })).agent;

const remove = tool({
  name: 'remove',
  description: 'Deletes a file',
  parameters: z.object({ path: z.string() }),
  needsApproval: true,
  execute: ({ path }) => `deleted ${path}`,
});

const remover = (): Agent =>
  scripted(
    'remover',
    ({ contents }) =>
      contents.at(-1)?.parts.some((part) => 'functionResponse' in part) === true
        ? { text: 'Done.' }
        : { text: 'I delete it.', toolCalls: [{ name: 'remove', args: { path: 'a.txt' } }] },
    [remove],
  ).agent;

async function rejection(promise: Promise<unknown>): Promise<TurnNotCompletedError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof TurnNotCompletedError, String(error));
  return error;
}

test('ask resolves with the text of the final answer, and costs the events of a send', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const [asked, sent] = [await runtime.session('asked'), await runtime.session('sent')];
  assert.equal(await asked.ask('Hello!'), 'You said Hello!');
  assert.equal(await sent.send('Hello!').text(), 'You said Hello!');
  assert.equal((await asked.status()).lastSeq, (await sent.status()).lastSeq);
});

test('ask with a schema asks the model for JSON of it, for this message only', async () => {
  const { agent: reader, schemas } = scripted('reader', () => ({
    text: '{"seller":"Tailor","total":30}',
  }));
  await using runtime = await openRuntime({ agents: [reader] });
  const session = await runtime.session('x');
  const invoice: { seller: string; total: number } = await session.ask('Read it.', {
    output: Invoice,
  });
  assert.deepEqual(invoice, { seller: 'Tailor', total: 30 });
  await session.ask('And as text?');
  const [first, second] = schemas;
  assert.deepEqual(Object.keys((first as { properties: object }).properties), ['seller', 'total']);
  assert.equal(second, undefined);
  assert.equal(JSON.stringify(await stateEvents(session.events(0, { follow: false }))), '[]');
});

async function stateEvents(events: AsyncIterable<{ type: string }>): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const event of events) if (event.type === 'state.changed') found.push(event);
  return found;
}

test('the schema can be of valibot or arktype, with transformations, or a JSON Schema', async () => {
  const { agent: reader } = scripted('reader', () => ({ text: '{"total":"30"}' }));
  await using runtime = await openRuntime({ agents: [reader] });
  const session = await runtime.session('x');
  const valibot = toStandardJsonSchema(v.object({ total: v.string() }));
  const json = { type: 'object', properties: { total: { type: 'string' } } } as const;
  assert.deepEqual(await session.ask('?', { output: valibot }), { total: '30' });
  assert.deepEqual(await session.ask('?', { output: type({ total: 'string' }) }), { total: '30' });
  assert.deepEqual(await session.ask('?', { output: json }), { total: '30' });
  const output = z.object({ total: z.string().transform(async (text) => Number(text)) });
  assert.deepEqual(await session.ask('?', { output }), { total: 30 });
});

test('an answer that does not match the schema rejects with its problems and its text', async () => {
  const { agent: reader } = scripted('reader', ({ contents }) => ({
    text: contentText(contents.at(-1)),
  }));
  await using runtime = await openRuntime({ agents: [reader] });
  const session = await runtime.session('x');
  await assert.rejects(
    session.ask('{"seller":"Tailor","total":"30"}', { output: Invoice }),
    (error) => {
      assert.ok(error instanceof InvalidOutputError);
      assert.equal(error.code, 'invalid_output');
      assert.deepEqual(
        error.issues.map(({ path }) => path),
        ['total'],
      );
      assert.equal(error.text, '{"seller":"Tailor","total":"30"}');
      return true;
    },
  );
  await assert.rejects(session.ask('Sorry.', { output: Invoice }), /it is not JSON \(6 characters/);
});

test('an output that is not a schema of an object is refused before the message is sent', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const session = await runtime.session('x');
  for (const output of [z.array(z.string()), 'text', v.object({})])
    await assert.rejects(
      // @ts-expect-error a text is no schema
      session.ask('?', { output }),
      (error) => error instanceof InvalidInputError && error.field === 'output',
    );
  assert.equal((await session.status()).lastSeq, 0);
});

test('only the agents whose message can be the final answer are asked for the schema', async () => {
  const first = scripted('first', () => ({ text: 'Facts.' }));
  const second = scripted('second', () => ({ text: '{"seller":"Tailor","total":30}' }));
  const left = scripted('left', () => ({ text: '{"seller":"L","total":1}' }));
  const root = sequential({
    name: 'root',
    subAgents: [first.agent, parallel({ name: 'both', subAgents: [left.agent] }), second.agent],
  });
  await using runtime = await openRuntime({ agents: [root] });
  const session = await runtime.session('x');
  assert.deepEqual(await session.ask('?', { output: Invoice }), { seller: 'Tailor', total: 30 });
  assert.deepEqual(
    [first.schemas, left.schemas, second.schemas].map(([schema]) => schema !== undefined),
    [false, false, true],
  );
});

test('an agent that is called as a tool is not asked for the schema of the caller', async () => {
  const expert = scripted('expert', () => ({ text: 'Thirty.' }));
  const root = scripted(
    'root',
    ({ contents }) =>
      contents.length > 1
        ? { text: '{"seller":"Tailor","total":30}' }
        : { toolCalls: [{ name: 'expert', args: { request: 'How much?' } }] },
    [agentTool(expert.agent)],
  );
  await using runtime = await openRuntime({ agents: [root.agent] });
  const session = await runtime.session('x');
  assert.deepEqual(await session.ask('?', { output: Invoice }), { seller: 'Tailor', total: 30 });
  assert.deepEqual(expert.schemas, [undefined]);
});

test('a turn that waits rejects with its calls; after the answer, the same message gives the text', async () => {
  const store = new MemoryStore();
  await using runtime = await openRuntime({ agents: [remover()], store });
  const session = await runtime.session('x');
  const error = await rejection(session.ask('Delete a.txt', { messageId: 'm1' }));
  const [call] = error.pending;
  assert.equal(error.stopReason, 'requires_action');
  assert.equal(error.text, 'I delete it.');
  assert.deepEqual(
    [call?.name, call?.args, call?.needs],
    ['remove', { path: 'a.txt' }, 'approval'],
  );
  assert.match(
    error.message,
    /waits for an approval of "remove" \(call .+\)\. Call approve or deny/,
  );
  await session.approve(call?.id ?? '', { fingerprint: call?.fingerprint ?? '' }).accepted;
  assert.equal(await session.ask('Delete a.txt', { messageId: 'm1' }), 'Done.');
  await runtime.close();
  await using other = await openRuntime({ agents: [remover()], store });
  const again = await other.session('x');
  assert.equal(await again.ask('Delete a.txt', { messageId: 'm1' }), 'Done.');
});

test('the turn of an answer gives the text that follows it, also if another answer came first', async () => {
  await using runtime = await openRuntime({ agents: [remover()] });
  const session = await runtime.session('x');
  const { pending } = await rejection(session.ask('Delete a.txt'));
  const id = pending[0]?.id ?? '';
  const texts = [session.approve(id), session.approve(id)].map((turn) => turn.text());
  const [first, second] = await Promise.allSettled(texts);
  assert.deepEqual(first, { status: 'fulfilled', value: 'Done.' });
  assert.equal(second?.status, 'rejected');
});

test('a message behind a turn that waits rejects as queued, and keeps its place', async () => {
  await using runtime = await openRuntime({ agents: [remover()] });
  const session = await runtime.session('x');
  const waiting = await rejection(session.ask('Delete a.txt'));
  const queued = await rejection(session.ask('Hello?', { messageId: 'm2' }));
  assert.equal(queued.isQueued, true);
  assert.deepEqual(
    queued.pending.map(({ id }) => id),
    waiting.pending.map(({ id }) => id),
  );
  assert.match(queued.message, /queued behind a turn that waits/);
  await session.deny(queued.pending[0]?.id ?? '').accepted;
  const own = await rejection(session.ask('Hello?', { messageId: 'm2' }));
  assert.equal(own.isQueued, false);
});

test('a turn that fails, is interrupted or reaches a limit rejects with the stop reason and the error', async () => {
  const failing = scripted('failing', () => {
    throw new ModelError({ model: 'm', kind: 'auth', message: 'The key is not valid.' });
  });
  const looping = agent({
    name: 'looping',
    reaskBudget: 1,
    model: new ScriptedModel(() => ({ toolCalls: [{ name: 'look' }] })),
    tools: [tool({ name: 'look', description: 'Looks', readOnly: true, execute: () => 'nothing' })],
  });
  await using runtime = await openRuntime({ agents: [failing.agent, looping, remover()] });
  const failed = await rejection((await runtime.session('f', { agent: 'failing' })).ask('?'));
  assert.equal(failed.stopReason, 'error');
  assert.match(failed.error?.message ?? '', /The key is not valid/);
  assert.match(failed.message, /"error" \(.+: .*The key is not valid.*\)\. Correct the cause/);
  const spent = await rejection((await runtime.session('l', { agent: 'looping' })).ask('?'));
  assert.equal(spent.stopReason, 'budget_reached');
  const session = await runtime.session('i', { agent: 'remover' });
  await rejection(session.ask('?', { messageId: 'm1' }));
  await session.interrupt();
  const interrupted = await rejection(session.ask('?', { messageId: 'm1' }));
  assert.equal(interrupted.stopReason, 'interrupted');
});

test('a runtime that closes during a turn rejects; another runtime gives the answer to the same message', async () => {
  const store = new MemoryStore();
  const started = Promise.withResolvers<void>();
  const answer = new ScriptedModel(() => ({ text: '{"seller":"Tailor","total":30}' }));
  const slow = (isFirst: boolean): Agent =>
    agent({
      name: 'slow',
      model: {
        name: 'slow',
        generate: async (request, context) => {
          started.resolve();
          if (isFirst)
            await new Promise((_, reject) => {
              context.signal.addEventListener('abort', () => reject(new Error('aborted')));
            });
          return answer.generate(request, context);
        },
      },
    });
  const first = await openRuntime({ agents: [slow(true)], store });
  const asking = (await first.session('x')).ask('?', { messageId: 'm1', output: Invoice });
  asking.catch(() => undefined);
  await started.promise;
  await first.close();
  await assert.rejects(asking, RuntimeClosedError);
  await using second = await openRuntime({ agents: [slow(false)], store });
  const session = await second.session('x');
  const invoice = await session.ask('?', { messageId: 'm1', output: Invoice });
  assert.equal(invoice.total, 30);
});
