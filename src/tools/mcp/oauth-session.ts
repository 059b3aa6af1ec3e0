import { randomBytes } from 'node:crypto';
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

type Kind = 'client' | 'tokens' | 'verifier' | 'discovery';

/**
 * Who we are to one server: what the client of the protocol asks for, kept in the credential store under
 * `mcp <address>`. A sign-in in progress stays here until it is finished.
 */
export class OAuthSession implements OAuthClientProvider {
  readonly #server: string;
  readonly #key: string;
  readonly #auth: McpOAuth;
  readonly #credentials: CredentialStore;
  #state = '';
  #signIn: Promise<string | URL> | undefined;

  constructor(server: string, url: string, auth: McpOAuth) {
    this.#server = server;
    this.#key = `mcp ${url}`;
    this.#auth = auth;
    this.#credentials = auth.credentials;
  }

  /** What the person's browser came back with; undefined when nobody was asked. @throws McpUnauthorizedError */
  async signedIn(): Promise<URLSearchParams | undefined> {
    const signIn = this.#signIn;
    if (signIn === undefined) return undefined;
    this.#signIn = undefined;
    const back = await signIn.catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new McpUnauthorizedError(this.#server, `nobody signed in: ${reason}`, { cause });
    });
    const { searchParams } = new URL(back);
    if (searchParams.get('state') !== this.#state) {
      throw new McpUnauthorizedError(
        this.#server,
        'the browser came back from another sign-in than the one we began. Try again.',
      );
    }
    const refusal = searchParams.get('error');
    if (refusal !== null) throw new McpUnauthorizedError(this.#server, refusal);
    return searchParams;
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
    this.#state = randomBytes(24).toString('base64url');
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

  redirectToAuthorization(address: URL): void {
    this.#signIn = this.#auth.authorize(address);
    // It is awaited when the client has given up on the request that needed it.
    this.#signIn.catch(() => undefined);
  }

  async saveCodeVerifier(verifier: string): Promise<void> {
    await this.#put('verifier', { verifier });
  }

  async codeVerifier(): Promise<string> {
    const { verifier } = (await this.#get<{ verifier: string }>('verifier')) ?? {};
    if (verifier === undefined) {
      throw new McpUnauthorizedError(this.#server, 'no sign-in was begun. Try again.');
    }
    return verifier;
  }

  async saveDiscoveryState(found: OAuthDiscoveryState): Promise<void> {
    await this.#put('discovery', found);
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return this.#get<OAuthDiscoveryState>('discovery');
  }

  async invalidateCredentials(scope: 'all' | Kind): Promise<void> {
    const kinds: readonly Kind[] =
      scope === 'all' ? ['client', 'tokens', 'verifier', 'discovery'] : [scope];
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
