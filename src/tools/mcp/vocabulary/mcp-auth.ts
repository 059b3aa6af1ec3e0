import type { CredentialStore } from '../../auth/credential-store.ts';

/** How a server is told who we are: with a token somebody else obtained, or by OAuth. */
export type McpAuth = McpBearer | McpOAuth;

/** A token, asked for before every request: hand out a fresh one when the old one ends. */
export interface McpBearer {
  readonly token: () => string | undefined | Promise<string | undefined>;
}

/**
 * OAuth 2.1: an authorization code with PKCE, and its refresh. Tokens, and our registration with the server that gives
 * them, are kept in `credentials`: another process that has them needs nobody to sign in.
 */
export interface McpOAuth {
  readonly credentials: CredentialStore;
  /** Where the browser is sent when the person has agreed. */
  readonly redirectUrl: string;
  /**
   * Shows a person the address where they agree, and resolves with the address their browser was sent back to.
   * Rejects when nobody can be asked.
   */
  readonly authorize: (address: URL) => Promise<string | URL>;
  readonly clientName?: string;
  /** When the program is registered already. Otherwise it registers itself. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /**
   * Where the program describes itself (a client ID metadata document). A server that takes such an address as client id
   * is given it, and nothing is registered.
   */
  readonly clientMetadataUrl?: string;
  readonly scope?: string;
}

export function isBearer(auth: McpAuth): auth is McpBearer {
  return 'token' in auth;
}
