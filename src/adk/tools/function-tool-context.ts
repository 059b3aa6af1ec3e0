import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, isJsonObject } from '../../core/index.ts';
import type { AuthConfig, CallId, Json, JsonObject, ToolConfirmation } from '../../core/index.ts';
import { pending } from '../../tools/index.ts';
import type { Pending, ToolContext } from '../../tools/index.ts';
import type { LiveRequestQueue } from '../live/live-request-queue.ts';
import type { CredentialService } from './credential-service.ts';

/** The context of a running function tool. */
export interface FunctionToolContext extends ToolContext {
  /** The same as `callId`. */
  readonly functionCallId: CallId;
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  /** In a streaming tool of a live session: a copy of every request of the session, such as video frames. */
  readonly inputStream?: LiveRequestQueue;
  /** The person's answer, if the tool called `requestConfirmation` and runs again. */
  readonly toolConfirmation: ToolConfirmation | undefined;
  /** Returns this user's saved credential, or `undefined`. */
  readonly loadCredential: (auth: AuthConfig) => Promise<Json | undefined>;
  readonly saveCredential: (auth: AuthConfig) => Promise<void>;
  /**
   * Asks the client for a credential. Return the result from the tool. The call then waits, also across restarts, until
   * the client sends a credential; then the tool runs again. The credential is kept only in the credential service.
   * Secrets in `auth` are not sent to the client.
   */
  readonly requestCredential: (auth: AuthConfig) => Pending;
  /**
   * Asks a person to confirm the call. Return the result from the tool. The call then waits for the answer, and the
   * tool runs again with it.
   */
  readonly requestConfirmation: (options?: {
    readonly hint?: string;
    readonly payload?: Json;
  }) => Pending;
}

/** Keys in the request of a parked call that name what it waits for. */
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
          [CREDENTIAL]: { authScheme, ...omitUndefined({ credentialKey }) },
        },
        resume: CREDENTIAL,
      }),
    requestConfirmation: (options = {}) => pendingConfirmation(toolName, options),
  };
}

/** The result of a tool that asks a person to confirm its call. */
export function pendingConfirmation(toolName: string, request: JsonObject): Pending {
  return pending({ request: { [CONFIRMATION]: { toolName, ...request } }, resume: CONFIRMATION });
}

/** Returns the credential that a parked call waits for, or `undefined` if it waits for something else. */
export function parseCredentialRequest(request: Json | undefined): AuthConfig | undefined {
  const credential = isJsonObject(request) ? request[CREDENTIAL] : undefined;
  const authScheme = isJsonObject(credential) ? credential['authScheme'] : undefined;
  if (!isJsonObject(credential) || !isJsonObject(authScheme)) return undefined;
  const { credentialKey } = credential;
  return {
    authScheme,
    ...omitUndefined({
      credentialKey: typeof credentialKey === 'string' ? credentialKey : undefined,
    }),
  };
}

/**
 * Reads the client's answer to a credential request.
 * @throws InvalidInputError if it contains no credential
 */
export function parseGrantedCredential(requested: AuthConfig, response: JsonObject): AuthConfig {
  const { exchangedAuthCredential } = response;
  if (!isJsonObject(exchangedAuthCredential))
    throw new InvalidInputError(
      'newMessage',
      'answers a credential request: its response must contain exchangedAuthCredential, an object.',
    );
  return { ...requested, exchangedAuthCredential };
}

function parseConfirmation(
  resume: Json | undefined,
  response: Json | undefined,
): ToolConfirmation | undefined {
  if (resume !== CONFIRMATION || !isJsonObject(response)) return undefined;
  const { confirmed, payload } = response;
  return { confirmed: confirmed === true, ...omitUndefined({ payload }) };
}
