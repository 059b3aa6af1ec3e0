/**
 * A new user's path with the packed packages: create a project from each template, install it, check its types, run its
 * tests on Node 22 and 24, Bun and Deno, prove its agents, and start it.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { createUserEnvironment } from '../user-environment.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'petrichor-create-'));
after(() => rmSync(folder, { recursive: true }));

const programs = join(import.meta.dirname, 'node_modules', '.bin');
const newestNode = join(root, 'node_modules', 'node', 'bin');
/** The package of one platform: npm cannot lock the package of all of them where the registry lacks one. */
const deno = join(import.meta.dirname, 'node_modules', '@deno', 'linux-x64-glibc', 'deno');
const runtimes: Readonly<Record<string, readonly string[]>> = {
  'Node 22': [join(programs, 'node'), '--test'],
  'Node 24': [join(newestNode, 'node'), '--test'],
  Bun: [join(programs, 'bun'), 'test'],
  Deno: [deno, 'test', '--allow-all', '--no-check'],
};

/** The Node that most people have is the first. */
const env = createUserEnvironment({
  PATH: `${newestNode}:${process.env['PATH'] ?? ''}`,
  NO_COLOR: '1',
});

async function run([program = '', ...args]: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...args], { cwd, env });
  return stdout;
}

async function pack(source: string): Promise<string> {
  const stdout = await run(['npm', 'pack', '--silent', '--pack-destination', folder], source);
  return join(folder, stdout.trim().split('\n').at(-1) ?? '');
}

if (!existsSync(join(root, 'dist', 'console'))) await run(['npm', 'run', 'console:build'], root);
const [petrichor, create] = [await pack(root), await pack(join(root, 'create'))];

const templates = readdirSync(join(root, 'create', 'templates')).filter((one) => one !== 'shared');

for (const template of templates)
  test(`${template}: a new project has passing tests and proved agents`, async (t) => {
    const project = join(folder, `my-${template}`);
    const creating = ['npm', 'exec', '--yes', `--package=${create}`, '--', 'create-petrichor'];
    const options = ['--template', template, '--petrichor', petrichor];
    const said = await run([...creating, `my-${template}`, ...options], folder);
    assert.match(said, new RegExp(`cd my-${template}\\n +npm install\\n +npm test`));
    await run(['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline'], project);

    await t.test('its types are correct', async () => {
      await run(['npm', 'run', 'types'], project);
    });
    for (const [runtime, command] of Object.entries(runtimes))
      await t.test(`its tests pass on ${runtime}`, async (own) => {
        if (runtime === 'Deno' && !existsSync(deno))
          own.skip('Deno is installed on Linux x64 only');
        else await run(command, project);
      });
    await t.test('its agents are proved', async () => {
      assert.match(await run(['npm', 'run', 'prove'], project), /^\d+ proved in/m);
    });
    await t.test('it starts', async () => {
      assert.match(await start(project, template), firstWords[template] ?? /^$/);
    });
    await t.test('its README names its scripts', () => {
      const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
        readonly scripts: Readonly<Record<string, string>>;
      };
      const readme = readFileSync(join(project, 'README.md'), 'utf8');
      for (const script of ['start', 'test', 'prove']) {
        assert.ok(Object.hasOwn(scripts, script), script);
        assert.match(readme, new RegExp(`^npm (?:run )?${script}\\b`, 'm'));
      }
    });
  });

test('what cannot be created is refused, and nothing is written', async () => {
  const creating = ['npm', 'exec', '--yes', `--package=${create}`, '--', 'create-petrichor'];
  const refuse = async (args: readonly string[], message: RegExp): Promise<void> => {
    const before = readdirSync(folder);
    await assert.rejects(run([...creating, ...args], folder), { stderr: message });
    assert.deepEqual(readdirSync(folder), before);
  };
  await refuse([], /Name the folder of the project/);
  await refuse(['one', 'two'], /'two': unexpected/);
  await refuse(['one', '--template', 'none'], /'none' is unknown. It is one of chat, /);
  await refuse(['one', '--tempalte', 'chat'], /Unknown option '--tempalte'/);
  await refuse(['one', '--petrichor', 'none.tgz'], /there is no file 'none\.tgz'/);
  await refuse(['a project!'], /cannot be the name of a package/);
  await refuse(['.'], /'\.' is not empty/);
});

/** What the program says when it is started and gets its first input. */
const firstWords: Readonly<Record<string, RegExp>> = {
  chat: /delete_file[^]*a\.txt is deleted/,
  'web-chat': /<title>Shop<\/title>[^]*agent_shop/,
  workflow: /700 cents, open\./,
  adk: /Pack a coat.*Oslo/,
  served: /agent_order-desk/,
};

async function start(project: string, template: string): Promise<string> {
  if (template === 'workflow') return run(['npm', 'start', '--silent'], project);
  if (template === 'chat') return talk(project, 'Delete a.txt\ny\n');
  if (template === 'adk') return talk(project, 'Plan a day in Oslo\n');
  const args = template === 'served' ? ['--', '--port', '0'] : [];
  const server = spawn('npm', ['start', '--silent', ...args], {
    cwd: project,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // npm does not pass signals on to everything that it started
  });
  const ended = new Promise((resolve) => void server.once('exit', resolve));
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (url === undefined) continue;
      const paths = template === 'served' ? ['/v1/agents'] : ['/', '/page.js', '/v1/agents'];
      const texts = await Promise.all(
        paths.map(async (path) => {
          const response = await fetch(`${url}${path}`);
          assert.equal(response.status, 200, path);
          return response.text();
        }),
      );
      return texts.join('\n');
    }
    return 'The server named no address.';
  } finally {
    process.kill(-(server.pid ?? 0), 'SIGTERM');
    await ended;
  }
}

async function talk(project: string, input: string): Promise<string> {
  const chat = spawn('npm', ['start', '--silent'], {
    cwd: project,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  chat.stdin.end(input);
  let said = '';
  for await (const piece of chat.stdout) said += String(piece);
  return said;
}
