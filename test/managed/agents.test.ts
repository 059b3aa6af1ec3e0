import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedRuntime, parseAgentDef } from '../../src/managed/index.ts';
import {
  countingTool,
  deployTool,
  getDefinition,
  userMessage,
  openManagedFixture,
} from './managed-fixture.ts';

const plain = { name: 'Helper', model: 'gemini-2.5-flash' };
const full = {
  name: 'Helper',
  model: { provider: 'anthropic', model: 'claude-sonnet' },
  system: 'Be {brief}.',
  description: 'Helps.',
  tools: [{ type: 'bash' }, deployTool],
  mcp_servers: [{ name: 'files', transport: 'stdio', command: 'files', args: ['-v'] }],
  skills: [{ skill_id: 'releases' }],
  permission_policy: { default: 'prompt', tools: { bash: 'deny' } },
  metadata: { team: 'a' },
};

test('a definition is stored in one spelling, without empty fields', () => {
  assert.deepEqual(parseAgentDef(full), full);
  const other = {
    name: 'Helper',
    model: full.model,
    system: full.system,
    description: full.description,
    tools: [
      { type: 'builtin', name: 'bash' },
      {
        type: 'custom',
        name: 'deploy',
        description: 'Deploys',
        inputSchema: deployTool.input_schema,
      },
    ],
    mcpServers: [{ ...full.mcp_servers[0], env: {}, autoApprove: [] }],
    skills: [{ skillId: 'releases' }],
    permissionPolicy: full.permission_policy,
    metadata: { team: 'a' },
  };
  assert.deepEqual(parseAgentDef(other), full);
  const empty = { ...plain, tools: [], mcp_servers: [], skills: [], metadata: null, system: null };
  assert.deepEqual(parseAgentDef(empty), plain);
});

test('the transport streamable_http is stored as http', () => {
  const servers = ['http', 'streamable_http'].map(
    (transport) =>
      parseAgentDef({ ...plain, mcp_servers: [{ name: 'a', transport, url: 'https://x.example' }] })
        .mcp_servers?.[0]?.transport,
  );
  assert.deepEqual(servers, ['http', 'http']);
});

const invalidChanges: readonly (readonly [string, object])[] = [
  ['name', { name: '' }],
  ['model', { model: 'nobody-knows' }],
  ['model', { model: 7 }],
  ['system', { system: 'x'.repeat(100_001) }],
  ['tools[0]', { tools: [{ type: 'teleport' }] }],
  ['tools[0].input_schema', { tools: [{ type: 'custom', name: 'a' }] }],
  ['tools[0].name', { tools: [{ ...deployTool, name: 'no spaces' }] }],
  ['tools', { tools: [deployTool, deployTool] }],
  ['tools', { tools: Array.from({ length: 257 }, (_, n) => ({ ...deployTool, name: `t${n}` })) }],
  ['mcp_servers[0].command', { mcp_servers: [{ name: 'a', transport: 'stdio' }] }],
  ['mcp_servers[0].url', { mcp_servers: [{ name: 'a', transport: 'http' }] }],
  [
    'mcp_servers[0].command',
    { mcp_servers: [{ name: 'a', transport: 'http', url: 'https://x', command: 'x' }] },
  ],
  ['mcp_servers[0].transport', { mcp_servers: [{ name: 'a', transport: 'pigeon' }] }],
  ['skils: is unknown', { skils: [] }],
  ['tools[0].permisionPolicy: is unknown', { tools: [{ type: 'bash', permisionPolicy: {} }] }],
  ['permission_policy.defualt: is unknown', { permission_policy: { defualt: 'deny' } }],
  [
    'mcp_servers[0].autoAprove',
    { mcp_servers: [{ name: 'a', transport: 'stdio', autoAprove: [] }] },
  ],
  ['permission_policy.default', { permission_policy: { default: 'maybe' } }],
  ['metadata', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, ''])) }],
];

for (const [field, change] of invalidChanges) {
  test(`a definition is rejected by its ${field}: ${JSON.stringify(change).slice(0, 60)}`, () => {
    assert.throws(
      () => parseAgentDef({ ...plain, ...change }),
      (error: unknown) =>
        error instanceof Error &&
        (error.message.includes(`definition.${field}`) ||
          error.message.includes('nobody-knows') ||
          error.message.startsWith('model')),
    );
  });
}

