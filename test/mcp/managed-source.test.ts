import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpSource } from '../../src/managed/index.ts';
import { mcpSource } from '../../src/tools/mcp/index.ts';
import { openElicitationServer } from './elicitation-server.ts';
import { callTool, findTool } from './call-tool.ts';
import { realServer } from './real-servers.ts';

// As the managed runtime opens its servers.
const source: McpSource = mcpSource({ connectTimeoutMs: 20_000 });

test('the MCP servers of an agent definition are opened, over stdio or HTTP, and closed', async () => {
  const { command, args = [] } = realServer('memory');
  const entry = {
    name: 'memory',
    transport: 'stdio',
    command,
    args,
    auto_approve: ['delete_entities'],
  };
  const memory = await source({ ...entry, env: { MEMORY_FILE_PATH: '/dev/null' } });
  assert.equal(findTool(memory.tools, 'delete_entities').needsApproval, false);
  assert.equal(findTool(memory.tools, 'delete_relations').needsApproval, true);
  await memory.close();
  await assert.rejects(callTool(memory.tools, 'read_graph'), { code: 'mcp_closed' });

  await using server = await openElicitationServer();
  for (const transport of ['http', 'sse']) {
    const privateSource = mcpSource({ privateOrigins: [new URL(server.url).origin] });
    const shop = await privateSource({ name: 'shop', transport, url: server.url });
    assert.equal(findTool(shop.tools, 'order').needsApproval, true);
    await shop.close();
  }
});

test('a server entry with a missing or invalid field is rejected by that field', async () => {
  await assert.rejects(source({ name: 'a', transport: 'stdio' }), { field: 'command' });
  await assert.rejects(source({ name: 'a', transport: 'http' }), { field: 'url' });
  await assert.rejects(source({ name: 'a', transport: 'carrier pigeon' }), { field: 'transport' });
});
