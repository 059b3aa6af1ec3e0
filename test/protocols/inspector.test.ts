/** The MCP Inspector, as a program in a terminal, drives the MCP server over HTTP and stdio. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../server/temporary-folder.ts';
import { openScenarioServer } from './scenario-server.ts';
import { toSourceUrl } from './test-server.ts';

const INSPECTOR = fileURLToPath(
  new URL(
    'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    import.meta.url,
  ),
);
const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

interface Content {
  readonly text?: string;
}

interface Printed {
  readonly tools?: readonly { readonly name: string; readonly inputSchema: object }[];
  readonly content?: readonly Content[];
  readonly contents?: readonly Content[];
  readonly structuredContent?: { readonly session_id: string; readonly status: string };
  readonly resources?: readonly { readonly uri: string }[];
}

/** Runs the Inspector with a server. Returns what it printed. */
async function inspect(
  server: readonly string[],
  method: string,
  args: readonly string[] = [],
): Promise<Printed> {
  using folder = temporaryFolder();
  // Without it the Inspector writes a catalog to the home folder.
  const env = { ...process.env, MCP_CATALOG_PATH: join(folder.path, 'mcp.json') };
  const printed = await new Promise<string>((resolve, reject) => {
    execFile(
      process.execPath,
      [INSPECTOR, '--cli', ...server, '--method', method, ...args],
      { env, cwd: folder.path },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`${method}: ${stdout}${stderr}`, { cause: error }));
      },
    );
  });
  return JSON.parse(printed) as Printed;
}

const say = (message: string, sessionId?: string): readonly string[] => [
  '--tool-name',
  'assistant',
  '--tool-arg',
  `message=${message}`,
  ...(sessionId === undefined ? [] : [`session_id=${sessionId}`]),
];

describe('the MCP Inspector', () => {
  it('lists tools with portable schemas, calls an agent, continues its session, and reads its log over HTTP', async () => {
    await using server = await openScenarioServer(['mcp']);
    const target = [`${server.url}/mcp`, '--transport', 'http'];
    // It ends with an error if a schema is not understood by other clients.
    const { tools = [] } = await inspect(target, 'tools/list', ['--strict']);
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['assistant'],
    );
    const first = await inspect(target, 'tools/call', say('Hello'));
    assert.equal(first.content?.[0]?.text, 'You said: Hello');
    const id = first.structuredContent?.session_id ?? '';
    const second = await inspect(target, 'tools/call', say('count', id));
    assert.equal(second.content?.[0]?.text, '2 messages');
    const uri = `petrichor://sessions/${id}/log`;
    const { resources = [] } = await inspect(target, 'resources/list');
    assert.deepEqual(
      resources.map((one) => one.uri),
      [uri],
    );
    const { contents = [] } = await inspect(target, 'resources/read', ['--uri', uri]);
    assert.match(contents[0]?.text ?? '', /You said: Hello.*2 messages/s);
  });

  it('calls an agent over stdio', async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'agents.mjs');
    writeFileSync(
      file,
      `import { agent } from '${toSourceUrl('agents/index.ts')}';
import { ScriptedModel } from '${toSourceUrl('models/index.ts')}';
export const assistant = agent({ name: 'assistant', model: new ScriptedModel(() => ({ text: 'Hi.' })) });
`,
    );
    const called = await inspect([process.execPath, CLI, 'mcp', file], 'tools/call', say('Hello'));
    assert.deepEqual(
      [called.content?.[0]?.text, called.structuredContent?.status],
      ['Hi.', 'completed'],
    );
  });
});
