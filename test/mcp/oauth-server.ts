import { createHash, randomUUID } from 'node:crypto';
import { openElicitationServer } from './elicitation-server.ts';
import { openWebServer, type WebServer } from './web-server.ts';

/**
 * The elicitation server behind OAuth. It accepts only valid tokens of the authorization server
 * beside it.
 */
export interface OAuthServer extends WebServer {
  readonly url: string;
  /** The grants that returned tokens, oldest first. */
  readonly grants: readonly string[];
  /** Invalidates all access tokens; with `all`, the refresh tokens too. */
  readonly expire: (which: 'access' | 'all') => void;
  /** From now on, tokens must have this scope. */
  readonly demand: (scope: string) => void;
  /** From now on, every request gets this body with status 500. */
  readonly say: (words: string) => void;
  /** Delays the next rejection until the returned function is called. */
  readonly holdRefusal: () => () => void;
}

export async function openOAuthServer(): Promise<OAuthServer> {
  const elicitationServer = await openElicitationServer();
  const grants: string[] = [];
  const access = new Map<string, string>();
  const refresh = new Map<string, string>();
  const clients = new Set<string>();
  const codes = new Map<string, { readonly challenge: string; readonly scope: string }>();
  let origin = '';
  let demanded = '';
  let errorBody = '';
  let held = Promise.resolve();

  const web = await openWebServer(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case '/mcp':
        return guarded(request);
      case '/.well-known/oauth-protected-resource/mcp':
        return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
      case '/.well-known/oauth-authorization-server':
        return Response.json(toMetadata(origin));
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
    const scope = access.get(token);
    const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
    if (scope === undefined) {
      const refusal = held;
      held = Promise.resolve();
      await refusal;
      return refused(401, metadata);
    }
    if (!scope.split(' ').includes(demanded) && demanded !== '') {
      return refused(403, `error="insufficient_scope", scope="${demanded}", ${metadata}`);
    }
    if (errorBody !== '') return new Response(errorBody, { status: 500 });
    const { method, headers } = request;
    const body = method === 'POST' ? { body: await request.text() } : {};
    return fetch(elicitationServer.url, { method, headers: onlyContent(headers), ...body });
  }

  function registered(client: object): Response {
    const id = randomUUID();
    clients.add(id);
    return Response.json({ ...client, client_id: id }, { status: 201 });
  }

  /** The person authorizes at once. */
  function agreed(query: URLSearchParams): Response {
    const redirect = query.get('redirect_uri') ?? '';
    if (
      !clients.has(query.get('client_id') ?? '') ||
      query.get('code_challenge_method') !== 'S256'
    ) {
      return new Response(null, { status: 400 });
    }
    const code = randomUUID();
    const scope = query.get('scope') ?? '';
    codes.set(code, { challenge: query.get('code_challenge') ?? '', scope });
    const back = new URL(redirect);
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    return Response.redirect(back, 302);
  }

  function tokens(form: URLSearchParams): Response {
    const grant = form.get('grant_type') ?? '';
    const scope = getScope(grant, form);
    if (scope === undefined) return Response.json({ error: 'invalid_grant' }, { status: 400 });
    grants.push(grant);
    const [token, next] = [randomUUID(), randomUUID()];
    access.set(token, scope);
    refresh.set(next, scope);
    const about = { token_type: 'Bearer', ...(scope !== '' && { scope }) };
    return Response.json({ access_token: token, refresh_token: next, ...about });
  }

  /**
   * The scope of a grant; undefined if it is not valid. Codes and refresh tokens are valid once.
   */
  function getScope(grant: string, form: URLSearchParams): string | undefined {
    if (grant === 'refresh_token') {
      const token = form.get('refresh_token') ?? '';
      const scope = refresh.get(token);
      refresh.delete(token);
      return scope;
    }
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '');
    return code?.challenge === verifier.digest('base64url') ? code.scope : undefined;
  }

  return {
    ...web,
    url: `${origin}/mcp`,
    grants,
    expire: (which) => {
      access.clear();
      if (which === 'all') refresh.clear();
    },
    demand: (scope) => {
      demanded = scope;
    },
    say: (body) => {
      errorBody = body;
    },
    holdRefusal: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    [Symbol.asyncDispose]: async () => {
      await elicitationServer[Symbol.asyncDispose]();
      await web[Symbol.asyncDispose]();
    },
  };
}

function refused(status: number, why: string): Response {
  return new Response(null, { status, headers: { 'www-authenticate': `Bearer ${why}` } });
}

function toMetadata(origin: string): object {
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
