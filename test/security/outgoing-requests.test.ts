import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { egressFetch, egressRule, type ResolveHost } from '../../src/egress/index.ts';
import { resolveModel } from '../../src/models/index.ts';
import { createWebhookSender } from '../../src/server/webhooks/webhook-sender.ts';
import { webFetchTool } from '../../src/tools/built-in/index.ts';
import { mcpSource } from '../../src/tools/mcp/index.ts';
import { getError } from '../models/wire-model.ts';
import { callTool } from '../tools/call-tool.ts';

/** Spellings of private addresses, and tricks to hide one. `{port}` is the port of a server on loopback. */
const PRIVATE_URLS: readonly string[] = [
  'https://127.0.0.1:{port}/',
  'https://127.0.0.1.:{port}/',
  'https://2130706433:{port}/',
  'https://0x7f000001:{port}/',
  'https://0177.0.0.1:{port}/',
  'https://0x7f.1:{port}/',
  'https://127.1:{port}/',
  'https://0:{port}/',
  'https://①②⑦.0.0.1:{port}/',
  'https://[::1]:{port}/',
  'https://[::]:{port}/',
  'https://[::ffff:127.0.0.1]:{port}/',
  'https://[::ffff:7f00:1]:{port}/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[fe80::1]/',
  'https://[fd00:ec2::254]/',
  'https://169.254.169.254/latest/meta-data/',
  'https://169.254.170.2/v2/credentials',
  'https://100.100.100.200/',
  'https://168.63.129.16/',
  'https://10.0.0.1/',
  'https://192.168.0.1/',
  'https://172.16.0.1/',
  'https://localhost:{port}/',
  'https://localhost.:{port}/',
  'https://private.example:{port}/',
  'https://private.example.:{port}/',
  'https://mixed.example:{port}/',
  'https://six.example:{port}/',
  'https://nowhere.example/',
  'http://public.example:{port}/',
];

/** Rejected before an address is resolved. */
const INVALID_URLS: readonly string[] = [
  'https://public.example@127.0.0.1:{port}/',
  'https://127.0.0.1:{port}#@public.example/',
  'https://user:secret@public.example/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:{port}/',
  'ftp://127.0.0.1:{port}/',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'unix:/var/run/docker.sock',
];

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'private.example': ['127.0.0.1'],
  // One private address is enough to refuse a host with public ones.
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'six.example': ['::ffff:127.0.0.1'],
  'public.example': ['93.184.216.34'],
  localhost: ['127.0.0.1'],
};

const resolve: ResolveHost = async (hostname) => {
  const found = NAMES[hostname.replace(/\.$/, '')];
  if (found === undefined) throw new Error(`ENOTFOUND ${hostname}`);
  return found;
};

/** Every outgoing request whose target an API caller, or the caller's model, can choose. */
const CALLS: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  'base_url of a model': async (baseUrl) => {
    const model = await resolveModel(
      { provider: 'openai_compatible', model: 'm', baseUrl },
      { modelOrigins: ['https://*', 'https://*:1'], resolve },
    );
    throw await getError(model);
  },
  'url of an MCP server': async (url) => {
    const source = mcpSource({ resolve, connectTimeoutMs: 2_000 });
    return (await source({ name: 'x', transport: 'http', url })).close();
  },
  'url of an MCP server, at a request': async (url) =>
    egressFetch(egressRule({ isTrusted: () => false, resolve }))(url),
  'url of a webhook, when it is made': async (url) =>
    createWebhookSender({ resolve }).assertAllowed(url),
  'url of a webhook, at a delivery': async (url) =>
    createWebhookSender({ resolve }).send(url, '{}', {}, new AbortController().signal),
  // Pages may be read without TLS, but the forbidden addresses are the same.
  web_fetch: async (url) =>
    callTool(
      webFetchTool({
        hosts: ['*', '*:1', `*:${URL.parse(url)?.port || '2'}`],
        resolve,
      }),
      { url: url.startsWith('http://public') ? 'http://private.example/' : url },
    ),
};

interface InternalServer extends AsyncDisposable {
  readonly port: number;
  readonly connections: () => number;
}

