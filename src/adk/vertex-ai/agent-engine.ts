import type { Client } from '@google-cloud/vertexai';
import { importOptional, omitUndefined } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import { MissingVertexAiPackageError, VertexAiRequestError } from './vertex-ai-errors.ts';

/** Which Agent Engine of Vertex AI is used, and how it is reached. */
export interface AgentEngineOptions {
  /** Id of the Google Cloud project. Required without `client`. */
  readonly projectId?: string;
  /** Region, for example `us-central1`. Required without `client`. */
  readonly location?: string;
  /**
   * Id of the Agent Engine, also called reasoning engine, or its resource name. Default for sessions: the app name, which
   * must then be such an id.
   */
  readonly agentEngineId?: string;
  /** An HTTPS URL instead of that of the location. Unencrypted HTTP is accepted for loopback addresses. */
  readonly apiEndpoint?: string;
  /**
   * An existing client of `@google-cloud/vertexai`; the project, the location and the URL are then its own. Default: a new
   * client with Application Default Credentials.
   */
  readonly client?: Client;
}

/** The API of Agent Engine in Google's client. */
type AgentEngineApi = Client['agentEnginesInternal'];

/** Limit of one request, in milliseconds. */
export const REQUEST_TIMEOUT_MS = 30_000;

/** The client of an Agent Engine. It is loaded and opened by the first request. */
export class AgentEngine {
  readonly #options: AgentEngineOptions;
  #api: Promise<AgentEngineApi> | undefined;

  /** @throws InvalidInputError */
  constructor(options: AgentEngineOptions) {
    const { projectId, location, agentEngineId, apiEndpoint, client } = options;
    if (client === undefined) {
      checkName('projectId', projectId);
      checkName('location', location);
    }
    if (apiEndpoint !== undefined) checkEndpoint(apiEndpoint);
    if (agentEngineId !== undefined) parseEngineId(agentEngineId, 'agentEngineId');
    this.#options = options;
  }

  /**
   * Returns the resource of the Agent Engine: `reasoningEngines/456`.
   * @throws InvalidInputError if no Agent Engine is configured and the app name is none
   */
  resourceName(appName: string): string {
    const { agentEngineId } = this.#options;
    const id =
      agentEngineId === undefined
        ? parseEngineId(appName, 'appName')
        : parseEngineId(agentEngineId, 'agentEngineId');
    return `reasoningEngines/${id}`;
  }

  /**
   * Makes a request.
   * @throws VertexAiRequestError, MissingVertexAiPackageError
   */
  async call<T>(operation: string, request: (api: AgentEngineApi) => Promise<T>): Promise<T> {
    this.#api ??= this.#open();
    const api = await this.#api;
    try {
      return await request(api);
    } catch (cause) {
      throw new VertexAiRequestError(operation, readStatus(cause), { cause: toPlainError(cause) });
    }
  }

  async #open(): Promise<AgentEngineApi> {
    const { projectId, location, apiEndpoint, client } = this.#options;
    if (client !== undefined) return client.agentEnginesInternal;
    const sdk = await importOptional(
      import('@google-cloud/vertexai'),
      (cause) => new MissingVertexAiPackageError({ cause }),
    );
    return new sdk.Client(omitUndefined({ project: projectId, location, apiEndpoint }))
      .agentEnginesInternal;
  }
}

function parseEngineId(value: string, field: string): string {
  const [, id] =
    /^(?:projects\/[\w.:-]+\/locations\/[\w-]+\/reasoningEngines\/)?(\d{1,32})$/.exec(value) ?? [];
  if (id !== undefined) return id;
  throw new InvalidInputError(
    field,
    `is "${value}", which is no Agent Engine: pass agentEngineId, as "456" or as "projects/…/locations/…/reasoningEngines/456".`,
  );
}

/** Project and location are parts of URLs. */
function checkName(field: string, value: string | undefined): void {
  if (value === undefined || !/^[\w][\w.:-]{0,127}$/.test(value))
    throw new InvalidInputError(
      field,
      value === undefined
        ? 'is required: pass it, or a client.'
        : `is "${value}", which is no name of Google Cloud: pass letters, digits, "-", "_", "." and ":".`,
    );
}

// The URL can contain credentials, so the error does not name it.
function checkEndpoint(value: string): void {
  const url = URL.parse(value);
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback);
  if (url !== null && isSafe && url.username === '' && url.password === '' && url.search === '')
    return;
  throw new InvalidInputError(
    'apiEndpoint',
    'must be an HTTPS URL without credentials and query; HTTP is accepted for loopback addresses.',
  );
}

function readStatus(error: unknown): number | undefined {
  const status = typeof error === 'object' && error !== null ? Reflect.get(error, 'status') : 0;
  return typeof status === 'number' && status > 0 ? status : undefined;
}

/** The error without its further members: those of Google's libraries can hold requests with their credentials. */
function toPlainError(error: unknown): Error {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return Object.assign(new Error(message), { name });
}
