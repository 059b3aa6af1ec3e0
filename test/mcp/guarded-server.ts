import { createHash, randomUUID } from 'node:crypto';
import { openAskingServer } from './asking-server.ts';
import { openWebServer, type WebServer } from './web-server.ts';

/** The asking server behind OAuth: it takes only tokens that the authorization server beside it gave and that still count. */
export interface GuardedServer extends WebServer {
  readonly url: string;
  /** The grants that gave tokens, in order. */
  readonly grants: readonly string[];
  /** Ends all access tokens; `all` ends the refresh tokens too. */
  readonly expire: (which: 'access' | 'all') => void;
}

export async function openGuardedServer(): Promise<GuardedServer> {
  const asking = await openAskingServer();
  const grants: string[] = [];
  const access = new Set<string>();
  const refresh = new Set<string>();
  const clients = new Set<string>();
  const codes = new Map<string, { readonly challenge: string; readonly redirect: string }>();
  let origin = '';

  const web = await openWebServer(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case '/mcp':
        return guarded(request);
      case '/.well-known/oauth-protected-resource/mcp':
        return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
      case '/.well-known/oauth-authorization-server':
        return Response.json(metadataOf(origin));
      case '/register':
        return registered((await request.json()) as object);
      case '/authorize':
        return agreed(searchParams);
      case '/token':
        return tokens(new URLSearchParams(await request.text()));
      default:
        return new Response(null, { status: 404 });
    }
  });
  origin = web.origin;

  async function guarded(request: Request): Promise<Response> {
    const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
    if (!access.has(token)) {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      const headers = { 'www-authenticate': `Bearer resource_metadata="${metadata}"` };
      return new Response(null, { status: 401, headers });
    }
    const { method, headers } = request;
    const body = method === 'POST' ? { body: await request.text() } : {};
    return fetch(asking.url, { method, headers: onlyContent(headers), ...body });
  }

  function registered(client: object): Response {
    const id = randomUUID();
    clients.add(id);
    return Response.json({ ...client, client_id: id }, { status: 201 });
  }

  /** The person agrees at once. */
  function agreed(asked: URLSearchParams): Response {
    const redirect = asked.get('redirect_uri') ?? '';
    if (
      !clients.has(asked.get('client_id') ?? '') ||
      asked.get('code_challenge_method') !== 'S256'
    ) {
      return new Response(null, { status: 400 });
    }
    const code = randomUUID();
    codes.set(code, { challenge: asked.get('code_challenge') ?? '', redirect });
    const back = new URL(redirect);
    back.searchParams.set('code', code);
    back.searchParams.set('state', asked.get('state') ?? '');
    return Response.redirect(back, 302);
  }

  function tokens(form: URLSearchParams): Response {
    const grant = form.get('grant_type') ?? '';
    if (!mayHave(grant, form)) return Response.json({ error: 'invalid_grant' }, { status: 400 });
    grants.push(grant);
    const [token, next] = [randomUUID(), randomUUID()];
    access.add(token);
    refresh.add(next);
    return Response.json({ access_token: token, refresh_token: next, token_type: 'Bearer' });
  }

  function mayHave(grant: string, form: URLSearchParams): boolean {
    if (grant === 'refresh_token') return refresh.delete(form.get('refresh_token') ?? '');
    const code = codes.get(form.get('code') ?? '');
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '');
    return code !== undefined && code.challenge === verifier.digest('base64url');
  }

  return {
    ...web,
    url: `${origin}/mcp`,
    grants,
    expire: (which) => {
      access.clear();
      if (which === 'all') refresh.clear();
    },
    [Symbol.asyncDispose]: async () => {
      await asking[Symbol.asyncDispose]();
      await web[Symbol.asyncDispose]();
    },
  };
}

function metadataOf(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
  };
}

function onlyContent(headers: Headers): Record<string, string> {
  const passed = [...headers].filter(([name]) => /^(?:content-type|accept|mcp-.*)$/.test(name));
  return Object.fromEntries(passed);
}
