import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import type { FunctionResponse } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { ModelRequest } from '../../models/index.ts';
import { InvalidToolError } from '../../tools/index.ts';
import {
  getFunctionResponses,
  InMemoryRunner,
  LlmAgent,
  OpenAPIToolset,
  type OpenAPIToolsetOptions,
} from '../index.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const received: Received[] = [];
const server = createServer((request, response) => {
  void (async () => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method, url = '', headers } = request;
    received.push({ method, url, headers, body });
    const isJson = !url.startsWith('/v1/plain');
    if (url.startsWith('/v1/moved')) response.writeHead(302, { location: 'http://192.0.2.1/' });
    else
      response.writeHead(url.includes('missing') ? 404 : 200, {
        'content-type': isJson ? 'application/json' : 'text/plain',
      });
    const echo = { path: url, key: headers['x-key'] ?? headers.authorization ?? null };
    response.end(
      isJson ? JSON.stringify(url.includes('long') ? 'x'.repeat(2_000) : echo) : 'plain',
    );
  })();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const SECRET = 'sk-openapi-0123456789';

function createDocument(more: object = {}): object {
  return {
    openapi: '3.1.0',
    servers: [{ url: '{host}/v1/', variables: { host: { default: origin } } }],
    components: {
      schemas: {
        Pet: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            parent: { $ref: '#/components/schemas/Pet' },
            nick: { type: 'string', nullable: true },
          },
          required: ['name'],
        },
      },
      parameters: {
        Limit: {
          name: 'pageSize',
          in: 'query',
          schema: { type: 'integer' },
          description: 'How many.',
        },
      },
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    },
    paths: {
      '/pets/{petId}': {
        parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'string' } }],
        get: {
          operationId: 'getPetById',
          summary: 'Finds a pet.',
          parameters: [
            { $ref: '#/components/parameters/Limit' },
            { name: 'tag', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
            { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
            { name: 'Authorization', in: 'header', schema: { type: 'string' } },
          ],
        },
        put: {
          operationId: 'savePet',
          security: [{ key: [] }],
          parameters: [{ name: 'X-Key', in: 'header', schema: { type: 'string' } }],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
          },
        },
      },
      '/plain': {
        post: { requestBody: { content: { 'text/plain': { schema: { type: 'string' } } } } },
      },
      '/form': {
        post: {
          operationId: 'sendForm',
          requestBody: {
            content: {
              'application/x-www-form-urlencoded': {
                schema: { type: 'object', properties: { 'a b': { type: 'string' } } },
              },
            },
          },
        },
      },
      '/missing': { get: { operationId: 'missing' } },
      '/moved': { get: { operationId: 'moved' } },
      '/long': { get: { operationId: 'long' } },
      '/races': {
        get: {
          operationId: 'races',
          parameters: [
            { name: 'constructor', in: 'query', schema: { type: 'string' } },
            { name: 'valueOf', in: 'header', schema: { type: 'string' } },
          ],
        },
      },
    },
    ...more,
  };
}

interface Outcome {
  readonly response: FunctionResponse | undefined;
  readonly requests: readonly ModelRequest[];
  /** All that the session shows: events and requests. */
  readonly shown: string;
}

async function callTool(
  name: string,
  args: object,
  options: Partial<OpenAPIToolsetOptions> = {},
): Promise<Outcome> {
  const requests: ModelRequest[] = [];
  const model = new ScriptedModel((request) => {
    requests.push(request);
    return requests.length === 1 ? { toolCalls: [{ name, args: { ...args } }] } : { text: 'Done.' };
  });
  const toolset = new OpenAPIToolset({
    specDict: createDocument(),
    allowedOrigins: [origin],
    ...options,
  });
  const agent = new LlmAgent({ name: 'clerk', model, tools: [toolset] });
  await using runner = new InMemoryRunner({ agent, autoCreateSession: true });
  const events = await runner.run({ userId: 'u', sessionId: 's', newMessage: 'Go.' });
  const [response] = events.flatMap(getFunctionResponses);
  return { response, requests, shown: JSON.stringify({ events, requests }) };
}

