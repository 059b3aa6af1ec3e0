import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { agent, agentTool, sequential } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import {
  AgentFromCodeError,
  definitions,
  manageRuntime,
  openManagedRuntime,
} from '../../src/managed/index.ts';
import type { ManagedRuntime, SessionRef } from '../../src/managed/index.ts';
import { omitUndefined } from '../../src/core/internal.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime, ScheduledRun } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { userMessage } from './managed-fixture.ts';

const owner = { userId: 'ana' };

const refund = tool({
  name: 'refund',
  description: 'Refunds an order.',
  parameters: { type: 'object', properties: { order: { type: 'string' } } },
  needsApproval: true,
  execute: () => 'refunded',
});

function assistant(instruction = 'Help.'): Agent {
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.parts.some((part) => 'functionResponse' in part) === true
      ? { text: 'Done.' }
      : { toolCalls: [{ name: 'refund', args: { order: 'A1' } }] },
  );
  return agent({ name: 'assistant', description: 'Helps.', instruction, model, tools: [refund] });
}

function greeter(name = 'Greeter'): Agent {
  return agent({ name, model: new ScriptedModel(() => ({ text: 'Hello.' })) });
}

async function waitForTurnEnd(managed: ManagedRuntime, ref: SessionRef, from = 0): Promise<number> {
  for await (const event of managed.streamLog(ref, from))
    if (event.type === 'turn.ended') return event.seq;
  throw new Error('The log ended.');
}

test('an agent from code is started, paused, approved, forked and archived by the managed verbs', async () => {
  await using runtime = await openRuntime({ agents: [assistant(), greeter()] });
  const managed = await manageRuntime(runtime);
  const { id } = await managed.startSession('agent_assistant', owner);
  await managed.pause(id);
  await managed.sendEvent(id, userMessage('Refund A1.'));
  assert.equal(await managed.status(id), 'paused');
  await managed.resume(id);
  for await (const change of managed.watchPendingCalls())
    if (change.type === 'added') {
      assert.equal(change.call.agent, 'agent_assistant');
      break;
    }
  const [call] = await managed.pending(id);
  await managed.sendEvent(id, {
    type: 'user.tool_confirmation',
    tool_use_id: call?.callId ?? '',
    result: 'allow',
  });
  await waitForTurnEnd(managed, id);
  const fork = await managed.fork(id);
  assert.equal(fork.agentId, 'agent_assistant');
  await managed.archive(id);
  await assert.rejects(managed.sendEvent(id, userMessage('Again.')), {
    code: 'illegal_transition',
  });
  assert.deepEqual(
    (await managed.listSessions()).data.map((one) => [one.id === id, one.status]),
    [
      [false, 'idle'],
      [true, 'archived'],
    ],
  );
  assert.deepEqual(
    await managed.usageTotals({ by: ['agent'] }).then((all) => all[0]?.agent),
    'agent_assistant',
  );
});

test('sessions that a program made are listed with those that were started, page by page', async () => {
  await using runtime = await openRuntime({ agents: [greeter()] });
  const managed = await manageRuntime(runtime);
  const made: SessionRef[] = [];
  for (const id of ['a/b', 'b', 'c']) {
    await (await runtime.session(id, { user: 'ö/1' })).ask('Hi');
    made.push({ id, userId: 'ö/1' });
  }
  const started = await managed.startSession('agent_greeter', owner, { title: 'Started' });
  await managed.updateSession(made[0] ?? '', { title: 'Made' });
  await managed.archive(made[1] ?? '');
  const listAll = async (filter: object): Promise<readonly string[]> => {
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await managed.listSessions({ ...filter, limit: 1, ...omitUndefined({ after }) });
      found.push(...page.data.map(({ id, title }) => title ?? id));
      after = page.next;
    } while (after !== undefined);
    return found.toSorted();
  };
  assert.deepEqual(await listAll({}), ['Made', 'Started', 'b', 'c']);
  assert.deepEqual(await listAll({ userId: 'ö/1', includeArchived: false }), ['Made', 'c']);
  assert.deepEqual(await listAll({ agentId: 'agent_greeter', userId: 'ana' }), ['Started']);
  assert.deepEqual(await listAll({ agentId: 'agent_nobody' }), []);
  // A page of an earlier release continues after the id of its last session.
  const { data } = await managed.listSessions({ userId: 'ana', after: started.id });
  assert.deepEqual(data, []);
  await assert.rejects(managed.listSessions({ after: 'none' }), {
    code: 'invalid_input',
    field: 'after',
  });
});

