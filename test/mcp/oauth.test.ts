import assert from 'node:assert/strict';
import { setImmediate as breath } from 'node:timers/promises';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Json } from '../../src/core/index.ts';
import {
  InMemoryCredentialStore,
  openMcpToolset,
  type McpOAuth,
  type McpToolset,
} from '../../src/tools/mcp/index.ts';
import { callTool } from './call-tool.ts';
import { openOAuthServer, type OAuthServer } from './oauth-server.ts';

let server: OAuthServer;
let credentials: InMemoryCredentialStore;
let authorizationUrls: URL[];

before(async () => {
  server = await openOAuthServer();
});
after(async () => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.demand('');
  credentials = new InMemoryCredentialStore();
  authorizationUrls = [];
});

/**
 * A person whose browser follows the authorization address and returns to a URL that `change` may
 * modify.
 */
function person(change: (back: URL) => URL = (back) => back): McpOAuth {
  return {
    credentials,
    redirectUrl: 'http://127.0.0.1:9/back',
    authorize: async (address) => {
      authorizationUrls.push(address);
      const { headers } = await fetch(address, { redirect: 'manual' });
      return change(new URL(headers.get('location') ?? ''));
    },
  };
}

const absentPerson = (): McpOAuth => ({
  ...person(),
  authorize: async () => Promise.reject(new Error('no person available')),
});

async function open(auth: McpOAuth): Promise<McpToolset> {
  return openMcpToolset({ name: 'guarded', url: server.url, auth });
}

async function waitForRequest(request: string): Promise<void> {
  const seen = server.seen.filter((one) => one === request).length;
  while (server.seen.filter((one) => one === request).length === seen) await breath();
}

