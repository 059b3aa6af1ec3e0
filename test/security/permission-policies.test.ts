import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelScript } from '../../src/models/index.ts';
import { WorkspaceIndex } from '../../src/server/auth/workspace-index.ts';
import { toolset as toolsetOf } from '../../src/tools/index.ts';
import { countingTool, userMessage, openServerFixture } from '../server/server-fixture.ts';
import type { ServerFixture } from '../server/server-fixture.ts';

const NAMES = [
  'bash',
  'filesystem',
  'web_fetch',
  'web_search',
  'delete_file',
  'keep_file',
] as const;

const callsDeleteFile: ModelScript = [
  { toolCalls: [{ name: 'delete_file', args: { path: 'a.txt' } }] },
  { text: 'As you say.' },
];
const callsBash: ModelScript = [
  { toolCalls: [{ name: 'bash', args: {} }] },
  { text: 'As you say.' },
];

/** Outcome of the one call that the model makes. */
interface Outcome {
  readonly ran: number;
  readonly permission: unknown;
  readonly end: string;
}

/** Creates an agent with these fields over HTTP, sends one message, and returns the outcome of the call. */
async function callUnder(fields: object, script: ModelScript = callsDeleteFile): Promise<Outcome> {
  const tools = NAMES.map((name) => countingTool(name));
  await using on = await openServerFixture(script, { tools });
  const created = await post(on, '/v1/agents', { ...plain, ...fields });
  assert.equal(created.status, 200, JSON.stringify(created.body));
  return await getOutcome(on, String(created.body['id']), tools);
}

async function getOutcome(
  on: ServerFixture,
  agent: string,
  tools: readonly { readonly ran: readonly unknown[] }[],
): Promise<Outcome> {
  const session = await post(on, '/v1/sessions', {
    agent,
    initial_events: [userMessage('Delete it')],
  });
  assert.equal(session.status, 200, JSON.stringify(session.body));
  let permission: unknown;
  for await (const event of on.runtime.streamLog(String(session.body['id']), 0)) {
    if (event.type === 'tool.call') ({ permission } = event);
    if (event.type !== 'turn.waiting' && event.type !== 'turn.ended') continue;
    return { ran: tools.flatMap((one) => one.ran).length, permission, end: event.type };
  }
  throw new Error('the log ended');
}

