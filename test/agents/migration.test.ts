import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { z } from 'zod';
import { agent, type LogEvent, openRuntime, tool } from '../../src/index.ts';
import { ModelError } from '../../src/models/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { type DeskOptions, fail, refunded, until } from '../migration/behaviors.ts';
import {
  bothCalls,
  endless,
  failOnce,
  oneRefund,
  type Script,
  twoSteps,
} from '../migration/models/script.ts';

const request = 'Refund order A-7.';

describe('the behavior that the migration pages describe', () => {
  let folder: string;
  let files = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'petrichor-migration-'));
  });
  after(async () => {
    await rm(folder, { recursive: true });
  });

  const newStore = (): string => `sqlite:${join(folder, `${files++}.db`)}`;

  async function open(
    script: Script,
    { refund = refunded, needsApproval = false }: DeskOptions = {},
    store = newStore(),
  ) {
    const ran: string[] = [];
    const define = (name: string, execute: () => Promise<unknown>, asks: boolean) =>
      tool({
        name,
        description: name,
        parameters: z.object({ order: z.string() }),
        needsApproval: asks,
        execute: async () => {
          ran.push(name);
          return execute();
        },
      });
    const tools = [define('find_order', refunded, false), define('refund', refund, needsApproval)];
    const model = new ScriptedModel((_, index) => {
      const answer = script(index);
      if ('text' in answer) return { deltas: answer.text };
      return { toolCalls: answer.calls.map(({ name }) => ({ name, args: { order: 'A-7' } })) };
    });
    const runtime = await openRuntime({ agents: [agent({ name: 'desk', model, tools })], store });
    const session = await runtime.session('A-7');
    const listEvents = async (): Promise<readonly LogEvent[]> => {
      const events: LogEvent[] = [];
      for await (const event of session.events(0, { follow: false }))
        if ('seq' in event) events.push(event);
      return events;
    };
    return { ran, runtime, session, listEvents };
  }

  it('runs the other calls of an answer while one of them waits, and keeps their results', async () => {
    const { ran, runtime, session, listEvents } = await open(bothCalls, { needsApproval: true });
    await using _ = runtime;
    for await (const _event of session.send(request));
    assert.deepEqual(ran, ['find_order']);
    for (const { id } of await session.pending()) for await (const _event of session.approve(id));
    assert.deepEqual(ran, ['find_order', 'refund']);
    const results = (await listEvents()).filter(({ type }) => type === 'tool.result');
    assert.equal(results.length, 2);
  });

  it('runs a call once when two runtimes approve it at the same time', async () => {
    const store = newStore();
    const one = await open(oneRefund, { needsApproval: true }, store);
    await using _one = one.runtime;
    for await (const _event of one.session.send(request));
    const other = await open(oneRefund, { needsApproval: true }, store);
    await using _other = other.runtime;
    const [call] = await other.session.pending();
    assert.ok(call);
    const turns = [one.session.approve(call.id), other.session.approve(call.id)];
    const accepted = await Promise.allSettled(turns.map(async (turn) => turn.accepted));
    assert.deepEqual(
      accepted
        .map((one) => (one.status === 'rejected' ? String(one.reason.code) : one.status))
        .toSorted(),
      ['already_answered', 'fulfilled'],
    );
    await until(() => one.ran.length + other.ran.length > 0);
    for await (const event of one.session.events(0)) if (event.type === 'turn.ended') break;
    assert.deepEqual([...one.ran, ...other.ran], ['refund']);
  });

  it('keeps a new message while a call waits, and runs it after that turn', async () => {
    const { ran, runtime, session, listEvents } = await open(oneRefund, { needsApproval: true });
    await using _ = runtime;
    for await (const _event of session.send(request));
    await session.send('Hello?').accepted;
    for (const { id } of await session.pending()) for await (const _event of session.approve(id));
    for await (const _event of session.send('And?'));
    assert.deepEqual(ran, ['refund']);
    const ended = (await listEvents()).filter(({ type }) => type === 'turn.ended');
    assert.equal(ended.length, 3);
  });

  it('gives the model the message of a tool that throws', async () => {
    const { runtime, session, listEvents } = await open(oneRefund, { refund: fail });
    await using _ = runtime;
    for await (const _event of session.send(request));
    assert.match(JSON.stringify(await listEvents()), /no money/);
  });

  it('ends with a final message when the model has been called again 25 times', async () => {
    const { ran, runtime, session, listEvents } = await open(endless);
    await using _ = runtime;
    for await (const _event of session.send(request));
    assert.equal(ran.length, 26);
    const [message, ended] = (await listEvents()).slice(-2);
    assert.equal(message?.type, 'agent.message');
    assert.equal(ended?.type, 'turn.ended');
  });

  it('retries a model call that failed with a retryable error', async () => {
    const busy = new ModelError({ kind: 'overloaded', message: 'busy', model: 'scripted' });
    const { ran, runtime, session } = await open(failOnce(busy));
    await using _ = runtime;
    for await (const _event of session.send(request));
    assert.deepEqual(ran, ['refund']);
  });

  it('finishes a turn when its reader leaves', async () => {
    const { ran, runtime, session } = await open(twoSteps);
    await using _ = runtime;
    for await (const _event of session.send(request)) break;
    for await (const event of session.events(0)) if (event.type === 'turn.ended') break;
    assert.deepEqual(ran, ['find_order', 'refund']);
  });
});
