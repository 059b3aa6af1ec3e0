import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { openMcpToolset, type McpToolset } from '../../src/tools/mcp/index.ts';
import { callTool } from './call-tool.ts';
import { openFaultyServer, type FaultyServer } from './faulty-server.ts';
import { freePort } from '../free-port.ts';
import { openEverythingOverHttp, type HttpServerProcess } from './real-servers.ts';

describe('the everything server over streamable HTTP', () => {
  let server: HttpServerProcess;
  let set: McpToolset;

  before(async () => {
    server = await openEverythingOverHttp();
    set = await openMcpToolset({ name: 'everything', url: server.url });
  });
  after(async () => {
    await set.close();
    await server[Symbol.asyncDispose]();
  });

  it('uses its protocol version, reports progress, and can be cancelled during a call', async () => {
    assert.match(set.protocolVersion() ?? '', /^2025-/);
    assert.equal(await callTool(set, 'echo', { message: 'hi' }), 'Echo: hi');
    const steps: string[] = [];
    const stop = new AbortController();
    const call = callTool(
      set,
      'trigger-long-running-operation',
      { duration: 60, steps: 600 },
      {
        signal: stop.signal,
        progress: (text) => {
          steps.push(text);
          stop.abort(new Error('enough'));
        },
      },
    );
    await assert.rejects(call, /enough/);
    assert.deepEqual(steps, ['1/600']);
  });

  it('is connected to again after it lost its sessions', async () => {
    await server.restart();
    assert.equal(await callTool(set, 'echo', { message: 'again' }), 'Echo: again');
  });

  it('fails calls while it is down and serves them when it is back', async () => {
    await server.kill();
    await assert.rejects(callTool(set, 'echo', { message: 'x' }), { code: 'mcp_unreachable' });
    await server.restart();
    assert.equal(await callTool(set, 'echo', { message: 'back' }), 'Echo: back');
  });
});

describe('a faulty server', () => {
  let server: FaultyServer;
  let set: McpToolset;

  before(async () => {
    server = await openFaultyServer();
    set = await openMcpToolset({
      name: 'faulty',
      url: server.url,
      policy: { hang: { timeoutMs: 50 } },
      headers: { 'x-team': 'blue' },
    });
  });
  after(async () => {
    await set.close();
    await server[Symbol.asyncDispose]();
  });

  it('lists its tools in pages, and an invalid tool is left out with a reason', () => {
    const names = set.tools().map(({ name }) => name);
    assert.deepEqual(names.slice(0, 6), ['hang', 'cut', 'reset', 'html', 'refuse', 'nonsense']);
    assert.match(names[6] ?? '', /^dotted_name_[0-9a-f]{8}$/);
    const [refused] = set.refused();
    assert.equal(refused?.name, 'bad');
    assert.match(refused.reason, /describe an object|JSON Schema/);
    assert.equal(server.headers['x-team'], 'blue');
  });

  it('does not answer: the call ends when its signal is aborted', async () => {
    const calls = (): number => server.seen.filter((one) => one === 'POST /mcp').length;
    const before = calls();
    const stop = new AbortController();
    const stopped = assert.rejects(callTool(set, 'hang', {}, { signal: stop.signal }), {
      code: 'outcome_unknown',
      message: /was cancelled before/,
    });
    while (calls() === before) await new Promise(setImmediate);
    stop.abort();
    await stopped;
  });

  it('does not answer: the call ends at its timeout', async () => {
    await assert.rejects(callTool(set, 'hang'), {
      code: 'mcp_request_failed',
      message: /timed out/,
    });
  });

  for (const name of ['cut', 'reset']) {
    it(`breaks the connection (${name}): the error says that the call may have been processed`, async () => {
      await assert.rejects(callTool(set, name), {
        code: 'mcp_connection_lost',
        message: /may have been processed/,
      });
    });
  }

  it('breaks the connection and has numbered its events: the stream is resumed, and the call is not repeated', async () => {
    const calls = (): number => server.seen.filter((one) => one === 'POST /mcp').length;
    const before = calls();
    assert.equal(await callTool(set, 'resume'), 'resumed');
    assert.equal(calls(), before + 1);
  });

  it('sends an invalid response: only that call fails', async () => {
    await assert.rejects(callTool(set, 'html'), { code: 'mcp_request_failed' });
    await assert.rejects(callTool(set, 'nonsense'), { code: 'mcp_request_failed' });
    await assert.rejects(callTool(set, 'refuse'), {
      code: 'mcp_request_failed',
      message: /not today/,
    });
  });

  it('cannot be reached or is not an MCP server: opening the toolset fails', async () => {
    const url = `http://127.0.0.1:${await freePort()}/mcp`;
    await assert.rejects(openMcpToolset({ name: 'gone', url }), {
      code: 'mcp_unreachable',
      message: /"gone" cannot be reached.*ECONNREFUSED/,
    });
    const page = server.url.replace('/mcp', '/page');
    await assert.rejects(openMcpToolset({ name: 'page', url: page }), { code: 'mcp_unreachable' });
    const silent = server.url.replace('/mcp', '/silent');
    await assert.rejects(openMcpToolset({ name: 'silent', url: silent, connectTimeoutMs: 50 }), {
      code: 'mcp_unreachable',
    });
  });

  it('fails some calls of a turn: each gets a result, and the turn continues', async () => {
    const approvedToolset = await openMcpToolset({
      name: 'faulty',
      url: server.url,
      autoApprove: true,
      policy: { hang: { timeoutMs: 50 } },
    });
    const calls = ['hang', 'cut', 'refuse'].map((name) => ({ name }));
    const caller = agent({
      name: 'caller',
      tools: [approvedToolset],
      model: new ScriptedModel([{ toolCalls: calls }, { text: 'I see.' }]),
    });
    const runtime = await openRuntime({ agents: [caller], toolsets: [approvedToolset] });
    const session = await runtime.session('x');
    const results = new Map<string, unknown>();
    let last = '';
    for await (const event of session.send('go')) {
      if (event.type === 'tool.result') results.set(event.name, event.outcome);
      last = event.type;
    }
    assert.deepEqual(Object.fromEntries(results), {
      hang: 'unknown',
      cut: 'unknown',
      refuse: 'error',
    });
    assert.equal(last, 'turn.ended');
    await runtime.close();
    await assert.rejects(callTool(approvedToolset, 'refuse'), { code: 'mcp_closed' });
  });

  it('rejects running and later calls with mcp_closed after the toolset is closed', async () => {
    const secondToolset = await openMcpToolset({ name: 'faulty', url: server.url });
    const refused = assert.rejects(callTool(secondToolset, 'hang'), { code: 'mcp_closed' });
    await secondToolset.close();
    await refused;
    await assert.rejects(callTool(secondToolset, 'refuse'), { code: 'mcp_closed' });
  });
});
