import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../free-port.ts';

const root = join(import.meta.dirname, '..', '..');
const section = readFileSync(join(root, 'README.md'), 'utf8')
  .split('## HTTP server')[1]
  ?.split('\n## ')[0];

/** The code blocks of one language in that section of the README. */
function listCodeBlocks(kind: string): readonly string[] {
  const found = section?.matchAll(new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\`$`, 'gms')) ?? [];
  return [...found].map(([, text = '']) => text);
}

/** Resolves with the whole output of a program as soon as it matches. */
async function waitForOutput(child: ChildProcess, pattern: RegExp): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (pattern.test(text)) resolve(text);
    });
  child.once('close', () => reject(new Error(`It ended without it: ${text}`)));
  return promise;
}

test('the commands and the programs of the README work', async (t) => {
  const [serve = '', curl = '', ...others] = listCodeBlocks('sh');
  assert.deepEqual(others, []);
  const [agents = '', program] = listCodeBlocks('ts');
  const served = readFileSync(join(root, 'examples', 'http', 'agents.ts'), 'utf8');
  assert.equal(agents, served, 'the module is the example, byte for byte');
  const sdk = join(root, 'examples', 'http', 'official-sdk.ts');
  assert.equal(program, readFileSync(sdk, 'utf8'), 'the program is the example, byte for byte');
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-readme-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'agents.ts'), agents);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'petrichor'));
  const main = join(root, 'dist', 'cli', 'main.js');
  // Stands in for npx, which would look in the folder that `npm test` runs in.
  writeFileSync(
    join(folder, 'npx'),
    `#!/bin/sh\n[ "$1" = petrichor ] && shift && exec "${process.execPath}" "${main}" "$@"\n`,
  );
  chmodSync(join(folder, 'npx'), 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  // The port of the README may be in use.
  const port = String(await freePort());
  const withPort = (text: string): string => text.replaceAll('8787', port);
  const run = (script: string): ChildProcess => {
    const child = spawn('bash', ['-c', `exec 2>&1; ${script}`], {
      cwd: folder,
      env,
      detached: true,
    });
    // Kill the shell and its children.
    t.after(() => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // The process has already exited.
      }
    });
    return child;
  };
  const server = run(`${serve.trim()} --port ${port}`);
  assert.match(
    await waitForOutput(server, /agent_greeter/),
    new RegExp(`Serving on http://127.0.0.1:${port} `),
  );
  const output = await waitForOutput(run(withPort(curl)), /"stop_reason":\{"type":"end_turn"\}/);
  assert.match(
    output,
    /^id: sevt_\w+\nevent: message\ndata: \{.*"type":"agent.message".*Hello! I looked at the clock/m,
  );
  const fetchOnPort = `const on = fetch; globalThis.fetch = (url, init) => on(String(url).replace("8787", "${port}"), init);`;
  const node = `"${process.execPath}" --import 'data:text/javascript,${fetchOnPort}'`;
  await waitForOutput(run(`${node} "${sdk}"`), /Hello! I looked at the clock/);
  const client = join(root, 'examples', 'http', 'client.ts');
  const page = readFileSync(join(root, 'docs', 'server.md'), 'utf8');
  for (const text of [served, readFileSync(client, 'utf8')])
    assert.ok(page.includes(`\`\`\`ts\n${text}\`\`\`\n`));
  await waitForOutput(run(`${node} "${client}"`), /Hello! I looked at the clock/);
});