async function startInternalServer(
  answer: string | Buffer = 'reached',
  head = {},
): Promise<InternalServer> {
  let connections = 0;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', ...head }).end(answer);
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => {
        server.close(done);
      });
    },
  };
}

for (const [call, request] of Object.entries(CALLS)) {
  test(`${call} reaches no private address in any spelling`, async () => {
    await using internalServer = await startInternalServer();
    for (const template of [...PRIVATE_URLS, ...INVALID_URLS]) {
      const url = template.replace('{port}', String(internalServer.port));
      const outcome = await request(url).catch((error: unknown) => error);
      assert.ok(isRefusal(outcome), `${url}: ${String(outcome)}`);
      assert.equal(internalServer.connections(), 0, url);
    }
  });
}

/**
 * True for a refusal, as an error or in the result of a tool. A failed connection is not a refusal, because then a
 * request was sent.
 */
function isRefusal(outcome: unknown): boolean {
  const text =
    outcome instanceof Error
      ? `${outcome.message} ${formatCauses(outcome)}`
      : JSON.stringify(outcome);
  return (
    /not public|without TLS|is not a URL|Only http|user name|credentials|must be|model\.base_url|was not found|must begin|Invalid URL|Failed to parse URL|not on the list/.test(
      text ?? '',
    ) && !/ECONNREFUSED|ENETUNREACH|ETIMEDOUT|timeout/i.test(text ?? '')
  );
}

function formatCauses(error: Error): string {
  return error.cause instanceof Error ? `${error.cause.message} ${formatCauses(error.cause)}` : '';
}

test('a request connects to the address that was checked, even if the host name then resolves to another one', async () => {
  await using internalServer = await startInternalServer();
  let lookups = 0;
  // Each lookup returns another address. A request that resolved twice would reach the second one.
  const rebinding: ResolveHost = async () => {
    lookups += 1;
    return lookups === 1 ? ['127.0.0.1'] : ['127.0.0.2'];
  };
  const fetch = egressFetch(egressRule({ isTrusted: () => true, resolve: rebinding }));
  const response = await fetch(`http://rebinding.example:${internalServer.port}/`);
  assert.deepEqual([await response.text(), lookups], ['reached', 1]);
  // A second request resolves and checks the address again.
  await assert.rejects(fetch(`http://rebinding.example:${internalServer.port}/`), {
    name: 'TypeError',
  });
  assert.equal(lookups, 2);
});

test('a redirect to another origin is not followed, also not to a private address', async () => {
  await using internalServer = await startInternalServer();
  for (const status of [301, 302, 303, 307, 308]) {
    const server = createServer((_request, response) => {
      response.writeHead(status, { location: `http://127.0.0.1:${internalServer.port}/` }).end();
    });
    await new Promise<void>((done) => {
      server.listen(0, '127.0.0.1', done);
    });
    const { port } = server.address() as AddressInfo;
    const rule = egressRule({ isTrusted: (url) => url.port === String(port), resolve });
    await assert.rejects(egressFetch(rule)(`http://127.0.0.1:${port}/`), /redirects/);
    const host = `127.0.0.1:${port}`;
    const answer = await createWebhookSender({ allowHosts: [host], resolve }).send(
      `http://${host}/`,
      '{}',
      {},
      new AbortController().signal,
    );
    assert.equal(answer.status, status);
    server.closeAllConnections();
    await new Promise((done) => {
      server.close(done);
    });
  }
  assert.equal(internalServer.connections(), 0);
});

test('a request through the egress rule sends its body and headers, and decompresses the response', async () => {
  await using internalServer = await startInternalServer(gzipSync('packed'), {
    'content-encoding': 'gzip',
  });
  const fetch = egressFetch(egressRule({ isTrusted: () => true }));
  const response = await fetch(`http://127.0.0.1:${internalServer.port}/`, {
    method: 'POST',
    body: '{"a":1}',
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(await response.text(), 'packed');
  const ended = new AbortController();
  ended.abort(new Error('over'));
  await assert.rejects(
    fetch(`http://127.0.0.1:${internalServer.port}/`, { signal: ended.signal }),
    /over/,
  );
});
