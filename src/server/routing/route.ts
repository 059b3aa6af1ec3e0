import * as v from 'valibot';
import type { Caller } from '../auth/api-keys.ts';
import type { KeyScopeType } from '../auth/key-scope.ts';
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
  readonly method: 'GET' | 'POST' | 'DELETE';
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
  /** Scopes of keys that may call it. */
  readonly scopes: readonly KeyScopeType[];
  readonly run: (call: RouteCall<unknown, unknown>) => Promise<unknown>;
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
  /** Scopes of keys that may call it. Default: `full`, and `read` for a GET. */
  readonly scopes?: readonly KeyScopeType[];
  /** The result is sent as JSON, unless it is a Response. */
  readonly run: (
    call: RouteCall<v.InferOutput<Q>, v.InferOutput<B>>,
  ) => Promise<v.InferOutput<R> | Response>;
}

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
  const [, method = 'GET', path = '', summary = ''] = /^(\w+) (\S+): (.*)$/.exec(line) ?? [];
  return {
    method: method === 'POST' || method === 'DELETE' ? method : 'GET',
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
    scopes: definition.scopes ?? (method === 'GET' ? ['full', 'read'] : ['full']),
    run: definition.run,
  };
}