test('a definition that needs a service that the runtime lacks is rejected', async () => {
  await using runtime = await openManagedRuntime();
  for (const change of [
    { tools: [{ type: 'bash' }] },
    { mcp_servers: full.mcp_servers },
    { skills: full.skills },
  ]) {
    await assert.rejects(runtime.create({ ...plain, ...change }), { code: 'missing_service' });
  }
});

test('an update needs the current version of the agent, and creates a version only if it changes something', async () => {
  await using runtime = await openManagedRuntime();
  const { id } = await runtime.create(plain);
  const second = await runtime.updateAgent(id, { ...plain, system: 'Two.' }, { version: 1 });
  assert.equal(second.version, 2);
  await assert.rejects(runtime.updateAgent(id, { ...plain, system: 'Late.' }, { version: 1 }), {
    code: 'version_conflict',
    version: 2,
  });
  const same = await runtime.updateAgent(id, { system: 'Two.', ...plain }, { version: 2 });
  assert.equal(same.version, 2);
  const results = await Promise.allSettled(
    ['A', 'B'].map(async (system) => runtime.updateAgent(id, { ...plain, system }, { version: 2 })),
  );
  assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  assert.equal((await runtime.getAgent(id)).version, 3);
  assert.equal(getDefinition(await runtime.getAgent(id, { version: 1 })).system, undefined);
  await assert.rejects(runtime.getAgent(id, { version: 9 }), { code: 'agent_not_found' });
  const versions = await runtime.agentVersions(id);
  assert.deepEqual(
    versions.data.map(({ version }) => version),
    [3, 2, 1],
  );
});

test('an archived agent rejects updates and new sessions, and its existing sessions continue', async () => {
  await using on = await openManagedFixture(() => ({ text: 'Yes.' }));
  const [agent] = (await on.runtime.listAgents()).data;
  const id = agent?.id ?? '';
  await on.runtime.archiveAgent(id);
  await assert.rejects(on.runtime.updateAgent(id, plain, { version: 1 }), {
    code: 'agent_archived',
  });
  await assert.rejects(on.runtime.startSession(id, { userId: 'ada' }), { code: 'agent_archived' });
  assert.deepEqual((await on.runtime.listAgents()).data, []);
  assert.equal((await on.runtime.listAgents({ includeArchived: true })).data.length, 1);
  await on.send('Hi');
  await on.until('turn.ended');
});

test('a session keeps the agent version with which it started', async () => {
  await using on = await openManagedFixture(() => ({ text: 'Yes.' }));
  const [agent] = (await on.runtime.listAgents()).data;
  const id = agent?.id ?? '';
  const definition = { ...getDefinition(agent), system: 'New.' };
  await on.runtime.updateAgent(id, definition, { version: 1 });
  await on.send('Hi');
  await on.until('turn.ended');
  assert.equal(on.model.requests[0]?.instruction, undefined);
  const later = await on.runtime.startSession(id, { userId: 'ada' });
  assert.equal(later.agentVersion, 2);
  await on.runtime.sendEvent(later.id, userMessage('Hi'));
  for await (const { type } of on.runtime.streamEvents(later.id, 0))
    if (type === 'status.idle') break;
  assert.equal(on.model.requests[1]?.instruction, 'New.');
  const oldVersionSession = await on.runtime.startSession({ id, version: 1 }, { userId: 'ada' });
  assert.equal(oldVersionSession.agentVersion, 1);
});

