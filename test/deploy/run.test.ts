/** What the image and the proxies of `deploy/` start, without a container engine. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { DockerfileParser } from 'dockerfile-ast';
import { createUserEnvironment } from '../user-environment.ts';
import { deploy, has, readDeploy, root } from './deploy-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'petrichor-deploy-'));
const app = join(folder, 'app');
const node = join(root, 'node_modules', 'node', 'bin');
const env = createUserEnvironment({
  PATH: `${node}:${process.env['PATH'] ?? ''}`,
  DATABASE_URL: `sqlite:${join(folder, 'sessions.db')}`,
  XDG_DATA_HOME: join(folder, 'caddy'),
  XDG_CONFIG_HOME: join(folder, 'caddy'),
});
const running = new Set<ChildProcess>();

const instructions = DockerfileParser.parse(readDeploy('Dockerfile')).getInstructions();

/** The words of an instruction in its JSON form. */
function readWords(keyword: string): readonly string[] {
  const one = instructions.findLast((instruction) => instruction.getKeyword() === keyword);
  const [words = ''] = /\[.*\]$/.exec(one?.getArgumentsContent() ?? '') ?? [];
  return JSON.parse(words);
}

// The steps of the Dockerfile: the packages of the lock, without install scripts, and the files of the project.
before(() => {
  const run = (program: string, args: readonly string[], cwd: string): string =>
    execFileSync(program, args, { cwd, env, encoding: 'utf8' });
  const packed = run('npm', ['pack', '--silent', '--pack-destination', folder], root).trim();
  const project = join(folder, 'project');
  cpSync(join(root, 'create', 'templates', 'served'), project, { recursive: true });
  for (const file of ['serve.json', 'Dockerfile']) cpSync(join(deploy, file), join(project, file));
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  manifest.dependencies.petrichor = `file:../${packed.split('\n').at(-1)}`;
  manifest.dependencies.ws = '^8'; // for live sessions
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  run('npm', ['install', '--package-lock-only', '--prefer-offline'], project);
  mkdirSync(app);
  for (const copy of instructions.filter((one) => one.getKeyword() === 'COPY')) {
    const words = (copy.getArgumentsContent() ?? '').split(' ');
    if (words[0]?.startsWith('/app/') === true) continue; // from the first stage, the same folder here
    for (const source of words.slice(0, -1))
      cpSync(join(project, source), join(app, source), { recursive: true });
    if (words[0] === 'package.json') run('sh', ['-c', `${npmStep()} --prefer-offline`], app);
  }
});

function npmStep(): string {
  const step = instructions.find((one) => one.getKeyword() === 'RUN');
  return step?.getArgumentsContent() ?? assert.fail('the Dockerfile has no RUN');
}

after(async () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Starts the entry point of the image with its command, on a port of this machine. */
async function startServer(
  args: readonly string[] = [],
): Promise<{ port: number; child: ChildProcess; ended: Promise<number | null>; lines: string[] }> {
  const [program = '', ...words] = [...readWords('ENTRYPOINT'), ...readWords('CMD')];
  const here = ['--host', '127.0.0.1', '--port', '0', ...args];
  const child = spawn(program, [...words, ...here], {
    cwd: app,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  const lines: string[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout ?? assert.fail() }).on('line', (line) => {
      lines.push(line);
      const [, found] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
    void ended.then((code) => reject(new Error(`The server ended with ${code}.`)));
  });
  return { port, child, ended, lines };
}

function checkHealth(port: number): number | null {
  const [program = '', ...words] = readWords('HEALTHCHECK');
  const here = words.map((word) => word.replace(':8787/', `:${port}/`));
  assert.notDeepEqual(here, words);
  return spawnSync(program, here, { env }).status;
}

test('the entry point serves the project, is healthy, and hands over at SIGTERM', async () => {
  const { port, child, ended, lines } = await startServer();
  assert.equal(checkHealth(port), 0);
  const agents = await (await fetch(`http://127.0.0.1:${port}/v1/agents`)).text();
  assert.match(agents, /agent_order-desk/);
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
  assert.ok(lines.includes('Handing over the sessions.'), lines.join('\n'));
  assert.equal(checkHealth(port), 1);
});

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => void server.close(resolve));
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

async function ask(
  port: number,
  path: string,
  { body, ...options }: RequestOptions & { body?: unknown } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        rejectUnauthorized: false,
        method: body === undefined ? 'GET' : 'POST',
        ...options,
        headers: { 'content-type': 'application/json', ...options.headers },
      },
      (response) => {
        let text = '';
        response.on('data', (piece) => (text += String(piece)));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      },
    );
    // A WebSocket that opens has no end.
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, text: '' });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Resolves when the stream has shown a text. The stream stays open, so a proxy that buffers shows nothing. */
async function readUntil(
  port: number,
  path: string,
  expected: RegExp,
  send: () => Promise<unknown>,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, rejectUnauthorized: false },
      (response) => {
        let text = '';
        response.on('data', (piece) => {
          text += String(piece);
          if (!expected.test(text)) return;
          sent.destroy();
          resolve();
        });
        send().catch(reject);
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

/** What clients see through a proxy. */
async function checkProxy(port: number): Promise<void> {
  const { id } = JSON.parse(
    (await ask(port, '/v1/sessions', { body: { agent: 'agent_order-desk' } })).text,
  );
  const message = { type: 'user.message', content: [{ type: 'text', text: 'Where is A-1' }] };
  await readUntil(
    port,
    `/v1/sessions/${id}/events/stream`,
    /order_status[^]*That is all/,
    async () => {
      const { status } = await ask(port, `/v1/sessions/${id}/events`, {
        body: { events: [message] },
      });
      assert.equal(status, 200);
    },
  );
  // The server compares the origin with the host that the proxy passes on.
  const upgrade = (origin: string): Promise<Reply> => {
    const socket = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': 'petrichor.live.v1',
    };
    return ask(port, `/v1/sessions/${id}/live`, { headers: { ...socket, origin } });
  };
  assert.equal((await upgrade(`https://127.0.0.1:${port}`)).status, 101);
  assert.equal((await upgrade('https://other.example')).status, 403);
}

