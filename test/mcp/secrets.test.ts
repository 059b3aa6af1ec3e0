import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import {
  InMemoryCredentialStore,
  openMcpToolset,
  type McpToolset,
  type McpToolsetOptions,
} from '../../src/tools/mcp/index.ts';
import { openFaultyServer } from './faulty-server.ts';
import { openOAuthServer } from './oauth-server.ts';

const SECRET = 'sk-mcp-0123456789';
const TOKEN = 'token-of-a-bearer';

/** Returns everything that a session with these calls shows, logs and journals, as one text. */
async function collectOutput(set: McpToolset, names: readonly string[]): Promise<string> {
  const seen: unknown[] = [];
  const model = new ScriptedModel([
    { toolCalls: names.map((name) => ({ name })) },
    { text: 'I see.' },
  ]);
  const caller = agent({ name: 'caller', tools: [set], model });
  await using runtime = await openRuntime({
    agents: [caller],
    onError: (error) => seen.push(error),
    observers: [(step) => void seen.push(step)],
  });
  const session = await runtime.session('x');
  for await (const event of session.send('go')) seen.push(event);
  seen.push(model.requests);
  return inspect(seen, { depth: Infinity, showHidden: true });
}

/** Returns the text of an error with its message, stack and causes. */
async function formatOpenError(options: McpToolsetOptions): Promise<string> {
  try {
    await using _set = await openMcpToolset(options);
  } catch (error) {
    return inspect(error, { depth: Infinity, showHidden: true });
  }
  throw new Error('It was opened.');
}

describe('secrets of an MCP server', () => {
  it('are redacted if they are in its environment: in results, errors and stderr', async () => {
    const warnings: string[] = [];
    const program = {
      name: 'small',
      command: process.execPath,
      env: { API_KEY: SECRET, GIVEN: 'for all to see' },
      protocol: 'legacy',
      autoApprove: true,
      onWarning: (message: string) => warnings.push(message),
    } as const;
    const smallServer = join(import.meta.dirname, 'small-server.ts');
    await using set = await openMcpToolset({ ...program, args: [smallServer] });
    const seen = await collectOutput(set, ['about', 'fail']);
    assert.match(seen, /The key \[redacted\] is wrong/);
    assert.match(seen, /API_KEY: '\[redacted\]'/);
    assert.match(seen, /for all to see/);
    const exitScript = 'console.error("no", process.env.API_KEY); process.exit(1)';
    const error = await formatOpenError({ ...program, args: ['--eval', exitScript] });
    assert.match(error, /no \[redacted\]/);
    for (const text of [seen, error, ...warnings]) assert.ok(!text.includes(SECRET), text);
  });

  it('are redacted if they are headers or tokens: in results, errors and HTML pages', async () => {
    await using server = await openFaultyServer();
    const options = {
      name: 'faulty',
      headers: { 'x-api-key': SECRET, 'x-team': 'the blue team' },
      auth: { token: () => TOKEN },
      autoApprove: true,
    } as const;
    await using set = await openMcpToolset({ ...options, url: `${server.url}?api_key=${SECRET}` });
    const seen = await collectOutput(set, ['tell', 'complain', 'complain-in-html']);
    assert.equal(server.headers['authorization'], `Bearer ${TOKEN}`);
    assert.match(seen, /the blue team/);
    assert.match(seen, /bad credentials: Bearer \[redacted\], \[redacted\]/);
    assert.match(seen, /<h1>bad credentials: Bearer \[redacted\], \[redacted\]/);
    const url = `http://user:${SECRET}@127.0.0.1:1/mcp`;
    const error = await formatOpenError({ ...options, url });
    for (const text of [seen, error]) assert.ok(!text.includes(SECRET) && !text.includes(TOKEN));
  });

  it('are redacted if they are tokens from OAuth', async () => {
    await using server = await openOAuthServer();
    const credentials = new InMemoryCredentialStore();
    await using set = await openMcpToolset({
      name: 'guarded',
      url: server.url,
      autoApprove: true,
      auth: {
        credentials,
        redirectUrl: 'http://127.0.0.1:9/back',
        authorize: async (address) => {
          const { headers } = await fetch(address, { redirect: 'manual' });
          return headers.get('location') ?? '';
        },
      },
    });
    const storedTokens = Object(await credentials.get(`mcp ${server.url} tokens`)) as object;
    const token = String(Reflect.get(storedTokens, 'access_token'));
    server.say(`Not with ${token}.`);
    const seen = await collectOutput(set, ['hang']);
    assert.match(seen, /Not with \[redacted\]/);
    assert.ok(!seen.includes(token));
  });
});
