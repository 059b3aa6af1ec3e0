/** What a client can reach through the routes of ADK, OpenAI and other protocols: no address, and no other workspace. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { createServer } from '../../src/server/index.ts';
import type { ProtocolName, Server } from '../../src/server/index.ts';
import { PROTOCOL_NAMES } from '../../src/server/protocol-list.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { InMemoryArtifactService, tool } from '../../src/tools/index.ts';
import { openWebServer } from '../mcp/web-server.ts';
import { openWireModel } from '../models/wire-model.ts';
import { geminiWire } from '../models/wire/gemini-wire.ts';
import { openaiResponsesWire } from '../models/wire/openai-responses-wire.ts';
import type { WireFormat } from '../models/wire/wire-format.ts';
import type { WireTurn } from '../models/wire/wire-turn.ts';

const SECRET = 'secret-of-the-network';

interface Opened extends AsyncDisposable {
  readonly server: Server;
  /** What the provider of the model received. */
  readonly provider: () => string;
}

async function open(format: WireFormat, turns: readonly WireTurn[]): Promise<Opened> {
  const wire = await openWireModel(format, turns);
  const erase = tool({
    name: 'erase',
    description: 'Erases.',
    needsApproval: true,
    execute: () => ({ erased: true }),
  });
  const runtime = await openRuntime({
    agents: [agent({ name: 'assistant', model: wire.model, tools: [erase], modelAttempts: 1 })],
    store: new MemoryStore(),
    artifacts: new InMemoryArtifactService(),
  });
  const server = await createServer({ runtime, keys: 'when-created', protocols: PROTOCOL_NAMES });
  return {
    server,
    provider: () => JSON.stringify(wire.server.requests.map(({ body }) => body)),
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
      await wire[Symbol.asyncDispose]();
    },
  };
}

async function send(
  { server }: Opened,
  line: string,
  body?: object,
  key?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const [method = '', path = ''] = line.split(' ');
  const response = await server.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        'a2a-version': '1.0',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  return { status: response.status, text: await response.text() };
}

type FileMessages = readonly (readonly [line: string, body: object])[];

/** Requests of each protocol whose message has a file at an address. A protocol that is missing here does not compile. */
function messagesWith(url: string, id: string): Readonly<Record<ProtocolName, FileMessages>> {
  const run = (part: object): object => ({
    appName: 'assistant',
    userId: 'ada',
    sessionId: id,
    newMessage: { role: 'user', parts: [part] },
  });
  const model = 'agent_assistant';
  const image = { type: 'input_image', image_url: url };
  const file = { type: 'input_file', file_url: url };
  const picture = { type: 'image', source: { type: 'url', value: url, mimeType: 'image/png' } };
  const part = { type: 'file', url, mediaType: 'image/png' };
  const parts = [{ url, mediaType: 'image/png' }];
  const user = (more: object): object => ({ id: 'm1', role: 'user', ...more });
  return {
    openai: [
      ['POST /openai/v1/responses', { model, input: [{ role: 'user', content: [image, file] }] }],
      [
        'POST /openai/v1/chat/completions',
        {
          model,
          messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
        },
      ],
    ],
    adk: [
      ['POST /run', run({ fileData: { mimeType: 'image/png', fileUri: url } })],
      ['POST /run_sse', run({ file_data: { mime_type: 'image/png', file_uri: url } })],
    ],
    'ag-ui': [
      [
        'POST /ag-ui/agent_assistant',
        { threadId: `${id}-ag-ui`, runId: 'r1', messages: [user({ content: [picture] })] },
      ],
    ],
    'ai-sdk': [
      ['POST /ai-sdk/agent_assistant', { id: `${id}-ai-sdk`, messages: [user({ parts: [part] })] }],
    ],
    a2a: [
      [
        'POST /a2a/agent_assistant/v1/message:send',
        { message: { role: 'ROLE_USER', messageId: `${id}-m1`, parts } },
      ],
    ],
    // A message of MCP is text.
    mcp: [],
    // In the session of the AI SDK.
    managed: [
      [
        `POST /v1/sessions/${id}-ai-sdk/events`,
        {
          events: [
            { type: 'user.message', content: [{ type: 'image', source: { type: 'url', url } }] },
          ],
        },
      ],
    ],
  };
}

