import * as v from 'valibot';
import type { Caller } from '../auth/api-keys.ts';
import type { KeyScopeType } from '../auth/key-scope.ts';

export type Schema = v.GenericSchema<unknown, unknown>;

/** What a route is called with, read and checked. */
export interface RouteCall<Q, B> {
  readonly caller: Caller;
  /** The parts of the path that are in braces. */
  readonly params: (name: string) => string;
  readonly query: Q;
  readonly body: B;
  readonly request: Request;
  /** Cuts the connection that it came over, as far as there is one. */
  readonly destroyConnection: () => void;
  /** The same for every repetition of one request by a client, and for no other request. */
  readonly idempotencyKey: string;
  /** How often the client says that it has sent this before. */
  readonly retryCount: number;
}

/** One thing that the server can do. Plain data and a function: the same that answers is what the OpenAPI document tells. */
export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With the names of its parts in braces. */
  readonly path: string;
  readonly summary: string;
  readonly query: Schema;
  /** Missing: the request has no body, or an empty one. */
  readonly body: Schema | undefined;
  /** It makes something new: counted apart from everything else. */
  readonly creates: boolean;
  /** It answers with events as they come. */
  readonly streams: boolean;
  /** Anybody may ask. */
  readonly open: boolean;
  /** The scopes of keys that open it. */
  readonly scopes: readonly KeyScopeType[];
  readonly run: (call: RouteCall<unknown, unknown>) => Promise<unknown>;
}

interface RouteDefinition<Q extends Schema, B extends Schema> {
  readonly query?: Q;
  readonly body?: B;
  readonly creates?: true;
  readonly streams?: true;
  readonly open?: true;
  /** The scopes of keys that open it. Default: `full`, and `read` for a GET. */
  readonly scopes?: readonly KeyScopeType[];
  /** What it resolves to is sent as JSON, unless it is a response already. */
  readonly run: (call: RouteCall<v.InferOutput<Q>, v.InferOutput<B>>) => Promise<unknown>;
}

/** The query and the body of a route that names none. */
export const emptyObject: v.GenericSchema<unknown, Readonly<Record<string, never>>> = v.object({});

/** @param line method, path and summary: `GET /v1/agents: List agents` */
export function defineRoute<
  Q extends Schema = typeof emptyObject,
  B extends Schema = typeof emptyObject,
>(
  line: `${HttpRoute['method']} /${string}: ${string}`,
  definition: RouteDefinition<Q, B>,
): HttpRoute {
  const [, method = 'GET', path = '', summary = ''] = /^(\w+) (\S+): (.*)$/.exec(line) ?? [];
  return {
    method: method === 'POST' || method === 'DELETE' ? method : 'GET',
    path,
    summary,
    query: definition.query ?? emptyObject,
    body: definition.body,
    creates: definition.creates === true,
    streams: definition.streams === true,
    open: definition.open === true,
    scopes: definition.scopes ?? (method === 'GET' ? ['full', 'read'] : ['full']),
    run: definition.run,
  };
}
