import * as v from 'valibot';
import type { Caller } from '../auth/api-keys.ts';
import type { KeyScopeType } from '../auth/key-scope.ts';
import type { JsonObject } from '../../core/index.ts';
import type { HttpError } from '../http/http-error.ts';
import type { IdempotentRequest } from '../idempotency/idempotent-request.ts';

export type Schema = v.GenericSchema<unknown, unknown>;

/** A validated request, as a route receives it. */
export interface RouteCall<Q, B> {
  readonly caller: Caller;
  /** The value of a path parameter. */
  readonly params: (name: string) => string;
  readonly query: Q;
  readonly body: B;
  readonly request: Request;
  /** Whether the key of the request is still valid. A stream asks from time to time. */
  readonly isKeyValid: () => Promise<boolean>;
  /** Destroys the connection of the request, if there is one. */
  readonly destroyConnection: () => void;
  /** Its key is the same for every retry of one client request, and different for every other request. */
  readonly idempotentRequest: IdempotentRequest;
  /** How many retries the client reports to have sent before. */
  readonly retryCount: number;
}

/**
 * One route of the server, as plain data and a function. The same data answers requests and generates the OpenAPI
 * document.
 */
export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path parameters are in braces. */
  readonly path: string;
  readonly summary: string;
  readonly query: Schema;
  /** Undefined: the request has no body, or an empty one. */
  readonly body: Schema | undefined;
  /** Describes the successful response: its JSON, its text, or one event of its stream. */
  readonly response: Schema;
  /** Error statuses besides those of every route. */
  readonly errors: readonly number[];
  /** True if it creates a resource; such requests have a separate rate limit. */
  readonly creates: boolean;
  /** True if it responds with an event stream. */
  readonly streams: boolean;
  /**
   * True if it writes `idempotentRequest.completion` in the transaction of its effect. Otherwise the request is stored
   * before the route runs.
   */
  readonly storesRequest: boolean;
  /** True if it needs no key. */
  readonly open: boolean;
  /** True if it may change something: a server that is read-only refuses it. */
  readonly writes: boolean;
  /** The content type of a body that the route reads itself. Undefined: the body is JSON. */
  readonly fileType: string | undefined;
  /** Scopes of keys that may call it. */
  readonly scopes: readonly KeyScopeType[];
  readonly run: (call: RouteCall<unknown, unknown>) => Promise<unknown>;
  /** The body of an error response. Default: that of the Managed Agents protocol. */
  readonly toErrorBody?: (error: HttpError, requestId: string) => JsonObject;
}

interface RouteDefinition<Q extends Schema, B extends Schema, R extends Schema> {
  readonly query?: Q;
  readonly body?: B;
  readonly response: R;
  readonly errors?: readonly number[];
  readonly creates?: true;
  readonly streams?: true;
  readonly storesRequest?: true;
  readonly open?: true;
  /** The content type of a body that the route reads itself, within its own limits. `body` describes it. */
  readonly fileType?: string;
  /** For a GET that changes something. */
  readonly writes?: true;
  /** Scopes of keys that may call it. Default: `full`, and for a GET also `read` and `console`. */
  readonly scopes?: readonly KeyScopeType[];
  /** The result is sent as JSON, unless it is a Response. */
  readonly run: (
    call: RouteCall<v.InferOutput<Q>, v.InferOutput<B>>,
  ) => Promise<v.InferOutput<R> | Response>;
}

const METHODS: readonly HttpRoute['method'][] = ['GET', 'POST', 'PATCH', 'DELETE'];

/** The query and body schema of a route that declares none. */
export const emptyObject: v.GenericSchema<unknown, Readonly<Record<string, never>>> = v.object({});

/**
 * Builds a route.
 * @param line method, path and summary: `GET /v1/agents: List agents`
 */
export function defineRoute<
  Q extends Schema = typeof emptyObject,
  B extends Schema = typeof emptyObject,
  R extends Schema = Schema,
>(
  line: `${HttpRoute['method']} /${string}: ${string}`,
  definition: RouteDefinition<Q, B, R>,
): HttpRoute {
  const [, word = '', path = '', summary = ''] = /^(\w+) (\S+): (.*)$/.exec(line) ?? [];
  const method = METHODS.find((known) => known === word) ?? 'GET';
  return {
    method,
    path,
    summary,
    query: definition.query ?? emptyObject,
    body: definition.body,
    response: definition.response,
    errors: definition.errors ?? [],
    creates: definition.creates === true,
    streams: definition.streams === true,
    storesRequest: definition.storesRequest === true,
    open: definition.open === true,
    fileType: definition.fileType,
    writes: method !== 'GET' || definition.writes === true,
    scopes: definition.scopes ?? (method === 'GET' ? ['full', 'read', 'console'] : ['full']),
    run: definition.run,
  };
}
