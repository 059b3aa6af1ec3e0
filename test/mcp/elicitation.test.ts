import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { Pending } from '../../src/tools/index.ts';
import { openMcpToolset, type McpToolset } from '../../src/tools/mcp/index.ts';
import { openElicitationServer, type ElicitationServer } from './elicitation-server.ts';
import { callTool } from './call-tool.ts';
import { firstLine } from './first-line.ts';
import { openShop } from './shop-agent.ts';

let folder = '';
let server: ElicitationServer;
let set: McpToolset;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petrichor-mcp-'));
});
after(async () => rm(folder, { recursive: true }));

beforeEach(async (test) => {
  server = await openElicitationServer();
  set = await openMcpToolset({ name: 'shop', url: server.url, answerTimeoutMs: 60_000 });
  if ('after' in test) {
    test.after(async () => {
      await set.close();
      await server[Symbol.asyncDispose]();
    });
  }
});

async function startOrder(): Promise<Pending> {
  const question = await callTool(set, 'order', { what: 'shirt' });
  assert.ok(question instanceof Pending);
  return question;
}

const answerOrder = async (
  question: Pending,
  response: object,
  isError = false,
): Promise<unknown> => {
  const answer = { response: { ...response }, isError, resume: question.resume ?? null };
  return callTool(set, 'order', { what: 'shirt' }, { answer });
};

describe('an elicitation during a call', () => {
  it('parks the call, which continues in another process after SIGKILL when it is answered', async () => {
    const store = `sqlite:${join(folder, 'shop.db')}`;
    const program = join(import.meta.dirname, 'elicitation-process.ts');
    const child = spawn(process.execPath, [program, store, server.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    assert.equal(await firstLine(child), 'waiting');
    assert.deepEqual(server.orders, []);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;

    const shop = await openShop(server.url);
    await using _set = shop.set;
    await using runtime = await openRuntime({ agents: [shop.agent], store });
    const session = await runtime.session('x');
    const [call] = await session.pending();
    assert.equal(call?.needs, 'result');
    assert.match(JSON.stringify(call?.request), /Which colour is the shirt to have\?/);
    assert.doesNotMatch(JSON.stringify(call), /the shirt"/, 'the request state is not shown');
    const types: string[] = [];
    for await (const event of session.answer(call?.id ?? '', { colour: 'red' })) {
      if (event.type === 'tool.result')
        assert.deepEqual(event.response, { result: 'Ordered in red.' });
      if ('seq' in event) types.push(event.type);
    }
    assert.equal(types.at(-1), 'turn.ended');
    assert.deepEqual(server.orders, ['red the shirt']);
  });

  it('shows the question and stores what the server needs to continue', async () => {
    const question = await startOrder();
    assert.equal(question.timeoutMs, 60_000);
    assert.match(JSON.stringify(question.request), /"server":"shop".*"enum":\["red","blue"\]/);
    assert.match(JSON.stringify(question.resume), /"requestState":"the shirt"/);
    assert.deepEqual(server.orders, []);
  });

  it('accepts the content, or the content with its action', async () => {
    assert.equal(await answerOrder(await startOrder(), { colour: 'red' }), 'Ordered in red.');
    const withAction = { action: 'accept', content: { colour: 'blue' } };
    assert.equal(await answerOrder(await startOrder(), withAction), 'Ordered in blue.');
    assert.equal(await answerOrder(await startOrder(), { colour: withAction }), 'Ordered in blue.');
    assert.deepEqual(server.orders, ['red the shirt', 'blue the shirt', 'blue the shirt']);
  });

  it('reports to the server that the person declined or could not answer', async () => {
    assert.equal(
      await answerOrder(await startOrder(), { action: 'decline' }),
      'Nothing was ordered.',
    );
    assert.equal(
      await answerOrder(await startOrder(), { why: 'gone' }, true),
      'Nothing was ordered.',
    );
    assert.deepEqual(server.orders, []);
  });

  it('asks again, without a request to the server, if the answer does not match the schema', async () => {
    const before = await startOrder();
    const requests = server.seen.length;
    const secondQuestion = await answerOrder(before, { colour: 'green' });
    assert.ok(secondQuestion instanceof Pending);
    assert.match(JSON.stringify(secondQuestion.request), /"problem":"colour: colour: .*red.*blue/);
    assert.equal(server.seen.length, requests);
    assert.equal(await answerOrder(secondQuestion, { colour: 'red' }), 'Ordered in red.');
  });
});

describe('a stateless server', () => {
  it('notifies the client of new tools, and the agent can call them', async () => {
    const shop = agent({ name: 'shop', tools: [set], model: new ScriptedModel([]) });
    assert.equal(set.protocolVersion(), '2026-07-28');
    assert.deepEqual([...shop.tools.keys()], ['order', 'hang']);
    const changed = Promise.withResolvers<void>();
    set.onChange(changed.resolve);
    server.grow();
    await changed.promise;
    assert.deepEqual([...shop.tools.keys()], ['order', 'hang', 'later']);
    assert.equal(await callTool(set, 'later'), 'here');
  });

  it('learns of a cancelled call because its request ends', async () => {
    const stop = new AbortController();
    const call = callTool(set, 'hang', {}, { signal: stop.signal });
    await server.hanging;
    stop.abort(new Error('enough'));
    await assert.rejects(call, /enough/);
    await server.cancelled;
  });
});
