import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { createServer, listen } from '../../src/server/index.ts';
import { PROTOCOL_NAMES } from '../../src/server/protocol-list.ts';
import { fuzzServer } from './fuzz-server.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { readServedDocument } from './openapi-document.ts';
import { checkProtocolResponses } from './protocol-responses.ts';
import { scriptedChat } from './scripted-chat.ts';

test('an invalid request to a route of any protocol gets a response below 500, in the form of the protocol', async (t) => {
  const model = new ScriptedModel(scriptedChat);
  await using runtime = await openRuntime({ agents: [agent({ name: 'assistant', model })] });
  const errors: unknown[] = [];
  const server = await createServer({
    runtime,
    keys: 'off',
    protocols: PROTOCOL_NAMES,
    limits: { createsPerMinute: 100_000, requestsPerMinute: 100_000 },
    onError: (error) => errors.push(error),
  });
  const response = await server.fetch(new Request('http://localhost/openapi.json'));
  const document = (await response.json()) as OpenApiDocument;
  const managed = await readServedDocument();
  // A WebSocket, which these requests do not open: 501.
  const isProtocolPath = (path: string): boolean =>
    !(path in managed.paths) && path !== '/run_live';
  const checked = checkProtocolResponses(server, document, isProtocolPath);
  await using listening = await listen(checked, { port: 0, keysRequired: false });
  const ids = { agent_id: 'agent_assistant', session_id: 's1', task: 's1~none', config: 'c1' };
  const report = await fuzzServer({
    url: listening.url,
    ids,
    seed: 1,
    requests: 250,
    only: isProtocolPath,
  });
  // Nothing about these requests can be invalid.
  await fetch(`${listening.url}/.well-known/agent-card.json`);
  await fetch(`${listening.url}/mcp`, { method: 'DELETE' });
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(checked.violations, []);
  assert.deepEqual(errors, []);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    isProtocolPath(path)
      ? Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
      : [],
  );
  const unchecked = operations.filter((name) => !checked.checked.has(name));
  assert.deepEqual(unchecked, []);
});
