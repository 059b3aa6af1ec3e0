import { InvalidInputError, isJsonObject } from '../../core/index.ts';
import type { AuthConfig, CallId, Json, JsonObject, ToolConfirmation } from '../../core/index.ts';
import { pending } from '../../tools/index.ts';
import type { Pending, ToolContext } from '../../tools/index.ts';
import type { CredentialService } from './credential-service.ts';

/** What a tool of an app has at hand while it runs. */
export interface FunctionToolContext extends ToolContext {
  /** The same as `callId`. */
  readonly functionCallId: CallId;
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  /** What a person said, when the tool asked with `requestConfirmation` and runs again with the answer. */
  readonly toolConfirmation: ToolConfirmation | undefined;
  /** Of this user; nothing when none was saved. */
  readonly loadCredential: (auth: AuthConfig) => Promise<Json | undefined>;
  readonly saveCredential: (auth: AuthConfig) => Promise<void>;
  /**
   * Return what it gives: the call then waits, also over a restart, until the client has sent a credential, which is kept
   * in the credential service and nowhere else, and the tool runs again. What is secret of `auth` is not told to the client.
   */
  readonly requestCredential: (auth: AuthConfig) => Pending;
  /** Return what it gives: the call then waits for a person's yes or no, and the tool runs again with it. */
  readonly requestConfirmation: (options?: {
    readonly hint?: string;
    readonly payload?: Json;
  }) => Pending;
}

/** How a parked call says what it waits for. */
const CREDENTIAL = 'adk_request_credential';
const CONFIRMATION = 'adk_request_confirmation';

export function createFunctionToolContext(
  context: ToolContext,
  toolName: string,
  credentials: CredentialService,
): FunctionToolContext {
  const { sessionKey, callId, answer } = context;
  return {
    ...context,
    ...sessionKey,
    functionCallId: callId,
    toolConfirmation: parseConfirmation(answer?.resume, answer?.response),
    loadCredential: async (auth) => credentials.loadCredential(auth, sessionKey),
    saveCredential: async (auth) => credentials.saveCredential(auth, sessionKey),
    requestCredential: ({ authScheme, credentialKey }) =>
      pending({
        request: {
          [CREDENTIAL]: { authScheme, ...(credentialKey !== undefined && { credentialKey }) },
        },
        resume: CREDENTIAL,
      }),
    requestConfirmation: (options = {}) =>
      pending({ request: { [CONFIRMATION]: { toolName, ...options } }, resume: CONFIRMATION }),
  };
}

/** Which credential a parked call waits for; nothing when it waits for something else. */
export function parseCredentialRequest(request: Json | undefined): AuthConfig | undefined {
  const credential = isJsonObject(request) ? request[CREDENTIAL] : undefined;
  const authScheme = isJsonObject(credential) ? credential['authScheme'] : undefined;
  if (!isJsonObject(credential) || !isJsonObject(authScheme)) return undefined;
  const { credentialKey } = credential;
  return { authScheme, ...(typeof credentialKey === 'string' && { credentialKey }) };
}

/** What a client answered such a request with. @throws InvalidInputError when there is no credential in it */
export function parseGrantedCredential(requested: AuthConfig, response: JsonObject): AuthConfig {
  const { exchangedAuthCredential } = response;
  if (!isJsonObject(exchangedAuthCredential))
    throw new InvalidInputError(
      'newMessage',
      'answers a request for a credential: its response must hold exchangedAuthCredential, an object.',
    );
  return { ...requested, exchangedAuthCredential };
}

function parseConfirmation(
  resume: Json | undefined,
  response: Json | undefined,
): ToolConfirmation | undefined {
  if (resume !== CONFIRMATION || !isJsonObject(response)) return undefined;
  const { confirmed, payload } = response;
  return { confirmed: confirmed === true, ...(payload !== undefined && { payload }) };
}