/** Starts a proxy and resolves when it answers. */
async function startProxy(
  program: string,
  args: readonly string[],
  port: number,
): Promise<{ readonly stop: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void> }> {
  const child = spawn(program, args, { env: proxyEnv(port), stdio: ['ignore', 'ignore', 'pipe'] });
  running.add(child);
  let said = '';
  child.stderr.on('data', (piece) => (said += String(piece)));
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      running.delete(child);
      resolve();
    });
  });
  let isReady = false;
  while (!isReady) {
    assert.ok(running.has(child), said);
    isReady = await ask(port, '/health').then(
      ({ status }) => status === 200,
      () => false,
    );
  }
  return {
    stop: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
}

/** Caddy reads the address of the site and of the servers from the environment. */
let upstreamPort = 0;
function proxyEnv(port: number): NodeJS.ProcessEnv {
  return {
    ...env,
    SITE_ADDRESS: `https://127.0.0.1:${port}`,
    UPSTREAM_NAME: 'localhost',
    UPSTREAM_PORT: String(upstreamPort),
  };
}

test('nginx passes on events and sockets, and turns to another server while one stops', async (t) => {
  if (!has('nginx') || !has('openssl')) return t.skip('nginx or openssl is not installed');
  const servers = [await startServer(['--live']), await startServer(['--live'])] as const;
  const port = await findFreePort();
  const at = join(folder, 'nginx');
  mkdirSync(at);
  const keys = ['-keyout', join(at, 'agents.key'), '-out', join(at, 'agents.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-days', '1'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...keys, ...subject], {
    stdio: 'ignore',
  });
  // Only addresses and paths are those of this machine.
  const config = readDeploy('proxy/nginx.conf')
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replaceAll('/etc/ssl/', `${at}/`)
    .replace('127.0.0.1:8787', `127.0.0.1:${servers[0].port}`)
    .replace('127.0.0.1:8788', `127.0.0.1:${servers[1].port}`);
  writeFileSync(join(at, 'agents.conf'), config);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${at}/${name};`,
  );
  writeFileSync(
    join(at, 'nginx.conf'),
    `pid ${at}/pid; daemon off; error_log stderr; events {}
     http { access_log off; ${temporary.join(' ')} include ${at}/agents.conf; }`,
  );
  const proxy = await startProxy('nginx', ['-p', at, '-c', join(at, 'nginx.conf')], port);
  await checkProxy(port);
  // While one server stops, and after it, every read is answered by the other one.
  const [first, second] = servers;
  first.child.kill('SIGTERM');
  let hasEnded = false;
  const ended = first.ended.then(() => (hasEnded = true));
  for (let after = 0; after < 4; after += hasEnded ? 1 : 0)
    assert.equal((await ask(port, '/v1/agents')).status, 200);
  await ended;
  second.child.kill('SIGTERM');
  assert.equal(await second.ended, 0);
  await proxy.stop('SIGTERM');
});

test('Caddy passes on events and sockets', async (t) => {
  if (!has('caddy')) return t.skip('caddy is not installed');
  const server = await startServer(['--live']);
  upstreamPort = server.port;
  const port = await findFreePort();
  const at = join(folder, 'Caddyfile');
  // Nothing but the site listens, and the machine does not get to trust the certificate.
  const here =
    'admin off\nskip_install_trust\nauto_https disable_redirects\ndefault_bind 127.0.0.1';
  writeFileSync(at, `{\n${here}\n}\n${readDeploy('proxy/Caddyfile')}`);
  const args = ['run', '--adapter', 'caddyfile', '--config', at];
  const proxy = await startProxy('caddy', args, port);
  await checkProxy(port);
  // At SIGTERM it would wait for its streams.
  await proxy.stop('SIGKILL');
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0);
});
