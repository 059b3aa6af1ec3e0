import type { CredentialStore } from '../../auth/credential-store.ts';

/** How to authenticate with a server: with an existing token, or by OAuth. */
export type McpAuth = McpBearer | McpOAuth;

/** Supplies a token. It is called before every request, so it can return a renewed token. */
export interface McpBearer {
  readonly token: () => string | undefined | Promise<string | undefined>;
}

/**
 * OAuth 2.1: the authorization code flow with PKCE, and refresh. Tokens and client registrations
 * are stored in `credentials`; a process that shares the store needs no new authorization.
 */
export interface McpOAuth {
  readonly credentials: CredentialStore;
  /** The address to which the authorization server redirects the browser. */
  readonly redirectUrl: string;
  /**
   * Shows a person the address where they authorize the access, and resolves with the address their
   * browser was redirected to. Rejects if no one can be asked.
   */
  readonly authorize: (address: URL) => Promise<string | URL>;
  readonly clientName?: string;
  /** The client id of a registered program. Default: dynamic registration. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /**
   * The address of the program's client ID metadata document. If the authorization server supports
   * such documents, it is the client id and nothing is registered.
   */
  readonly clientMetadataUrl?: string;
  readonly scope?: string;
}

export function isBearer(auth: McpAuth): auth is McpBearer {
  return 'token' in auth;
}
