import { omitUndefined } from '../../core/internal.ts';
import { checkOptions, InvalidInputError, optionTable } from '../../core/index.ts';
import type { JsonObject, OptionTable } from '../../core/index.ts';
import {
  createRestCaller,
  OpenApiDocument,
  operationName,
  toRestOperation,
} from '../../tools/openapi/index.ts';
import type { CallOperation, RestCallerOptions, RestOperation } from '../../tools/openapi/index.ts';
import { AuthenticatedFunctionTool } from './authenticated-function-tool.ts';
import { FunctionTool } from './base-tool.ts';
import { BaseToolset } from './base-toolset.ts';
import type { ToolFilter } from './base-toolset.ts';
import type { CompilableTool } from './compile-context.ts';

/** Options of `OpenAPIToolset`. */
export interface OpenAPIToolsetOptions {
  /** The document of version 3.0 or 3.1, as an object. Read YAML with a parser of your choice. */
  readonly specDict?: object;
  /** The document as JSON text. */
  readonly specStr?: string;
  /**
   * Where the operations may be called: `https://api.example.com`, or `https://*.example.com` for public addresses only.
   * Required: a document alone opens no connection.
   */
  readonly allowedOrigins: readonly string[];
  /** The address of the API. Default: the first server of the document. */
  readonly baseUrl?: string;
  /** How callers sign in, as a security scheme of OpenAPI. Default: the one that each operation requires. */
  readonly authScheme?: JsonObject;
  /**
   * The credential of the program: `{ apiKey }`, `{ http: { credentials: { token } } }` or `{ oauth2: { accessToken } }`.
   * Default: each user has their own, and a call without one waits until the client sends it.
   */
  readonly authCredential?: JsonObject;
  /** The name under which users' credentials are kept. Default: one for each scheme. */
  readonly credentialKey?: string;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Which operations are tools: their names, or a function that is called each time. Default: all. */
  readonly toolFilter?: ToolFilter;
  /** The beginning of every name, followed by `_`. */
  readonly prefix?: string;
  /** The largest response, in bytes. Default: 1,000,000. */
  readonly maxBytes?: number;
  /** Resolves host names. Default: the system's resolver. */
  readonly resolve?: NonNullable<RestCallerOptions['resolve']>;
}

/** The options of `OpenAPIToolset`. */
export const OPENAPI_TOOLSET_OPTIONS: OptionTable = optionTable<OpenAPIToolsetOptions>(
  'OpenAPIToolset',
  {
    specDict: true,
    specStr: true,
    allowedOrigins: true,
    baseUrl: true,
    authScheme: true,
    authCredential: true,
    credentialKey: true,
    headers: true,
    toolFilter: true,
    prefix: true,
    maxBytes: true,
    resolve: true,
  },
  { headerProvider: 'headers', document: 'specDict', allowedHosts: 'allowedOrigins' },
);

/**
 * The operations of an OpenAPI document as tools. Credentials are added to requests only: they are no arguments, and are
 * in no log, journal or prompt. `GET` and `HEAD` are read-only, `PUT` and `DELETE` are idempotent.
 */
export class OpenAPIToolset extends BaseToolset {
  readonly #tools: readonly CompilableTool[];

  /** @throws UnknownFieldError, InvalidInputError, InvalidToolError */
  constructor(options: OpenAPIToolsetOptions) {
    checkOptions(OPENAPI_TOOLSET_OPTIONS, options);
    const { toolFilter, headers, maxBytes, resolve, prefix } = options;
    super(prefix ?? 'openapi', omitUndefined({ toolFilter }));
    if (!Array.isArray(options.allowedOrigins) || options.allowedOrigins.length === 0)
      throw new InvalidInputError(
        'allowedOrigins',
        'must list the origins that may be called, such as ["https://api.example.com"].',
      );
    const call = createRestCaller({
      allowedOrigins: options.allowedOrigins,
      ...omitUndefined({ headers, maxBytes, resolve }),
    });
    const document = new OpenApiDocument(readDocument(options));
    const isWanted = Array.isArray(toolFilter)
      ? (name: string) => toolFilter.includes(name)
      : () => true;
    this.#tools = document
      .operations()
      .map((one) => ({
        one,
        name: prefix === undefined ? operationName(one) : `${prefix}_${operationName(one)}`,
      }))
      .filter(({ name }) => isWanted(name))
      .map(({ one, name }) => toTool({ ...toRestOperation(document, one), name }, options, call));
  }

  async getTools(): Promise<readonly CompilableTool[]> {
    return this.#tools;
  }
}

function toTool(
  operation: RestOperation,
  { authScheme, authCredential, credentialKey, baseUrl }: OpenAPIToolsetOptions,
  call: CallOperation,
): CompilableTool {
  const scheme = authScheme ?? operation.authScheme;
  const own: RestOperation = {
    ...operation,
    authScheme: scheme,
    baseUrl: baseUrl?.replace(/\/$/, '') ?? operation.baseUrl,
  };
  const { name, description, parameters, method } = own;
  const readOnly = method === 'get' || method === 'head';
  const idempotent = method === 'put' || method === 'delete';
  const definition = { name, description, parameters, readOnly, idempotent } as const;
  if (scheme === undefined || authCredential !== undefined)
    return new FunctionTool<JsonObject>({
      ...definition,
      execute: async (args, { signal }) => call(own, args, { signal, credential: authCredential }),
    });
  return new AuthenticatedFunctionTool<JsonObject>({
    ...definition,
    authConfig: { authScheme: scheme, ...omitUndefined({ credentialKey }) },
    execute: async (args, { signal }, credential) => call(own, args, { signal, credential }),
  });
}

function readDocument({ specDict, specStr }: OpenAPIToolsetOptions): unknown {
  if ((specDict === undefined) === (specStr === undefined))
    throw new InvalidInputError('specDict', 'or specStr must be set, and not both.');
  if (specStr === undefined) return specDict;
  try {
    return JSON.parse(specStr);
  } catch {
    throw new InvalidInputError(
      'specStr',
      'must be JSON. Read YAML with a parser of your choice, and pass the object as specDict.',
    );
  }
}