describe('a server that requires authorization', () => {
  it('gets a token by the authorization code flow with PKCE, and its tools are listed', async () => {
    const grantsBefore = server.grants.length;
    await using set = await open(person());
    assert.deepEqual(
      set.tools().map(({ name }) => name),
      ['order', 'hang'],
    );
    const [address] = authorizationUrls;
    assert.equal(address?.searchParams.get('code_challenge_method'), 'S256');
    assert.equal(address.searchParams.get('resource'), server.url);
    assert.deepEqual(server.grants.slice(grantsBefore), ['authorization_code']);
  });

  it('does not start the flow again while stored tokens can be refreshed, also in another process', async () => {
    await (await open(person())).close();
    await using set = await open(absentPerson());
    const grantsBefore = server.grants.length;
    server.expire('access');
    await callTool(set, 'order', { what: 'shirt' });
    assert.deepEqual(server.grants.slice(grantsBefore), ['refresh_token']);
    assert.equal(authorizationUrls.length, 1);
  });

  it('starts the flow again during a call if the stored tokens are invalid', async () => {
    await using set = await open(person());
    server.expire('all');
    await callTool(set, 'order', { what: 'shirt' });
    assert.equal(authorizationUrls.length, 2);
  });

  it('starts the flow once for concurrent calls that were rejected', async () => {
    await using set = await open(person());
    server.expire('all');
    const calls = ['shirt', 'hat', 'coat'].map((what) => callTool(set, 'order', { what }));
    assert.equal((await Promise.all(calls)).length, 3);
    assert.equal(authorizationUrls.length, 2);
  });

  it('refreshes the token once for concurrent calls that were rejected', async () => {
    await using set = await open(person());
    const grantsBefore = server.grants.length;
    server.expire('access');
    await Promise.all(['shirt', 'hat', 'coat'].map((what) => callTool(set, 'order', { what })));
    assert.deepEqual(server.grants.slice(grantsBefore), ['refresh_token']);
    assert.equal(authorizationUrls.length, 1);
  });

  it('does not start the flow for a rejected call if another call has already got a new token', async () => {
    await using set = await open(person());
    server.expire('all');
    const release = server.holdRefusal();
    const late = callTool(set, 'order', { what: 'shirt' });
    await waitForRequest('POST /mcp');
    await callTool(set, 'order', { what: 'hat' });
    const grantsBefore = server.grants.length;
    release();
    await late;
    assert.deepEqual(server.grants.slice(grantsBefore), []);
    assert.equal(authorizationUrls.length, 2);
  });

  it('lets two toolsets share stored tokens without invalidating each other', async () => {
    await using one = await open(person());
    const [refreshing, mayRefresh] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slowFetch: typeof fetch = async (url, init) => {
      if (String(url).endsWith('/token')) {
        refreshing.resolve();
        await mayRefresh.promise;
      }
      return fetch(url, init);
    };
    const { url } = server;
    await using two = await openMcpToolset({ name: 'two', url, auth: person(), fetch: slowFetch });
    server.expire('access');
    const second = callTool(two, 'order', { what: 'shirt' });
    await refreshing.promise;
    await callTool(one, 'order', { what: 'shirt' });
    mayRefresh.resolve();
    await second;
    assert.equal(authorizationUrls.length, 1);
  });

  it('requests a larger scope that includes the previous scope if the token does not suffice', async () => {
    await using set = await open({ ...person(), scope: 'read' });
    server.demand('write');
    await callTool(set, 'order', { what: 'shirt' });
    assert.deepEqual(
      authorizationUrls.map(({ searchParams }) => searchParams.get('scope')),
      ['read', 'read write'],
    );
  });

  it('fails the waiting calls if the person refuses, and starts the flow again for the next call', async () => {
    let isWilling = true;
    const auth = person((back) => {
      if (!isWilling) back.searchParams.delete('code');
      return back;
    });
    await using set = await open(auth);
    server.expire('all');
    isWilling = false;
    const calls = ['shirt', 'hat'].map((what) => callTool(set, 'order', { what }));
    for (const outcome of await Promise.allSettled(calls)) {
      assert.equal(outcome.status, 'rejected');
      assert.match(String(outcome.reason), /without a code/);
    }
    assert.equal(authorizationUrls.length, 2);
    isWilling = true;
    await callTool(set, 'order', { what: 'shirt' });
    assert.equal(authorizationUrls.length, 3);
  });

  it('does not wait for the person after the call is aborted or the toolset is closed', async () => {
    let isPresent = true;
    const authorizingOnce: McpOAuth = {
      ...person(),
      authorize: async (address) =>
        isPresent
          ? person().authorize(address)
          : new Promise(() => authorizationUrls.push(address)),
    };
    const set = await open(authorizingOnce);
    server.expire('all');
    isPresent = false;
    const stop = new AbortController();
    const stopped = assert.rejects(
      callTool(set, 'order', { what: 'shirt' }, { signal: stop.signal }),
      /enough/,
    );
    const refused = assert.rejects(callTool(set, 'order', { what: 'hat' }), { code: 'mcp_closed' });
    while (authorizationUrls.length < 2) await breath();
    stop.abort(new Error('enough'));
    await stopped;
    await set.close();
    await refused;
  });

  it('fails with mcp_unauthorized if authorization fails or is not configured', async () => {
    await assert.rejects(open(absentPerson()), {
      code: 'mcp_unauthorized',
      message: /no person available/,
    });
    await assert.rejects(openMcpToolset({ name: 'guarded', url: server.url }), {
      code: 'mcp_unauthorized',
    });
  });

  it('rejects a redirect with a foreign state or an error', async () => {
    const other = (back: URL): URL => {
      back.searchParams.set('state', 'of somebody else');
      return back;
    };
    await assert.rejects(open(person(other)), { code: 'mcp_unauthorized', message: /another/ });
    const refused = (back: URL): URL => {
      back.searchParams.delete('code');
      back.searchParams.set('error', 'access_denied');
      return back;
    };
    await assert.rejects(open(person(refused)), { code: 'mcp_unauthorized', message: /denied/ });
  });

  it('accepts a token callback and calls it for each request', async () => {
    await (await open(person())).close();
    const storedTokens = (await credentials.get(`mcp ${server.url} tokens`)) as {
      access_token: string;
    } & Json;
    let tokenCalls = 0;
    const token = (): string => {
      tokenCalls++;
      return storedTokens.access_token;
    };
    await using set = await openMcpToolset({ name: 'guarded', url: server.url, auth: { token } });
    const before = tokenCalls;
    await callTool(set, 'order', { what: 'shirt' });
    assert.ok(tokenCalls > before);
  });
});
