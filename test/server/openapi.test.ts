import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@cfworker/json-schema';
import type { Schema } from '@cfworker/json-schema';
import { systemClock } from '../../src/net/index.ts';
import { Metrics } from '../../src/server/index.ts';
import { openServerFixture } from './server-fixture.ts';
import { fetchDocument, readServedDocument } from './openapi-document.ts';
import { scriptedChat } from './scripted-chat.ts';

test('the OpenAPI document lists every endpoint with its path parameters', async () => {
  const metrics = new Metrics(systemClock);
  await using on = await openServerFixture(scriptedChat, { server: { metrics } });
  const document = await fetchDocument(on.url);
  assert.equal(document.openapi, '3.1.0');
  const found = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  for (const endpoint of [
    'POST /v1/agents',
    'GET /v1/agents',
    'GET /v1/agents/{agent_id}',
    'POST /v1/agents/{agent_id}',
    'POST /v1/agents/{agent_id}/archive',
    'GET /v1/agents/{agent_id}/versions',
    'POST /v1/environments',
    'GET /v1/environments',
    'GET /v1/environments/{environment_id}',
    'POST /v1/environments/{environment_id}',
    'DELETE /v1/environments/{environment_id}',
    'POST /v1/environments/{environment_id}/archive',
    'POST /v1/sessions',
    'GET /v1/sessions',
    'GET /v1/sessions/{session_id}',
    'POST /v1/sessions/{session_id}',
    'DELETE /v1/sessions/{session_id}',
    'POST /v1/sessions/{session_id}/archive',
    'GET /v1/sessions/{session_id}/events',
    'POST /v1/sessions/{session_id}/events',
    'GET /v1/sessions/{session_id}/events/stream',
    'GET /health',
    'GET /metrics',
    'GET /openapi.json',
  ])
    assert.ok(found.includes(endpoint), endpoint);
  for (const [path, methods] of Object.entries(document.paths)) {
    const pathParameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    for (const { parameters = [] } of Object.values(methods))
      assert.deepEqual(
        parameters.filter((one) => one.in === 'path').map(({ name }) => name),
        pathParameters,
      );
  }
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  assert.equal(new Set(ids).size, ids.length, 'each operation has a unique id');
});

test('the server accepts exactly the bodies that the OpenAPI document allows', async () => {
  await using on = await openServerFixture(scriptedChat);
  const document = await fetchDocument(on.url);
  const schema =
    document.paths['/v1/agents']?.['post']?.requestBody?.content['application/json']?.schema;
  assert.ok(schema !== undefined);
  const validator = new Validator(schema as Schema, '2020-12');
  const bodies = [
    { name: 'A', model: 'gemini-2.5-flash' },
    { name: 'A', model: { id: 'gemini-2.5-flash' }, metadata: { a: 'b' }, tools: [] },
    { name: 'A', model: 'gemini-2.5-flash', tools: [{ type: 'agent_toolset_20260401' }], x: 1 },
    { name: '', model: 'gemini-2.5-flash' },
    { name: 'A' },
    { name: 'A', model: 5 },
    { name: 'A', model: 'gemini-2.5-flash', metadata: { a: 1 } },
    { name: 'A', model: 'gemini-2.5-flash', tools: [{ type: 'wrench' }] },
    { name: 'A', model: 'gemini-2.5-flash', system: 'x'.repeat(100_001) },
    { name: 'A', model: 'gemini-2.5-flash', multiagent: { type: 'coordinator' } },
    [],
  ];
  for (const body of bodies) {
    const response = await fetch(`${on.url}/v1/agents`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    // A tool that this server does not provide is rejected for another reason than its form.
    const isAccepted = response.ok || text.includes('missing_service');
    assert.equal(
      validator.validate(body).valid,
      isAccepted,
      `${JSON.stringify(body).slice(0, 99)} ${text}`,
    );
  }
});

test('the committed document and the types of the client are those that the server serves', async () => {
  const file = (path: string): string =>
    readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const committed = file('scripts/client-types/openapi.json');
  assert.deepEqual(
    await readServedDocument(),
    JSON.parse(committed),
    'run npm run client-types and commit what it writes',
  );
  const hash = createHash('sha256').update(committed).digest('hex');
  assert.ok(
    file('src/client/generated.ts').includes(`openapi.json: sha256 ${hash}`),
    'src/client/generated.ts is of another document: run npm run client-types',
  );
});
