import { createHash, randomBytes } from 'node:crypto';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { decodeJson, encodeJson, isJsonObject } from '../../core/index.ts';
import type { CredentialStore } from '../credentials.ts';
import type { McpOAuth } from './mcp-auth.ts';
import { McpUnauthorizedError } from './mcp-errors.ts';

type Kind = 'client' | 'tokens' | 'discovery';

/**
 * Who we are to one server: what the client of the protocol asks for, kept in the credential store under
 * `mcp <address>`. A sign-in in progress stays here until it is finished.
 */
export class OAuthSession implements OAuthClientProvider {
  readonly #server: string;
  readonly #key: string;
  readonly #auth: McpOAuth;
  readonly #credentials: CredentialStore;
  #state = newState();
  /** By their challenge: requests that are refused at the same time each make one. */
  readonly #verifiers = new Map<string, string>();
  #verifier: string | undefined;
  #signIn: Promise<string | URL> | undefined;

  constructor(server: string, url: string, auth: McpOAuth) {
    this.#server = server;
    this.#key = `mcp ${url}`;
    this.#auth = auth;
    this.#credentials = auth.credentials;
  }

  /** What the person's browser came back with; undefined when nobody was asked. @throws McpUnauthorizedError */
  async signedIn(): Promise<URLSearchParams | undefined> {
    if (this.#signIn === undefined) return undefined;
    const back = await this.#cameBack(this.#signIn);
    const { searchParams } = new URL(back);
    const expected = this.#state;
    this.#state = newState();
    if (searchParams.get('state') !== expected) {
      throw new McpUnauthorizedError(
        this.#server,
        'the browser came back from another sign-in than the one we began. Try again.',
      );
    }
    const refusal = searchParams.get('error');
    if (refusal !== null) throw new McpUnauthorizedError(this.#server, refusal);
    return searchParams;
  }

  async #cameBack(signIn: Promise<string | URL>): Promise<string | URL> {
    try {
      return await signIn;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new McpUnauthorizedError(this.#server, `nobody signed in: ${reason}`, { cause });
    } finally {
      this.#signIn = undefined;
    }
  }

  get redirectUrl(): string {
    return this.#auth.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { redirectUrl, clientName = 'Petrichor', scope, clientSecret } = this.#auth;
    return {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: clientSecret === undefined ? 'none' : 'client_secret_post',
      ...(scope !== undefined && { scope }),
    };
  }

  state(): string {
    return this.#state;
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret } = this.#auth;
    if (clientId === undefined) return this.#get<StoredOAuthClientInformation>('client');
    return {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    };
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.#put('client', client);
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    return this.#get<StoredOAuthTokens>('tokens');
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.#put('tokens', tokens);
  }

  /** Requests that are refused at the same time share one sign-in: the first, with its state and its verifier. */
  redirectToAuthorization(address: URL): void {
    if (this.#signIn !== undefined) return;
    this.#verifier = this.#verifiers.get(address.searchParams.get('code_challenge') ?? '');
    this.#verifiers.clear();
    this.#signIn = this.#auth.authorize(address);
    // It is awaited when the client has given up on the request that needed it.
    this.#signIn.catch(() => undefined);
  }

  saveCodeVerifier(verifier: string): void {
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (this.#signIn === undefined) this.#verifiers.set(challenge, verifier);
  }

  codeVerifier(): string {
    if (this.#verifier !== undefined) return this.#verifier;
    throw new McpUnauthorizedError(this.#server, 'no sign-in was begun. Try again.');
  }

  async saveDiscoveryState(found: OAuthDiscoveryState): Promise<void> {
    await this.#put('discovery', found);
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return this.#get<OAuthDiscoveryState>('discovery');
  }

  async invalidateCredentials(scope: 'all' | 'verifier' | Kind): Promise<void> {
    if (scope === 'verifier') return;
    const kinds = scope === 'all' ? (['client', 'tokens', 'discovery'] as const) : [scope];
    for (const kind of kinds) await this.#credentials.delete(this.#keyOf(kind));
  }

  // What is read was written by this class: the client of the protocol checks it once more.
  async #get<T>(kind: Kind): Promise<T | undefined> {
    const value = await this.#credentials.get(this.#keyOf(kind));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store gives back what was put under this key
    return isJsonObject(value) ? (structuredClone(value) as T) : undefined;
  }

  async #put(kind: Kind, value: object): Promise<void> {
    await this.#credentials.put(this.#keyOf(kind), decodeJson(encodeJson(value, kind), kind));
  }

  #keyOf(kind: Kind): string {
    return `${this.#key} ${kind}`;
  }
}

function newState(): string {
  return randomBytes(24).toString('base64url');
}
