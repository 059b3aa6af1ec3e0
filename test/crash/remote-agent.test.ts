import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { agent, agentTool, remoteAgent } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime, Session } from '../../src/runtime/index.ts';
import { createServer } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { openWebServer } from '../mcp/web-server.ts';
import { KillableStore, SimulatedProcess } from './killable-store.ts';
import type { CrashPoint } from './killable-store.ts';

interface RemoteSide extends AsyncDisposable {
  readonly origin: string;
  readonly cardUrl: string;
  readonly ran: readonly string[];
  /** Resolves when the tool `hang` runs. */
  readonly hanging: Promise<void>;
  /** The number of messages that all of its tasks got. */
  readonly countMessages: () => Promise<number>;
  /** The types of the last event of each session. */
  readonly listEnds: () => Promise<readonly string[]>;
}

/**
 * The server of the remote agent. It may recognize no message that comes twice: then each gets an id of its own, as with
 * agents that ignore the ids of messages.
 */
async function openRemote({ ignoresIds = false, endpoint = '' } = {}): Promise<RemoteSide> {
  const ran: string[] = [];
  const { promise: hanging, resolve: hangs } = Promise.withResolvers<void>();
  const parameters = { type: 'object', properties: {} } as const;
  const tools = [
    tool({ name: 'work', description: 'w', parameters, execute: () => void ran.push('work') }),
    tool({
      name: 'risky',
      description: 'r',
      parameters,
      needsApproval: true,
      execute: () => void ran.push('risky'),
    }),
    tool({
      name: 'hang',
      description: 'h',
      parameters,
      execute: async (_, { signal }) => {
        hangs();
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve);
        });
      },
    }),
  ];
  const model = new ScriptedModel(({ contents }) => {
    const parts = contents.at(-1)?.parts ?? [];
    if (parts.some(isFunctionResponsePart)) return { text: 'Worked.' };
    const text = parts.map((part) => ('text' in part ? part.text : '')).join('');
    return { toolCalls: [{ name: /work|risky|hang/.exec(text)?.[0] ?? 'work', args: {} }] };
  });
  const store = new MemoryStore();
  const runtime = await openRuntime({ agents: [agent({ name: 'worker', model, tools })], store });
  const server = await createServer({ runtime, keys: 'off', protocols: ['a2a'] });
  let sent = 0;
  const web = await openWebServer(async (request) => {
    if (request.method !== 'POST') {
      const response = await server.fetch(request);
      if (endpoint === '') return response;
      const text = (await response.text()).replaceAll(/"url":"[^"]*"/g, `"url":"${endpoint}"`);
      return new Response(text, { headers: { 'content-type': 'application/json' } });
    }
    const body = (await request.json()) as { readonly method: string; readonly params: object };
    const text = JSON.stringify(body);
    const own = body.method === 'SendMessage' ? `$1+${++sent}"` : '$1"';
    const changed = ignoresIds ? text.replaceAll(/("messageId":"[^"]*)"/g, own) : text;
    const { url, headers } = request;
    const plain = new Headers(headers);
    plain.delete('content-length');
    const response = await server.fetch(
      new Request(url, { method: 'POST', headers: plain, body: changed }),
    );
    if (!ignoresIds) return response;
    const answer = (await response.text()).replaceAll(/("messageId":"[^"+]*)\+\d+"/g, '$1"');
    return new Response(answer, response);
  });
  const readAll = async (): Promise<readonly (readonly LogEvent[])[]> => {
    const logs: LogEvent[][] = [];
    for (const { key } of await store.list({})) {
      const log: LogEvent[] = [];
      for await (const event of store.read(key, 0)) log.push(event);
      logs.push(log);
    }
    return logs;
  };
  return {
    origin: web.origin,
    cardUrl: `${web.origin}/a2a/agent_worker/.well-known/agent-card.json`,
    ran,
    hanging,
    countMessages: async () =>
      (await readAll()).flat().filter(({ type }) => type === 'user.message').length,
    listEnds: async () => (await readAll()).map((log) => JSON.stringify(log.at(-1))),
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
      await web[Symbol.asyncDispose]();
    },
  };
}

const createHere = ({ origin, cardUrl }: RemoteSide): Agent =>
  remoteAgent(cardUrl, { name: 'there', allowHosts: [new URL(origin).host] });

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

const listTexts = (log: readonly LogEvent[]): readonly string[] =>
  log.flatMap((event) =>
    event.type === 'agent.message'
      ? event.content.parts.flatMap((part) => ('text' in part ? part.text : []))
      : [],
  );

async function send(session: Session, text: string, messageId: string): Promise<void> {
  for await (const _ of session.send(text, { messageId }));
}

