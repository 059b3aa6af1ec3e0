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

/** Everything that is seen, logged and journaled of a session that calls these tools, as one text. */
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

/** The whole of an error: its message, its stack, what it was made from. */
async function errorIn(options: McpToolsetOptions): Promise<string> {
  try {
    await using _set = await openMcpToolset(options);
  } catch (error) {
    return inspect(error, { depth: Infinity, showHidden: true });
  }
  throw new Error('It was opened.');
}

describe('what a server was given is seen by nobody, whatever it says', () => {
  it('the environment of a program: in results, in errors, in its last words', async () => {
    const troubles: string[] = [];
    const program = {
      name: 'small',
      command: process.execPath,
      env: { API_KEY: SECRET, GIVEN: 'for all to see' },
      protocol: 'legacy',
      autoApprove: true,
      onWarning: (message: string) => troubles.push(message),
    } as const;
    const small = join(import.meta.dirname, 'small-server.ts');
    await using set = await openMcpToolset({ ...program, args: [small] });
    const seen = await collectOutput(set, ['about', 'fail']);
    assert.match(seen, /The key \[redacted\] is wrong/);
    assert.match(seen, /API_KEY: '\[redacted\]'/);
    assert.match(seen, /for all to see/);
    const dying = 'console.error("no", process.env.API_KEY); process.exit(1)';
    const error = await errorIn({ ...program, args: ['--eval', dying] });
    assert.match(error, /no \[redacted\]/);
    for (const text of [seen, error, ...troubles]) assert.ok(!text.includes(SECRET), text);
  });

  it('headers and tokens: in results, in errors, in pages of HTML', async () => {
    await using server = await openFaultyServer();
    const place = {
      name: 'faulty',
      headers: { 'x-api-key': SECRET, 'x-team': 'the blue team' },
      auth: { token: () => TOKEN },
      autoApprove: true,
    } as const;
    await using set = await openMcpToolset({ ...place, url: `${server.url}?api_key=${SECRET}` });
    const seen = await collectOutput(set, ['tell', 'complain', 'complain-in-html']);
    assert.equal(server.headers['authorization'], `Bearer ${TOKEN}`);
    assert.match(seen, /the blue team/);
    assert.match(seen, /bad credentials: Bearer \[redacted\], \[redacted\]/);
    assert.match(seen, /<h1>bad credentials: Bearer \[redacted\], \[redacted\]/);
    const url = `http://user:${SECRET}@127.0.0.1:1/mcp`;
    const error = await errorIn({ ...place, url });
    for (const text of [seen, error]) assert.ok(!text.includes(SECRET) && !text.includes(TOKEN));
  });

  it('tokens of a sign-in', async () => {
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
    const kept = Object(await credentials.get(`mcp ${server.url} tokens`)) as object;
    const token = String(Reflect.get(kept, 'access_token'));
    server.say(`Not with ${token}.`);
    const seen = await collectOutput(set, ['hang']);
    assert.match(seen, /Not with \[redacted\]/);
    assert.ok(!seen.includes(token));
  });
});
