import { isBearer } from '../vocabulary/mcp-auth.ts';
import type { McpToolsetOptions } from '../vocabulary/mcp-options.ts';
import type { McpSdk } from '../vocabulary/mcp-sdk.ts';
import type { McpSecrets } from '../vocabulary/mcp-secrets.ts';
import { AuthorizationFlow } from './authorization-flow.ts';
import { OAuthSession } from './oauth-session.ts';

/** The OAuth flow of an HTTP server with `auth` settings for OAuth; undefined for any other. */
export function createAuthorizationFlow(
  options: McpToolsetOptions,
  { sdk, secrets }: { readonly sdk: McpSdk; readonly secrets: McpSecrets },
): AuthorizationFlow | undefined {
  if ('command' in options || options.auth === undefined || isBearer(options.auth)) {
    return undefined;
  }
  const { name, url, auth } = options;
  return new AuthorizationFlow(name, url, {
    sdk,
    session: new OAuthSession({ server: name, url, secrets }, auth),
  });
}

/** The auth provider of the transport: the OAuth flow, or the bearer token of the settings. */
export function createAuthProvider(
  options: McpToolsetOptions,
  flow: AuthorizationFlow | undefined,
  secrets: McpSecrets,
): { readonly authProvider?: AuthorizationFlow | { token: () => Promise<string | undefined> } } {
  if (flow !== undefined) return { authProvider: flow };
  if ('command' in options || options.auth === undefined || !isBearer(options.auth)) return {};
  const { token: getToken } = options.auth;
  const token = async (): Promise<string | undefined> => {
    const value = await getToken();
    secrets.addToken(value);
    return value;
  };
  return { authProvider: { token } };
}