test('operations are tools with the names, arguments and places of the document', async () => {
  const { requests, response } = await callTool('get_pet_by_id', {
    pet_id: 'a/b',
    page_size: 3,
    tag: ['x', 'y'],
    x_trace: 't',
  });
  assert.deepEqual(
    requests[0]?.tools.map(({ name }) => name),
    ['get_pet_by_id', 'save_pet', 'plain_post', 'send_form', 'missing', 'moved', 'long', 'races'],
  );
  const { parameters, description } = requests[0].tools[0] ?? {};
  assert.equal(description, 'Finds a pet.');
  assert.deepEqual(Object.keys(Object(parameters?.['properties'])), [
    'pet_id',
    'page_size',
    'tag',
    'x_trace',
  ]);
  assert.deepEqual(parameters?.['required'], ['pet_id']);
  const { method, url, headers } = received.at(-1) ?? {};
  assert.deepEqual(
    [method, url, headers?.['x-trace']],
    ['GET', '/v1/pets/a%2Fb?pageSize=3&tag=x&tag=y', 't'],
  );
  assert.equal(response?.response['path'], url);
});

test('a parameter without a value is not sent, also if every object has a member of its name', async () => {
  await callTool('races', {});
  const { url, headers } = received.at(-1) ?? {};
  assert.deepEqual([url, headers?.['valueof']], ['/v1/races', undefined]);
});

test('a body is sent in its media type; references and nullable become JSON Schema', async () => {
  const { requests } = await callTool(
    'save_pet',
    { pet_id: '1', name: 'Rex', nick: null, parent: { name: 'Ada' } },
    { authCredential: { apiKey: SECRET } },
  );
  const schema = JSON.stringify(requests[0]?.tools[1]?.parameters);
  assert.match(schema, /"parent":\{"\$ref":"#\/\$defs\/Pet"\}/);
  assert.match(schema, /"nick":\{"type":\["string","null"\]\}/);
  assert.doesNotMatch(schema, /x_key/i);
  const { body, method } = received.at(-1) ?? {};
  assert.equal(method, 'PUT');
  assert.deepEqual(JSON.parse(body ?? ''), { name: 'Rex', nick: null, parent: { name: 'Ada' } });
  await callTool('send_form', { a_b: 'c d' });
  assert.equal(received.at(-1)?.body, 'a+b=c+d');
  const plain = await callTool('plain_post', { body: 'Hello' });
  assert.equal(received.at(-1)?.body, 'Hello');
  assert.deepEqual(plain.response?.response, { result: 'plain' });
});

test('a key reaches the service, and no event, prompt or result', async () => {
  const { shown } = await callTool(
    'save_pet',
    { pet_id: '1', name: 'Rex' },
    { authCredential: { apiKey: SECRET } },
  );
  assert.equal(received.at(-1)?.headers['x-key'], SECRET);
  assert.doesNotMatch(shown, new RegExp(SECRET));
  assert.match(shown, /\[secret\]/, 'the service repeated it');
  const bearer = await callTool(
    'missing',
    {},
    {
      authScheme: { type: 'http', scheme: 'bearer' },
      authCredential: { http: { credentials: { token: SECRET } } },
    },
  );
  assert.equal(received.at(-1)?.headers.authorization, `Bearer ${SECRET}`);
  assert.doesNotMatch(bearer.shown, new RegExp(SECRET));
  await callTool(
    'long',
    {},
    {
      authScheme: { type: 'apiKey', in: 'query', name: 'key' },
      authCredential: { apiKey: SECRET },
    },
  );
  assert.equal(received.at(-1)?.url, `/v1/long?key=${SECRET}`);
  const basic = { http: { credentials: { username: 'ada', password: SECRET } } };
  await callTool(
    'long',
    {},
    { authScheme: { type: 'http', scheme: 'basic' }, authCredential: basic },
  );
  assert.equal(
    received.at(-1)?.headers.authorization,
    `Basic ${Buffer.from(`ada:${SECRET}`).toString('base64')}`,
  );
  const wrong = await callTool(
    'long',
    {},
    { authScheme: { type: 'http', scheme: 'bearer' }, authCredential: { apiKey: SECRET } },
  );
  assert.match(JSON.stringify(wrong.response), /must have a token/);
});

