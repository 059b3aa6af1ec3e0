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
let asked: URL[];

before(async () => {
  server = await openOAuthServer();
});
after(async () => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.demand('');
  credentials = new InMemoryCredentialStore();
  asked = [];
});

/** A person whose browser goes where it is sent, and comes back with what `change` makes of it. */
function person(change: (back: URL) => URL = (back) => back): McpOAuth {
  return {
    credentials,
    redirectUrl: 'http://127.0.0.1:9/back',
    authorize: async (address) => {
      asked.push(address);
      const { headers } = await fetch(address, { redirect: 'manual' });
      return change(new URL(headers.get('location') ?? ''));
    },
  };
}

const nobody = (): McpOAuth => ({
  ...person(),
  authorize: async () => Promise.reject(new Error('nobody is there')),
});

async function open(auth: McpOAuth): Promise<McpToolset> {
  return openMcpToolset({ name: 'guarded', url: server.url, auth });
}

async function untilSeen(request: string): Promise<void> {
  const seen = server.seen.filter((one) => one === request).length;
  while (server.seen.filter((one) => one === request).length === seen) await breath();
}

describe('a server that wants somebody to sign in', () => {
  it('gets a token by an authorization code with PKCE, and the tools are there', async () => {
    const given = server.grants.length;
    await using set = await open(person());
    assert.deepEqual(
      set.tools().map(({ name }) => name),
      ['order', 'hang'],
    );
    const [address] = asked;
    assert.equal(address?.searchParams.get('code_challenge_method'), 'S256');
    assert.equal(address.searchParams.get('resource'), server.url);
    assert.deepEqual(server.grants.slice(given), ['authorization_code']);
  });

  it('asks nobody when the tokens are kept: another process opens it, and a refresh is enough', async () => {
    await (await open(person())).close();
    await using set = await open(nobody());
    const given = server.grants.length;
    server.expire('access');
    await callTool(set, 'order', { what: 'shirt' });
    assert.deepEqual(server.grants.slice(given), ['refresh_token']);
    assert.equal(asked.length, 1);
  });

  it('asks again when nothing counts any more, in the middle of a call', async () => {
    await using set = await open(person());
    server.expire('all');
    await callTool(set, 'order', { what: 'shirt' });
    assert.equal(asked.length, 2);
  });

  it('asks once for all calls that are refused at the same time', async () => {
    await using set = await open(person());
    server.expire('all');
    const calls = ['shirt', 'hat', 'coat'].map((what) => callTool(set, 'order', { what }));
    assert.equal((await Promise.all(calls)).length, 3);
    assert.equal(asked.length, 2);
  });

  it('refreshes once for all calls that are refused at the same time', async () => {
    await using set = await open(person());
    const given = server.grants.length;
    server.expire('access');
    await Promise.all(['shirt', 'hat', 'coat'].map((what) => callTool(set, 'order', { what })));
    assert.deepEqual(server.grants.slice(given), ['refresh_token']);
    assert.equal(asked.length, 1);
  });

  it('asks nobody for a call whose refusal comes when another has signed in already', async () => {
    await using set = await open(person());
    server.expire('all');
    const release = server.holdRefusal();
    const late = callTool(set, 'order', { what: 'shirt' });
    await untilSeen('POST /mcp');
    await callTool(set, 'order', { what: 'hat' });
    const given = server.grants.length;
    release();
    await late;
    assert.deepEqual(server.grants.slice(given), []);
    assert.equal(asked.length, 2);
  });

  it('two who keep their tokens in one place do not take them from each other', async () => {
    await using one = await open(person());
    const [refreshing, mayRefresh] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slowly: typeof fetch = async (url, init) => {
      if (String(url).endsWith('/token')) {
        refreshing.resolve();
        await mayRefresh.promise;
      }
      return fetch(url, init);
    };
    const { url } = server;
    await using two = await openMcpToolset({ name: 'two', url, auth: person(), fetch: slowly });
    server.expire('access');
    const second = callTool(two, 'order', { what: 'shirt' });
    await refreshing.promise;
    await callTool(one, 'order', { what: 'shirt' });
    mayRefresh.resolve();
    await second;
    assert.equal(asked.length, 1);
  });

  it('asks for more when a token allows too little, and for what it had before too', async () => {
    await using set = await open({ ...person(), scope: 'read' });
    server.demand('write');
    await callTool(set, 'order', { what: 'shirt' });
    assert.deepEqual(
      asked.map(({ searchParams }) => searchParams.get('scope')),
      ['read', 'read write'],
    );
  });

  it('is an error of the call when the person refuses, and the next call asks again', async () => {
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
    assert.equal(asked.length, 2);
    isWilling = true;
    await callTool(set, 'order', { what: 'shirt' });
    assert.equal(asked.length, 3);
  });

  it('nobody waits for a person who does not come: not a call that is stopped, not the end of the toolset', async () => {
    let comes = true;
    const whoComesOnce: McpOAuth = {
      ...person(),
      authorize: async (address) =>
        comes ? person().authorize(address) : new Promise(() => asked.push(address)),
    };
    const set = await open(whoComesOnce);
    server.expire('all');
    comes = false;
    const stop = new AbortController();
    const stopped = callTool(set, 'order', { what: 'shirt' }, { signal: stop.signal });
    const waiting = callTool(set, 'order', { what: 'hat' });
    while (asked.length < 2) await breath();
    stop.abort(new Error('enough'));
    await assert.rejects(stopped, /enough/);
    await set.close();
    await assert.rejects(waiting, { code: 'mcp_closed' });
  });

  it('is an error when nobody signs in', async () => {
    await assert.rejects(open(nobody()), {
      code: 'mcp_unauthorized',
      message: /nobody is there/,
    });
    await assert.rejects(openMcpToolset({ name: 'guarded', url: server.url }), {
      code: 'mcp_unauthorized',
    });
  });

  it('a browser that comes back from another sign-in is not believed', async () => {
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

  it('takes a token somebody else obtained, a fresh one for each request', async () => {
    await (await open(person())).close();
    const kept = (await credentials.get(`mcp ${server.url} tokens`)) as {
      access_token: string;
    } & Json;
    let asked = 0;
    const token = (): string => {
      asked++;
      return kept.access_token;
    };
    await using set = await openMcpToolset({ name: 'guarded', url: server.url, auth: { token } });
    const before = asked;
    await callTool(set, 'order', { what: 'shirt' });
    assert.ok(asked > before);
  });
});