test('an agent from code is described as data, with a version that grows when it changes', async () => {
  const store = new MemoryStore();
  const open = async (one: Agent): Promise<readonly [Runtime, ManagedRuntime]> => {
    const runtime = await openRuntime({ agents: [one], store });
    return [runtime, await manageRuntime(runtime)];
  };
  for (const [instruction, version] of [
    ['Help.', 1],
    ['Help.', 1],
    ['Help more.', 2],
  ] as const) {
    const [runtime, managed] = await open(assistant(instruction));
    const found = await managed.getAgent('agent_assistant');
    assert.ok(found.source === 'code');
    assert.equal(found.version, version);
    assert.equal(found.description.instruction, instruction);
    assert.deepEqual(
      found.description.tools.map(({ name, approval }) => [name, approval]),
      [['refund', 'always']],
    );
    assert.equal(found.description.netHash, runtime.agents.get('assistant')?.compiled.hash);
    await runtime.close();
  }
  const [runtime, managed] = await open(assistant('Help more.'));
  assert.equal((await managed.agentVersions('agent_assistant')).data.length, 2);
  await assert.rejects(managed.startSession({ id: 'agent_assistant', version: 1 }, owner), {
    code: 'invalid_input',
    message: /is 1, but the program runs version 2/,
  });
  await assert.rejects(
    managed.startSession('agent_assistant', owner, { environment: { selfHosted: true } }),
    /environment.*defined by a program/,
  );
  await runtime.close();
  // A program without the agent shows it, and starts no session of it.
  const [other, otherManaged] = await open(greeter());
  assert.equal((await otherManaged.listAgents()).data.length, 2);
  await assert.rejects(otherManaged.startSession('agent_assistant', owner), {
    code: 'unknown_agent',
  });
  await other.close();
});

test('a client cannot change or archive an agent from code, and a program cannot have two of one id', async () => {
  await using managed = await openManagedRuntime({ agents: [greeter()] });
  await assert.rejects(
    managed.updateAgent('agent_greeter', { name: 'G', model: 'gpt-5' }, { version: 1 }),
    AgentFromCodeError,
  );
  await assert.rejects(managed.archiveAgent('agent_greeter'), AgentFromCodeError);
  await assert.rejects(
    managed.create({ name: 'G', model: 'gpt-5' }, { id: 'agent_greeter' }),
    AgentFromCodeError,
  );
  assert.equal((await managed.getAgent('agent_greeter')).version, 1);
  await assert.rejects(openManagedRuntime({ agents: [greeter('a-b'), greeter('a_b')] }), {
    message: /"a-b" and "a_b" both have the id "agent_a-b"/,
  });
});

test('stored definitions and agents from code run in one runtime', async () => {
  const resolver = async (): Promise<ScriptedModel> => new ScriptedModel(() => ({ text: 'Hi.' }));
  await using runtime = await openRuntime({
    agents: [
      sequential({ name: 'twice', subAgents: [greeter('one'), greeter('two')] }),
      definitions({ resolver }),
    ],
  });
  const managed = await manageRuntime(runtime);
  const stored = await managed.create({ name: 'Stored', model: 'gpt-5' });
  assert.deepEqual((await managed.listAgents()).data.map(({ source }) => source).toSorted(), [
    'code',
    'definition',
  ]);
  for (const id of [stored.id, 'agent_twice']) {
    const session = await managed.startSession(id, owner, {
      events: [{ type: 'user.message', content: [{ type: 'text', text: 'Hi' }] }],
    });
    await waitForTurnEnd(managed, session.id);
    assert.equal((await managed.getSession(session.id)).agentId, id);
  }
  const plain = await manageRuntime(await openRuntime({ agents: [greeter()] }));
  await assert.rejects(plain.create({ name: 'X', model: 'gpt-5' }), /Pass definitions\(\)/);
});