test('without a credential of the program, the call waits for that of the user', async () => {
  let calls = 0;
  const model = new ScriptedModel(() =>
    calls++ === 0
      ? { toolCalls: [{ name: 'save_pet', args: { pet_id: '1', name: 'Rex' } }] }
      : { text: 'Saved.' },
  );
  const toolset = new OpenAPIToolset({
    specDict: createDocument(),
    allowedOrigins: [origin],
    toolFilter: ['save_pet'],
  });
  const agent = new LlmAgent({ name: 'clerk', model, tools: [toolset] });
  await using runner = new InMemoryRunner({ agent, autoCreateSession: true });
  const at = { userId: 'u', sessionId: 's' };
  const before = received.length;
  const asked = await runner.run({ ...at, newMessage: 'Save.' });
  assert.equal(received.length, before, 'nothing is sent');
  const [[id, auth] = []] = asked.flatMap(({ actions }) =>
    Object.entries(actions.requestedAuthConfigs),
  );
  assert.ok(id !== undefined);
  assert.deepEqual(auth?.authScheme, { type: 'apiKey', in: 'header', name: 'X-Key' });
  const response = { exchangedAuthCredential: { apiKey: SECRET } };
  const functionResponse = { id, name: 'save_pet', response };
  const events = await runner.run({
    ...at,
    newMessage: { role: 'user', parts: [{ functionResponse }] },
  });
  assert.equal(received.at(-1)?.headers['x-key'], SECRET);
  assert.doesNotMatch(JSON.stringify(events), new RegExp(SECRET));
});

test('a status that is not 2xx, a long response and a redirect to another origin are errors', async () => {
  const missing = await callTool('missing', {});
  assert.equal(missing.response?.isError, true);
  assert.match(JSON.stringify(missing.response), /"code":"http_404"/);
  const long = await callTool('long', {}, { maxBytes: 1_000 });
  assert.match(JSON.stringify(long.response), /more than 1000 bytes/);
  const before = received.length;
  const moved = await callTool('moved', {});
  assert.equal(moved.response?.isError, true);
  assert.equal(received.length, before + 1);
});

test('only listed origins are called, and a pattern allows public addresses only', async () => {
  const before = received.length;
  const elsewhere = await callTool('long', {}, { allowedOrigins: ['https://api.example.com'] });
  assert.match(JSON.stringify(elsewhere.response), /is not in allowedOrigins/);
  const specDict = createDocument({ servers: [{ url: 'https://internal.example.com' }] });
  const hidden = await callTool(
    'long',
    {},
    { specDict, allowedOrigins: ['https://*.example.com'], resolve: async () => ['10.0.0.1'] },
  );
  assert.match(JSON.stringify(hidden.response), /address/);
  const dots = await callTool('get_pet_by_id', { pet_id: '..' });
  assert.match(JSON.stringify(dots.response), /must not be empty/);
  assert.equal(received.length, before);
});

test('bad options and documents are refused by name', () => {
  const create = (options: object): OpenAPIToolset =>
    new OpenAPIToolset({ specDict: createDocument(), allowedOrigins: [origin], ...options });
  assert.throws(() => create({ allowedOrigins: [] }), /allowedOrigins: must list the origins/);
  assert.throws(() => create({ allowedOrigins: ['api.example.com/v1'] }), /allowedOrigins/);
  assert.throws(() => create({ specStr: '{}' }), /or specStr must be set, and not both/);
  assert.throws(() => create({ specDict: undefined, specStr: 'openapi: 3.1.0' }), /must be JSON/);
  assert.throws(() => create({ specDict: { swagger: '2.0' } }), /must be version 3\.0 or 3\.1/);
  assert.throws(() => create({ headerProvider: () => ({}) }), /headers/);
  const external = createDocument({ paths: { '/a': { $ref: 'other.json#/a' } } });
  assert.throws(() => create({ specDict: external }), /which is not in the document/);
  const file = { content: { 'multipart/form-data': { schema: { type: 'object' } } } };
  const upload = createDocument({
    paths: { '/a': { post: { operationId: 'upload', requestBody: file } } },
  });
  assert.throws(() => create({ specDict: upload }), InvalidToolError);
  assert.ok(create({ specDict: upload, toolFilter: ['other'] }));
});

test('a prefix begins every name, and a filter names the operations with it', async () => {
  const options = { specDict: createDocument(), allowedOrigins: [origin], prefix: 'pets' };
  const all = await new OpenAPIToolset(options).getTools();
  assert.equal(Reflect.get(Object(all[0]), 'name'), 'pets_get_pet_by_id');
  const one = new OpenAPIToolset({ ...options, toolFilter: ['pets_long'] });
  assert.equal((await one.getTools()).length, 1);
});