/** Runs a turn in a process that crashes, and finishes it in the next one. Returns false if no crash point was reached. */
async function runWithCrash(crash: CrashPoint, ignoresIds: boolean): Promise<boolean> {
  await using remote = await openRemote({ ignoresIds });
  const process = new SimulatedProcess(crash);
  const store = new MemoryStore();
  let runtime: Runtime | undefined | void;
  try {
    runtime = await Promise.race([
      openRuntime({ agents: [createHere(remote)], store: new KillableStore(store, process) }),
      process.over,
    ]);
    const turn = async (opened: Runtime): Promise<true> => {
      await send(await opened.session('s'), 'work', 'm1');
      return true;
    };
    const doing: Promise<true | void> = runtime === undefined ? process.over : turn(runtime);
    doing.catch(() => {});
    const wasReached = (await Promise.race([doing, process.over])) === undefined;
    process.end();
    for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
    await using next = await openRuntime({ agents: [createHere(remote)], store });
    const session = await next.session('s');
    await send(session, 'work', 'm1');
    const where = `${crash.point} ${crash.nth}`;
    assert.deepEqual(listTexts(await readLog(session)), ['Worked.'], where);
    assert.equal(await remote.countMessages(), 1, `${where}: the task was started once`);
    assert.deepEqual(remote.ran, ['work'], where);
    return wasReached;
  } finally {
    process.discard();
    await runtime?.close().catch(() => {});
  }
}

for (const ignoresIds of [false, true])
  test(`a crash at any write starts no second task${ignoresIds ? ', also at an agent that ignores the ids of messages' : ''}`, async () => {
    let crashes = 0;
    for (const point of ['before-write', 'after-write'] as const)
      for (let nth = 1; await runWithCrash({ point, nth }, ignoresIds); nth++) crashes++;
    assert.ok(crashes >= 8, `${crashes} crashes`);
  });

test('a remote agent is a tool; its context goes on, and its question is answered by the next message', async () => {
  await using remote = await openRemote();
  await using runtime = await openRuntime({ agents: [createHere(remote)] });
  const session = await runtime.session('s');
  await send(session, 'risky', 'm1');
  const [question = ''] = listTexts(await readLog(session));
  assert.match(question, /^Approve the call of risky\?/);
  assert.deepEqual(remote.ran, []);
  await send(session, 'yes', 'm2');
  assert.deepEqual(remote.ran, ['risky']);
  assert.equal(listTexts(await readLog(session)).at(-1), 'Worked.');
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.parts.some(isFunctionResponsePart) === true
      ? { text: JSON.stringify(contents.at(-1)) }
      : { toolCalls: [{ name: 'there', args: { request: 'work' } }] },
  );
  const host = agent({ name: 'host', model, tools: [agentTool(createHere(remote))] });
  await using other = await openRuntime({ agents: [host] });
  const asking = await other.session('s');
  await send(asking, 'Let it work.', 'm1');
  assert.match(listTexts(await readLog(asking)).at(-1) ?? '', /Worked\./);
  assert.deepEqual(remote.ran, ['risky', 'work']);
});

test('an interrupt stops the task of the remote agent', async () => {
  await using remote = await openRemote();
  await using runtime = await openRuntime({ agents: [createHere(remote)] });
  const session = await runtime.session('s');
  const turn = send(session, 'hang', 'm1');
  await remote.hanging;
  await session.interrupt();
  await turn;
  const isStopped = async (): Promise<boolean> =>
    /"turn.ended".*"interrupted"/.test((await remote.listEnds()).join());
  while (!(await isStopped())) await setImmediate();
});

test('nothing inside the network and no other origin is asked, unless the program lists it', async () => {
  const asked: string[] = [];
  await using inside = await openWebServer(async ({ url }) => {
    asked.push(url);
    return new Response('{}');
  });
  await using remote = await openRemote({ endpoint: `${inside.origin}/` });
  const fail = async (there: Agent, message: RegExp): Promise<void> => {
    await using runtime = await openRuntime({ agents: [there] });
    const session = await runtime.session('s');
    await send(session, 'work', 'm1');
    const error = (await readLog(session)).find(({ type }) => type === 'error');
    assert.match(JSON.stringify(error), message);
  };
  await fail(remoteAgent(remote.cardUrl, { name: 'there' }), /TLS/);
  const https = remote.cardUrl.replace('http:', 'https:');
  await fail(remoteAgent(https, { name: 'there' }), /not public/);
  await fail(createHere(remote), /names http:\/\/127\.0\.0\.1:\d+, another origin/);
  assert.deepEqual(asked, []);
  const small = { name: 'there', allowHosts: [new URL(remote.origin).host], maxResponseBytes: 100 };
  await fail(remoteAgent(remote.cardUrl, small), /more than 100 bytes in one response/);
  assert.throws(() => remoteAgent(remote.cardUrl, { ...small, maxResponseBytes: 0 }), {
    message: /^maxResponseBytes: /,
  });
  assert.throws(() => remoteAgent('file:///etc/passwd', { name: 'there' }), /cardUrl/);
});