test('programs of two releases run their own versions of an agent, and add no versions by turns', async () => {
  const store = new MemoryStore();
  const versions: number[] = [];
  for (const instruction of ['Old.', 'New.', 'Old.', 'New.']) {
    const runtime = await openRuntime({ agents: [assistant(instruction)], store });
    const managed = await manageRuntime(runtime);
    const { agentVersion } = await managed.startSession('agent_assistant', owner);
    versions.push(agentVersion);
    assert.equal((await managed.getAgent('agent_assistant')).version, agentVersion);
    await runtime.close();
  }
  assert.deepEqual(versions, [1, 2, 1, 2]);
});

test('an agent from code must not have the journal name of a stored definition', async () => {
  const store = new MemoryStore();
  const resolver = async (): Promise<ScriptedModel> => new ScriptedModel(() => ({ text: 'Hi.' }));
  const open = async (name: string): Promise<Runtime> =>
    openRuntime({ agents: [greeter(name), definitions({ resolver })], store });
  const first = await open('foo-v2');
  const managed = await manageRuntime(first);
  await managed.create({ name: 'Foo', model: 'gpt-5' }, { id: 'foo' });
  await managed.updateAgent('foo', { name: 'Foo 2', model: 'gpt-5' }, { version: 1 });
  await assert.rejects(managed.startSession('foo', owner), /program's agent "foo-v2": rename/);
  await first.close();
  await using second = await open('foo-v2');
  await assert.rejects(manageRuntime(second), /must not have the name "foo-v2"/);
});

test('an agent from code must not have the id of a stored definition, nor a definition that of an agent from code', async () => {
  const store = new MemoryStore();
  const defined = await openManagedRuntime({ store });
  await defined.create({ name: 'Greeter', model: 'gpt-5' }, { id: 'agent_greeter' });
  await assert.rejects(openManagedRuntime({ store, agents: [greeter()] }), {
    code: 'invalid_input',
    message: /"agent_greeter" belongs to a stored definition/,
  });
  const other = await openManagedRuntime({ store, agents: [greeter('other')] });
  await other.close();
  await assert.rejects(
    defined.updateAgent('agent_other', { name: 'O', model: 'gpt-5' }, { version: 1 }),
    AgentFromCodeError,
  );
  assert.equal((await defined.agentVersions('agent_greeter')).data.length, 1);
  await defined.close();
});

test('applications on one store have sessions, labels and deletions of their own', async () => {
  const store = new MemoryStore();
  const deleted: string[] = [];
  const open = async (app: string, fails = false): Promise<ManagedRuntime> =>
    openManagedRuntime({
      store,
      app,
      agents: [greeter()],
      onDelete: async ({ appName, sessionId }) => {
        if (fails) throw new Error('The disk is gone.');
        deleted.push(`${appName}/${sessionId}`);
      },
      onError: () => {},
    });
  const [a, b] = [await open('a', true), await open('b')];
  const { id } = await a.startSession('agent_greeter', owner, { dedupeKey: 'k', title: 'A' });
  await assert.rejects(b.getSession(id), { code: 'session_not_found' });
  assert.equal(await b.deleteSession(id), false);
  assert.deepEqual((await b.listSessions()).data, []);
  const other = await b.startSession('agent_greeter', owner, { dedupeKey: 'k' });
  assert.notEqual(other.id, id);
  assert.equal((await a.startSession('agent_greeter', owner, { dedupeKey: 'k' })).id, id);
  for (const one of [a, b]) await one.runtime.session('s', { user: 'ana', agent: 'Greeter' });
  const ref = { id: 's', userId: 'ana' };
  await a.updateSession(ref, { title: 'Of A' });
  assert.equal((await b.getSession(ref)).title, undefined);
  await assert.rejects(a.deleteSession(id), /disk/);
  await b.close();
  const again = await open('b');
  assert.deepEqual(deleted, []);
  await again.close();
  await a.close();
  const last = await open('a');
  assert.deepEqual(deleted, [`a/${id}`]);
  await last.close();
});

test('a fork does not take the id of another session', async () => {
  await using managed = await openManagedRuntime({ agents: [greeter()] });
  const { id } = await managed.startSession('agent_greeter', owner);
  await managed.sendEvent(id, userMessage('Hi'));
  await waitForTurnEnd(managed, id);
  const bob = await managed.startSession('agent_greeter', { userId: 'bob' });
  await assert.rejects(managed.fork(id, { id: bob.id }), /is the id of another session/);
  const mine = await managed.runtime.session('mine', { user: 'ana', agent: 'Greeter' });
  await mine.ask('Other.');
  await assert.rejects(managed.fork(id, { id: 'mine' }), /is the id of another session/);
  const fork = await managed.fork(id, { id: 'fork' });
  assert.equal((await managed.fork(id, { id: 'fork' })).id, fork.id);
});

test('the models that agents from code name are resolved with the keys of the option env', async () => {
  const named = agent({ name: 'named', model: 'gpt-5' });
  await assert.rejects(openManagedRuntime({ agents: [named], env: {} }), {
    code: 'model_not_resolved',
    message: /Set OPENAI_API_KEY/,
  });
  const models = async (): Promise<ScriptedModel> => new ScriptedModel(() => ({ text: 'Hi.' }));
  await using managed = await openManagedRuntime({ agents: [named], env: {}, models });
  const { id } = await managed.startSession('agent_named', owner);
  await managed.sendEvent(id, userMessage('Hi'));
  await waitForTurnEnd(managed, id);
});

test('sessions that a program made are found with their user, and keep labels of their own', async () => {
  const lead = agent({
    name: 'lead',
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.parts.some((part) => 'functionResponse' in part) === true
        ? { text: 'Done.' }
        : { toolCalls: [{ name: 'Greeter', args: { request: 'Hi' } }] },
    ),
    tools: [agentTool(greeter())],
  });
  await using runtime = await openRuntime({ agents: [lead] });
  const managed = await manageRuntime(runtime);
  const session = await runtime.session('chat', { user: 'ana' });
  await session.send('Hi').text();
  const ref = { id: 'chat', userId: 'ana' };
  await assert.rejects(managed.getSession('chat'), { code: 'session_not_found' });
  await assert.rejects(managed.getSession({ id: 'chat', userId: 'ben' }), {
    code: 'session_not_found',
  });
  assert.equal((await managed.getSession(ref)).agentId, 'agent_lead');
  const [thread] = await managed.threads(ref);
  assert.equal(thread?.agentId, 'agent_greeter');
  assert.equal((await managed.getSession({ id: thread?.id ?? '', userId: 'ana' })).status, 'idle');
  await managed.sendEvent(ref, userMessage('Again.'));
  await waitForTurnEnd(managed, ref, (await managed.getSession(ref)).lastSeq);
  await managed.pause(ref);
  assert.equal((await managed.getSession(ref)).status, 'paused');
  await managed.resume(ref);
  const labelled = await managed.updateSession(ref, { title: 'Greetings' });
  assert.equal(labelled.title, 'Greetings');
  await runtime.session('chat', { user: 'ben' });
  const bens = { id: 'chat', userId: 'ben' };
  assert.equal((await managed.updateSession(bens, { title: 'Mine' })).title, 'Mine');
  assert.equal((await managed.getSession(ref)).title, 'Greetings');
  assert.equal(await managed.deleteSession(ref), true);
  assert.equal(await runtime.find('chat', { user: 'ana' }), undefined);
  assert.equal((await managed.getSession(bens)).title, 'Mine');
  const other = await runtime.session('other', { user: 'ana' });
  assert.equal(await managed.deleteSession({ id: other.id, userId: 'ana' }), true);
  assert.equal(await managed.deleteSession({ id: other.id, userId: 'ana' }), false);
});

test('a schedule starts no session of an agent from code that a program without it has archived', async () => {
  const store = new MemoryStore();
  await using managed = await openManagedRuntime({ agents: [greeter('Greeter-v2')], store });
  await using other = await openManagedRuntime({ store });
  const { schedules } = managed.runtime;
  const daily = { cron: '@daily', message: 'Hello', agent: 'Greeter-v2' };
  await schedules.create({ ...daily, id: 'daily', overlap: 'replace' });
  const waitForRun = async (key: string): Promise<ScheduledRun> => {
    await schedules.run('daily', { key });
    for (;;) {
      const run = (await schedules.history('daily')).find(({ id }) => id === `manual-${key}`);
      if (run !== undefined) return run;
      await setImmediate();
    }
  };
  assert.notEqual((await waitForRun('first')).status, 'failed');
  await other.archiveAgent('agent_greeter-v2');
  const { status, reason = '' } = await waitForRun('second');
  assert.equal(status, 'failed');
  assert.match(reason, /archived/);
});