test('agents and sessions are listed newest first, in pages', async () => {
  await using runtime = await openManagedRuntime({
    resolver: async () => ({ name: 'none', generate: async () => Promise.reject(new Error()) }),
  });
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.unshift((await runtime.create(plain)).id);
  await runtime.archiveAgent(ids[1] ?? '');
  const listed: string[] = [];
  let after: string | undefined;
  do {
    const page = await runtime.listAgents({ limit: 2, ...(after !== undefined && { after }) });
    listed.push(...page.data.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined);
  assert.deepEqual(
    listed,
    ids.filter((_, index) => index !== 1),
  );
  const sessions: string[] = [];
  for (const user of ['ada', 'bob', 'ada'])
    sessions.unshift((await runtime.startSession(ids[0] ?? '', { userId: user })).id);
  const listIds = async (filter: object): Promise<readonly string[]> =>
    (await runtime.listSessions(filter)).data.map(({ id }) => id);
  assert.deepEqual(await listIds({}), sessions);
  assert.deepEqual(await listIds({ userId: 'ada', limit: 1 }), sessions.slice(0, 1));
  assert.deepEqual(await listIds({ userId: 'bob' }), sessions.slice(1, 2));
  assert.deepEqual(await listIds({ agentId: ids[2] }), []);
  await runtime.archive(sessions[0] ?? '');
  assert.deepEqual(await listIds({ includeArchived: false }), sessions.slice(1));
  await assert.rejects(runtime.listAgents({ limit: 0 }), { code: 'invalid_input' });
});

test('two starts with the same dedupeKey return the same session', async () => {
  await using on = await openManagedFixture(() => ({ text: 'Yes.' }));
  const [agent] = (await on.runtime.listAgents()).data;
  const start = async (): Promise<string> =>
    (await on.runtime.startSession(agent?.id ?? '', { userId: 'ada' }, { dedupeKey: 'k' })).id;
  const sessionIds = await Promise.all([start(), start()]);
  assert.equal(sessionIds[0], sessionIds[1]);
  assert.equal(await start(), sessionIds[0]);
});

test('every field of a definition takes effect', async () => {
  const search = countingTool('web_search');
  await using on = await openManagedFixture([{ text: 'Yes.' }], {
    tools: [search],
    skills: async (id) => ({ name: id, description: 'How to release.', instructions: '…' }),
    definition: {
      system: 'Be {brief}.',
      tools: [{ type: 'web_search' }, deployTool],
      skills: [{ skill_id: 'releases' }],
      metadata: { team: 'a' },
    },
  });
  await on.send('Hi');
  await on.until('turn.ended');
  const [request] = on.model.requests;
  assert.match(request?.instruction ?? '', /^Be \{brief\}\.\n\n.*releases: How to release\./s);
  assert.deepEqual(
    request?.tools.map(({ name }) => name),
    ['web_search', 'deploy', 'read_skill'],
  );
  assert.deepEqual(request?.tools[1]?.parameters, deployTool.input_schema);
  const [agent] = (await on.runtime.listAgents()).data;
  assert.deepEqual(getDefinition(agent).metadata, { team: 'a' });
});

test('an environment that none of the tools would use is rejected', async () => {
  await using on = await openManagedFixture(() => ({ text: 'Yes.' }));
  const [agent] = (await on.runtime.listAgents()).data;
  for (const environment of [{ env: { A: '1' } }, { workingFolder: 'a' }, { selfHosted: true }]) {
    const started = on.runtime.startSession(agent?.id ?? '', { userId: 'ada' }, { environment });
    await assert.rejects(started, { code: 'invalid_input' });
  }
});

test('the environment of a session is passed to the built-in tools', async () => {
  const environments: unknown[] = [];
  const search = countingTool('web_search');
  await using on = await openManagedFixture(() => ({ text: 'Yes.' }), {
    definition: { tools: [{ type: 'web_search' }] },
    builtIns: async (name, environment) => {
      environments.push(environment);
      return name === search.name ? [search] : undefined;
    },
  });
  const [agent] = (await on.runtime.listAgents()).data;
  const environment = { env: { A: '1' }, workingFolder: 'here' };
  const session = await on.runtime.startSession(
    agent?.id ?? '',
    { userId: 'ada' },
    { environment },
  );
  assert.deepEqual(session.environment, environment);
  assert.deepEqual(environments.at(-1), environment);
});

test('a store with less durability than requested is rejected', async () => {
  await assert.rejects(openManagedRuntime({ durability: 'crash' }), { code: 'durability' });
  await using runtime = await openManagedRuntime({ durability: 'process' });
  assert.equal(runtime.durability, 'process');
});

test('an owner without a user id, or of another app, is rejected', async () => {
  await using on = await openManagedFixture(() => ({ text: 'Yes.' }));
  const [agent] = (await on.runtime.listAgents()).data;
  for (const owner of [{ userId: ' ' }, { userId: 'ada', appName: 'other' }]) {
    await assert.rejects(on.runtime.startSession(agent?.id ?? '', owner), {
      code: 'invalid_input',
    });
  }
});