async function post(
  on: ServerFixture,
  path: string,
  body: object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await fetch(`${on.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const plain = { name: 'A', model: 'gemini-2.5-flash' };
const builtin = { type: 'builtin', name: 'delete_file' };
const toolset = 'agent_toolset_20260401';
const alwaysAsk = { type: 'always_ask' };

const askingPolicies: readonly (readonly [string, object, ModelScript?])[] = [
  [
    'the default of seed definitions',
    { permission_policy: { default: 'prompt' }, tools: [builtin] },
  ],
  [
    'the default in words of the wire',
    { permission_policy: { default: 'always_ask' }, tools: [builtin] },
  ],
  ['a policy of the wire for all tools', { permission_policy: alwaysAsk, tools: [builtin] }],
  [
    'a rule for one tool',
    {
      permission_policy: { default: 'auto_approve', tools: { delete_file: 'prompt' } },
      tools: [builtin],
    },
  ],
  ["a tool's own policy", { tools: [{ ...builtin, permission_policy: alwaysAsk }] }],
  [
    "a tool's own policy, left to a judge",
    { tools: [{ ...builtin, permission_policy: { type: 'auto' } }] },
  ],
  [
    "a tool's own policy in the words of definitions",
    { tools: [{ ...builtin, permission_policy: { default: 'prompt' } }] },
  ],
  [
    "a custom tool's own policy",
    {
      tools: [
        {
          type: 'custom',
          name: 'delete_file',
          input_schema: { type: 'object' },
          permission_policy: alwaysAsk,
        },
      ],
    },
  ],
  [
    "a built-in's own policy by its type",
    { tools: [{ type: 'bash', permission_policy: alwaysAsk }] },
    callsBash,
  ],
  [
    'the default for a toolset that says nothing',
    {
      permission_policy: { default: 'prompt' },
      tools: [{ type: toolset, configs: [], default_config: null }],
    },
    callsBash,
  ],
  [
    "a toolset's default",
    { tools: [{ type: toolset, default_config: { permission_policy: alwaysAsk } }] },
    callsBash,
  ],
  [
    "a toolset's rule for one tool",
    {
      tools: [
        { type: toolset, configs: [{ type: 'bash', name: 'bash', permission_policy: alwaysAsk }] },
      ],
    },
    callsBash,
  ],
];

for (const [what, fields, script] of askingPolicies)
  test(`a call waits for approval under ${what}`, async () => {
    const outcome = await callUnder(fields, script);
    assert.deepEqual(outcome, { ran: 0, permission: 'ask', end: 'turn.waiting' });
  });

const denyingPolicies: readonly (readonly [string, object, ModelScript?])[] = [
  ['the default deny', { permission_policy: { default: 'deny' }, tools: [builtin] }],
  [
    'a rule that denies one tool',
    {
      permission_policy: { default: 'auto_approve', tools: { delete_file: 'deny' } },
      tools: [builtin],
    },
  ],
  ["a tool's own enabled: false", { tools: [{ ...builtin, enabled: false }] }],
  [
    'the default deny for a toolset that says nothing',
    { permission_policy: { default: 'deny' }, tools: [{ type: toolset }] },
    callsBash,
  ],
];

for (const [what, fields, script] of denyingPolicies)
  test(`a call is refused under ${what}`, async () => {
    const outcome = await callUnder(fields, script);
    assert.deepEqual(outcome, { ran: 0, permission: 'deny', end: 'turn.ended' });
  });

test('a policy with an unknown mode is rejected, and no agent is created', async () => {
  await using on = await openServerFixture(callsDeleteFile, {
    tools: NAMES.map((name) => countingTool(name)),
  });
  for (const [field, fields] of [
    ['permission_policy.default', { permission_policy: { default: 'ask' } }],
    ['permission_policy.type', { permission_policy: { type: 'never' } }],
    [
      'tools[0].permission_policy',
      { tools: [{ ...builtin, permission_policy: { type: 'never' } }] },
    ],
    ['tools[0].permission_policy', { tools: [{ ...builtin, permission_policy: 'never' }] }],
  ] as const) {
    const { status, body } = await post(on, '/v1/agents', {
      ...plain,
      ...fields,
    });
    assert.equal(status, 400, field);
    assert.ok(JSON.stringify(body).includes(`body.${field}`), `${field}: ${JSON.stringify(body)}`);
  }
  assert.deepEqual((await on.runtime.listAgents()).data, []);
});

test('a policy is returned with its agent, and is kept when another field of the agent is updated', async () => {
  const tools = NAMES.map((name) => countingTool(name));
  await using on = await openServerFixture(callsDeleteFile, { tools });
  const { body } = await post(on, '/v1/agents', {
    ...plain,
    permission_policy: { default: 'deny', tools: { delete_file: 'prompt' } },
    tools: [
      builtin,
      { type: 'builtin', name: 'keep_file', permission_policy: { type: 'always_allow' } },
    ],
  });
  const id = String(body['id']);
  const policy = { default: 'deny', tools: { delete_file: 'prompt', keep_file: 'auto_approve' } };
  assert.deepEqual(body['permission_policy'], policy);
  const renamed = await post(on, `/v1/agents/${id}`, { name: 'B' });
  assert.deepEqual(renamed.body['permission_policy'], policy);
  const withoutKeepFile = await post(on, `/v1/agents/${id}`, { tools: [builtin] });
  assert.deepEqual(withoutKeepFile.body['permission_policy'], {
    default: 'deny',
    tools: { delete_file: 'prompt' },
  });
  assert.deepEqual(await getOutcome(on, id, tools), {
    ran: 0,
    permission: 'ask',
    end: 'turn.waiting',
  });
  const changed = await post(on, `/v1/agents/${id}`, {
    permission_policy: { default: 'auto_approve' },
  });
  assert.deepEqual(changed.body['permission_policy'], { default: 'auto_approve' });
});

test('a policy of one tool in a definition that a program creates is kept', async () => {
  const tools = NAMES.map((name) => countingTool(name));
  await using on = await openServerFixture(callsDeleteFile, { tools });
  const { id, definition } = await on.runtime.create({
    ...plain,
    tools: [
      { ...builtin, permissionPolicy: { type: 'always_ask' } },
      { type: 'bash', enabled: false },
    ],
  });
  const policy = { default: 'auto_approve', tools: { delete_file: 'prompt', bash: 'deny' } };
  assert.deepEqual(definition.permission_policy, policy);
  const second = await on.runtime.updateAgent(id, { ...definition, name: 'B' }, { version: 1 });
  assert.deepEqual(second.definition.permission_policy, policy);
});

test('a tool of an MCP server needs approval unless its toolset has another rule', async () => {
  const script: ModelScript = [
    { toolCalls: [{ name: 'list_files', args: {} }] },
    { text: 'Done.' },
  ];
  const servers = [{ type: 'url', name: 'files', url: 'https://files.example/mcp' }];
  const toolset = { type: 'mcp_toolset', mcp_server_name: 'files' };
  for (const [fields, end] of [
    [{}, 'turn.waiting'],
    [{ tools: [toolset] }, 'turn.waiting'],
    [{ tools: [{ ...toolset, default_config: { enabled: true } }] }, 'turn.waiting'],
    [{ tools: [toolset], permission_policy: { default: 'deny' } }, 'turn.ended'],
  ] as const) {
    const files = countingTool('list_files');
    await using on = await openServerFixture(script, {
      mcp: async () => ({ tools: toolsetOf('files', () => [files]), close: async () => {} }),
    });
    const { body } = await post(on, '/v1/agents', { ...plain, mcp_servers: servers, ...fields });
    const outcome = await getOutcome(on, String(body['id']), [files]);
    assert.deepEqual([outcome.ran, outcome.end], [0, end], JSON.stringify(fields));
  }
  const allowed = { ...toolset, default_config: { permission_policy: { type: 'always_allow' } } };
  const files = countingTool('list_files');
  await using on = await openServerFixture(script, {
    mcp: async () => ({ tools: toolsetOf('files', () => [files]), close: async () => {} }),
  });
  const agent = { ...plain, mcp_servers: servers, tools: [allowed] };
  const { body } = await post(on, '/v1/agents', agent);
  assert.equal((await getOutcome(on, String(body['id']), [files])).ran, 1);
  const other = await post(on, '/v1/agents', {
    ...agent,
    tools: [{ ...allowed, mcp_server_name: 'fils' }],
  });
  assert.equal(other.status, 400);
  assert.match(JSON.stringify(other.body), /body\.tools\[0\]\.mcp_server_name.*fils/);
});

test('an update of other fields over HTTP keeps the fields that only a program can set', async () => {
  await using on = await openServerFixture(callsDeleteFile, { mcp: async () => assert.fail() });
  const definition = {
    ...plain,
    mcp_servers: [{ name: 'files', transport: 'stdio', command: 'files' }],
    tools: [{ type: 'custom', name: 'deploy', input_schema: {}, timeout_ms: 5 }],
    permission_policy: { default: 'prompt' },
  };
  const { id, createdAt } = await on.runtime.create(definition);
  await new WorkspaceIndex(on.store, 'workspace-agent').put('default', id, createdAt);
  assert.equal((await post(on, `/v1/agents/${id}`, { name: 'B' })).status, 200);
  const changed = await on.runtime.getAgent(id);
  assert.ok(changed.source === 'definition');
  assert.deepEqual(changed.definition, { ...definition, name: 'B' });
});
