import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { agent } from '../../src/agents/index.ts';
import { isJsonObject } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { openMcpToolset, type McpToolset } from '../../src/tools/mcp/index.ts';
import { callTool } from '../mcp/call-tool.ts';
import { openWebServer } from '../mcp/web-server.ts';
import { listed, openHostileMcp, type Answers } from './hostile-mcp.ts';
import { countLoopTurns } from './loop-turns.ts';

const PROGRAM = fileURLToPath(new URL('hostile-program.ts', import.meta.url));
const MEGABYTE = 1024 * 1024;

function program(behavior: string, more: object = {}): Promise<McpToolset> {
  return openMcpToolset({
    name: 'hostile',
    command: process.execPath,
    args: [PROGRAM, behavior],
    protocol: 'legacy',
    ...more,
  });
}

async function overHttp(
  answers: Answers,
  more: object = {},
): Promise<AsyncDisposable & { set: McpToolset }> {
  const server = await openHostileMcp(answers);
  const settings = { name: 'hostile', url: server.url, protocol: 'legacy', ...more } as const;
  const closeServer = async (): Promise<void> => server[Symbol.asyncDispose]();
  try {
    const set = await openMcpToolset(settings);
    return {
      set,
      [Symbol.asyncDispose]: async () => {
        await set.close();
        await closeServer();
      },
    };
  } catch (error) {
    await closeServer();
    throw error;
  }
}

/** A response that never ends: it repeats the same bytes for as long as they are read. */
function endless(piece: string, type: string): Response {
  const bytes = new TextEncoder().encode(piece);
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(bytes),
  });
  return new Response(body, { headers: { 'content-type': type } });
}

describe('options of an MCP toolset', () => {
  it('size limits that are not positive finite numbers are rejected before the server is started', async () => {
    for (const field of ['maxMessageBytes', 'maxResultCharacters']) {
      for (const limit of [Number.NaN, 0, -1, Infinity]) {
        await assert.rejects(
          openMcpToolset({ name: 'limits', command: '/nowhere', [field]: limit }),
          { code: 'invalid_input', field },
        );
      }
    }
  });
});

describe('an MCP toolset with a hostile stdio server', () => {
  it('ends the connection at maxMessageBytes when the server sends an endless line', async () => {
    const turns = countLoopTurns();
    await assert.rejects(program('endless line', { maxMessageBytes: MEGABYTE }), {
      code: 'mcp_unreachable',
    });
    turns.stop();
    assert.ok(turns.count() > 10, `the loop came round ${turns.count()} times`);
  });

  it('fails to open after connectTimeoutMs when the server never answers', async () => {
    await assert.rejects(program('silent', { connectTimeoutMs: 300 }), { code: 'mcp_unreachable' });
  });

  it('ignores unrequested messages, and rejects requests for capabilities that it did not offer', async () => {
    await using set = await program('stranger');
    assert.deepEqual(
      set.tools().map(({ name }) => name),
      ['look'],
    );
    assert.equal(await callTool(set, 'look'), 'done');
    assert.equal('polluted' in {}, false);
  });

  it('truncates a result of 20 MB for the model and the store, and other servers keep working', async () => {
    const text = 'abcdefghij'.repeat(2_000_000);
    await using huge = await overHttp(
      { 'tools/call': () => ({ content: [{ type: 'text', text }] }) },
      { autoApprove: true },
    );
    await using otherSet = await program('fine', { autoApprove: true, prefix: 'fine_' });
    const model = new ScriptedModel([
      {
        toolCalls: [
          { name: 'fine', args: {} },
          { name: 'fine_look', args: {} },
        ],
      },
      { text: 'Done' },
    ]);
    await using runtime = await openRuntime({
      agents: [agent({ name: 'clerk', model, tools: [huge.set, otherSet] })],
      store: 'memory:',
    });
    const session = await runtime.session('s');
    const responses: unknown[] = [];
    for await (const event of session.send('Go')) {
      if ('type' in event && event.type === 'tool.result') responses.push(event.response);
    }
    assert.equal(responses.length, 2);
    assert.ok(
      responses.some((response) => isJsonObject(response) && response['result'] === 'done'),
    );
    assert.ok(responses.some((one) => isJsonObject(one) && one['truncation'] !== undefined));
    assert.ok(model.requests.every(({ contents }) => JSON.stringify(contents).length < 200_000));
  });
});

