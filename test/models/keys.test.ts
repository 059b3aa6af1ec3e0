import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { agent } from '../../src/agents/index.ts';
import { contentText } from '../../src/core/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { resolveModel } from '../../src/models/index.ts';
import type { ResolveModelOptions } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { ask, getError } from './wire-model.ts';
import type { WireFormat } from './wire/wire-format.ts';
import { wireFormats } from './wire/wire-formats.ts';
import { openWireServer, wireEnv, WIRE_KEY, type WireServer } from './wire/wire-server.ts';
import type { WireTurn } from './wire/wire-turn.ts';

const root = join(import.meta.dirname, '../..');
const message = `Incorrect API key provided: ${WIRE_KEY}.`;

/**
 * Responses that repeat the key: in an error, in a retryable error, in the middle of an answer.
 */
const leakingTurns: readonly WireTurn[] = [
  { error: { kind: 'auth', message } },
  { error: { kind: 'overloaded', message, retryAfterMs: 1 } },
  { text: 'Well,', error: { kind: 'server', message } },
  { text: 'Hello.' },
];

async function withFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-keys-'));
  try {
    return await body(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The contents of all files of a folder, as one text. */
async function readContents(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  const read = files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1'));
  return (await Promise.all(read)).join('\n');
}

/** The key from the environment, and from a callback with the trailing newline of a file. */
const keySources: readonly ((format: WireFormat, server: WireServer) => ResolveModelOptions)[] = [
  (format, { baseUrl }) => ({ env: wireEnv(format, baseUrl) }),
  () => ({ apiKey: async () => `${WIRE_KEY}\n` }),
];

for (const format of wireFormats) {
  test(`an API key is not in logs, errors or the store: ${format.name}`, async () => {
    for (const toOptions of keySources) {
      await using server = await openWireServer(format, leakingTurns);
      const options = toOptions(format, server);
      await withFolder(async (folder) => {
        const model = await resolveModel(format.ref(server.baseUrl), options);
        const seen: unknown[] = [model];
        const assistant = agent({ name: 'assistant', model, modelAttempts: 1 });
        {
          await using runtime = await openRuntime({
            agents: [assistant],
            store: `sqlite:${join(folder, 'a.db')}`,
            onError: (error) => seen.push(error),
            // The records as they are journaled, because some are compressed on disk.
            observers: [(step) => void seen.push(step)],
          });
          const session = await runtime.session('s');
          for (const _ of leakingTurns)
            for await (const event of session.send('Hi')) seen.push(event);
          seen.push(await session.status());
          const errors = seen.filter(isError);
          assert.equal(errors.length, 3, 'the server repeated the key');
          assert.match(inspect(errors), /\[redacted\]/);
        }
        const bytes = await readContents(folder);
        assert.ok(bytes.length > 1000);
        assert.ok(!inspect(seen, { depth: Infinity, showHidden: true }).includes(WIRE_KEY));
        assert.ok(!JSON.stringify(seen).includes(WIRE_KEY));
        assert.ok(!bytes.includes(WIRE_KEY));
      });
    }
  });
}

function isError(event: unknown): boolean {
  return typeof event === 'object' && event !== null && (event as LogEvent).type === 'error';
}

for (const format of wireFormats) {
  test(`an API key is not sent to another origin after a redirect: ${format.name}`, async () => {
    await using otherServer = await openWireServer(format, [{ text: 'Thank you.' }]);
    for (const status of [301, 302, 307, 308]) {
      await using server = createServer((_request, response) => {
        response.writeHead(status, { location: `${otherServer.baseUrl}/chat/completions` }).end();
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      const env = wireEnv(format, baseUrl);
      const model = await resolveModel(format.ref(baseUrl), { env });
      const error = await getError(model);
      assert.equal(error.kind, 'bad_request');
      assert.match(error.message, /redirects.*Set baseUrl/);
    }
    assert.deepEqual(otherServer.requests, []);
  });

  test(`a redirect within the origin is followed: ${format.name}`, async () => {
    await using server = await openWireServer(format, [{ text: 'Here.' }]);
    const { origin } = new URL(server.baseUrl);
    const movedFetch: typeof fetch = async (input, init) =>
      String(input).startsWith(`${origin}/old`)
        ? new Response(null, {
            status: 308,
            headers: { location: String(input).replace('/old', '/v1') },
          })
        : fetch(input, init);
    const env = wireEnv(format, origin);
    const model = await resolveModel(format.ref(`${origin}/old`), { env, fetch: movedFetch });
    assert.equal(contentText((await ask(model)).content), 'Here.');
  });
}

test('an API key is not in the output or the files of the command line', async () => {
  const format = wireFormats[0];
  assert.ok(format);
  await using server = await openWireServer(format, leakingTurns);
  await withFolder(async (folder) => {
    const entry = (path: string): string => pathToFileURL(join(root, 'src', path)).href;
    await writeFile(
      join(folder, 'agent.ts'),
      `
import { agent } from '${entry('index.ts')}';
import { resolveModel } from '${entry('models/index.ts')}';
const model = await resolveModel(${JSON.stringify(format.ref(server.baseUrl))}, { env: process.env });
export const assistant = agent({ name: 'assistant', model, modelAttempts: 1 });
`,
    );
    let printed = '';
    const run = (...args: readonly string[]): Promise<void> =>
      new Promise((resolve) => {
        const child = execFile(
          process.execPath,
          [join(root, 'src/cli/main.ts'), ...args],
          { cwd: folder, env: { ...process.env, ...wireEnv(format, server.baseUrl) } },
          (error, stdout, stderr) => {
            printed += stdout + stderr + inspect(error);
            resolve();
          },
        );
        child.stdin?.end('Hi\nHi\nHi\nHi\n');
      });
    await run('run', 'agent.ts', '--session', '1');
    await run('replay', '1');
    await run('replay', '1', '--json');
    assert.match(printed, /\[redacted\]/);
    assert.match(printed, /Hello\./);
    assert.ok(!printed.includes(WIRE_KEY));
    assert.ok(!(await readContents(folder)).includes(WIRE_KEY));
  });
});