test('no protocol requests an address in a message or an artifact, and no provider gets what is there', async () => {
  await using inside = await openWebServer(() => new Response(SECRET));
  const addresses = [
    `${inside.origin}/image.png`,
    'file:///etc/passwd',
    'artifact://default/default/other/files/secret.txt#0',
  ];
  let reached = 0;
  for (const format of [geminiWire, openaiResponsesWire]) {
    await using opened = await open(format, [{ text: 'I saw it.' }]);
    for (const [index, url] of addresses.entries()) {
      const id = `s${index}`;
      await send(opened, 'POST /apps/assistant/users/ada/sessions', { sessionId: id });
      for (const [line, body] of Object.values(messagesWith(url, id)).flat()) {
        const { status, text } = await send(opened, line, body);
        // A provider may refuse an address, and the turn fails with its error.
        assert.ok(status < 500 || /error/.test(text), `${line} ${url}: ${status} ${text}`);
        assert.doesNotMatch(text, new RegExp(`${SECRET}|root:x:`), `${line} ${url}`);
        if (status === 200 && text.includes('I saw it.')) reached++;
      }
      const artifacts = `/apps/assistant/users/ada/sessions/${id}/artifacts`;
      const fileData = { mimeType: 'image/png', fileUri: url };
      await send(opened, `POST ${artifacts}`, { filename: 'a.png', artifact: { fileData } });
      const { text } = await send(opened, `GET ${artifacts}/a.png`);
      assert.deepEqual(JSON.parse(text), { fileData });
    }
    assert.doesNotMatch(opened.provider(), new RegExp(`${SECRET}|root:x:`), format.name);
    assert.match(opened.provider(), /image\.png/, 'the provider gets the address itself');
  }
  assert.ok(reached > 0);
  assert.deepEqual(inside.seen, []);
});

test('ids of another workspace reach nothing over the routes of OpenAI and ADK', async () => {
  await using opened = await open(geminiWire, [
    { text: 'Waiting.', toolCalls: [{ id: 'c1', name: 'erase', args: {} }] },
  ]);
  const { keys } = opened.server;
  const [{ token: own }, { token: other }] = [
    await keys.create('own', 'a'),
    await keys.create('other', 'b'),
  ];
  const begun = await send(
    opened,
    'POST /openai/v1/responses',
    { model: 'agent_assistant', conversation: 's1', input: SECRET },
    own,
  );
  const response = JSON.parse(begun.text) as {
    readonly id: string;
    readonly output: readonly { readonly type: string; readonly id: string }[];
  };
  const approval = response.output.find(({ type }) => type === 'mcp_approval_request')?.id;
  assert.ok(approval !== undefined, begun.text);
  const session = '/apps/assistant/users/ada/sessions/s1';
  const artifact = { filename: 'note.txt', artifact: { text: SECRET } };
  assert.equal((await send(opened, `POST ${session}/artifacts`, artifact, own)).status, 200);
  const shown = JSON.parse((await send(opened, `GET ${session}`, undefined, own)).text) as {
    readonly events: readonly { readonly id: string; readonly invocationId: string }[];
  };
  const event = shown.events.at(-1);
  assert.ok(event !== undefined);
  const answer = { type: 'mcp_approval_response', approval_request_id: approval, approve: true };
  const trace = '/dev/apps/assistant/debug/trace';
  const run = { appName: 'assistant', userId: 'ada', sessionId: 's1' };
  const attempts: readonly (readonly [string, object?])[] = [
    [`GET /openai/v1/responses/${response.id}`],
    [`GET /openai/v1/responses/${response.id}?stream=true`],
    [`POST /openai/v1/responses/${response.id}/cancel`, {}],
    [
      'POST /openai/v1/responses',
      { model: 'agent_assistant', previous_response_id: response.id, input: 'And?' },
    ],
    ['POST /openai/v1/responses', { model: 'agent_assistant', input: [answer] }],
    ['GET /openai/v1/conversations/s1'],
    [`GET ${session}`],
    [`PATCH ${session}`, { stateDelta: { a: 1 } }],
    [`DELETE ${session}`],
    ['POST /run', { ...run, newMessage: 'Hi' }],
    ['POST /run', { ...run, invocationId: event.invocationId }],
    ['POST /run_sse', { ...run, newMessage: 'Hi' }],
    [`GET ${session}/artifacts`],
    [`GET ${session}/artifacts/note.txt`],
    [`GET ${session}/artifacts/note.txt/versions/0`],
    [`GET ${session}/artifacts/note.txt/versions/0/metadata`],
    [`POST ${session}/artifacts`, artifact],
    [`DELETE ${session}/artifacts/note.txt`],
    [`GET ${trace}/session/s1`],
    [`GET ${trace}/${event.id}`],
    [`GET /dev/apps/assistant/users/ada/sessions/s1/events/${event.id}/graph`],
  ];
  for (const [line, body] of attempts) {
    const { status, text } = await send(opened, line, body, other);
    assert.doesNotMatch(text, new RegExp(SECRET), line);
    const isEmpty = status === 200 && ['[]', '{}'].includes(text);
    assert.ok(status === 404 || isEmpty, `${line}: ${status} ${text}`);
  }
  // What the other workspace tried changed nothing.
  const after = JSON.parse((await send(opened, `GET ${session}`, undefined, own)).text) as object;
  assert.deepEqual(after, shown);
  const kept = await send(opened, `GET ${session}/artifacts/note.txt`, undefined, own);
  assert.match(kept.text, new RegExp(SECRET));
});