describe('an MCP toolset with a hostile HTTP server', () => {
  const call = async (answer: () => object | Response): Promise<unknown> => {
    await using session = await overHttp(
      { 'tools/call': answer },
      { maxMessageBytes: MEGABYTE, timeoutMs: 600_000 },
    );
    const result = await callTool(session.set, 'fine');
    return result;
  };

  it('ends a call at maxMessageBytes when its body, event or error page is endless', async () => {
    const turns = countLoopTurns();
    await assert.rejects(
      call(() => endless('x'.repeat(4096), 'application/json')),
      {
        code: 'mcp_message_too_large',
      },
    );
    await assert.rejects(
      call(() => endless('x'.repeat(4096), 'text/event-stream')),
      {
        code: 'mcp_connection_lost',
      },
    );
    const page = endless('x'.repeat(4096), 'text/html');
    await assert.rejects(
      call(() => new Response(page.body, { status: 500, headers: page.headers })),
    );
    turns.stop();
    assert.ok(turns.count() > 10, `the loop came round ${turns.count()} times`);
  });

  it('stops a call with endless events when it is aborted, without blocking the event loop', async () => {
    const note = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 1 },
    };
    await using session = await overHttp({
      'tools/call': () => endless(`data: ${JSON.stringify(note)}\n\n`, 'text/event-stream'),
    });
    const stop = new AbortController();
    const calling = callTool(session.set, 'fine', {}, { signal: stop.signal });
    const turns = countLoopTurns();
    while (turns.count() < 5) await new Promise((resolve) => setImmediate(resolve));
    turns.stop();
    stop.abort(new Error('enough'));
    await assert.rejects(calling, /enough/);
  });

  it('fails to open when the server lists endless pages of tools', async () => {
    let pages = 0;
    await assert.rejects(
      overHttp({
        'tools/list': () => ({ tools: [listed(`t${pages}`)], nextCursor: `page ${++pages}` }),
      }),
      { code: /^mcp_/ },
    );
    assert.ok(pages < 100, `${pages} pages were requested`);
  });

  it('reports a malformed result as an error of its call, and the next call works', async () => {
    const results: readonly object[] = [
      { content: 'text' },
      { content: [{ type: 'text' }] },
      { content: [null] },
      { content: [{ type: 'image', data: 5, mimeType: 'image/png' }] },
      { content: { length: 1e9 } },
      new Response('{', { headers: { 'content-type': 'application/json' } }),
      new Response('"x"', { headers: { 'content-type': 'application/json' } }),
    ];
    let next: object = { content: [] };
    await using session = await overHttp({ 'tools/call': () => next });
    for (const [i, result] of results.entries()) {
      next = result;
      await assert.rejects(callTool(session.set, 'fine'), { code: /^mcp_/ }, `result ${i}`);
    }
    next = JSON.parse(
      '{"content":[],"structuredContent":{"__proto__":{"polluted":true},"constructor":1}}',
    ) as object;
    await callTool(session.set, 'fine');
    assert.equal('polluted' in {}, false);
    next = { content: [{ type: 'text', text: 'fine again' }] };
    assert.equal(await callTool(session.set, 'fine'), 'fine again');
  });

  it('ends a call at its timeout when the response has no message', async () => {
    const empty = (): Response =>
      new Response('[]', { headers: { 'content-type': 'application/json' } });
    await using session = await overHttp({ 'tools/call': empty }, { timeoutMs: 100 });
    await assert.rejects(callTool(session.set, 'fine'), { code: /^mcp_/ });
  });

  it('sends no token and no header to another origin after a redirect', async () => {
    const receivedHeaders: string[] = [];
    await using otherOrigin = await openWebServer((request) => {
      receivedHeaders.push(JSON.stringify(Object.fromEntries(request.headers)));
      return Response.json({});
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const redirect = (): Response =>
        new Response(null, { status, headers: { location: `${otherOrigin.origin}/mcp` } });
      await assert.rejects(
        overHttp(
          { initialize: redirect, GET: redirect },
          { headers: { 'x-api-key': 'key-of-ours' }, auth: { token: () => 'token-of-ours' } },
        ),
        { code: /^mcp_/ },
      );
    }
    assert.deepEqual(receivedHeaders, []);
  });

  it('answers endless change notifications with one running listing and one queued listing', async () => {
    let listings = 0;
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    const notifications = `data: ${JSON.stringify(changed)}\n\n`.repeat(1_000);
    await using session = await overHttp({
      'tools/list': () => {
        listings += 1;
        return { tools: [listed('fine')] };
      },
      'tools/call': ({ id }) => {
        const answer = {
          jsonrpc: '2.0',
          id,
          result: { content: [{ type: 'text', text: 'done' }] },
        };
        const text = `${notifications}data: ${JSON.stringify(answer)}\n\n`;
        return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
      },
    });
    assert.equal(await callTool(session.set, 'fine'), 'done');
    await session.set.refresh();
    assert.ok(listings < 20, `${listings} listings`);
  });
});
