import { omitUndefined } from '../../core/internal.ts';
import { isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { errorResponse } from '../wire/responses/error-response.ts';
import { OpenApiSchemas } from './openapi-schemas.ts';
import type { HttpRoute } from './route.ts';

const ERRORS: Readonly<Record<string, string>> = {
  '400': 'The request is invalid. The message names the field.',
  '401': 'The API key is missing or invalid.',
  '403':
    'The scope of the key does not allow this (`x-key-scopes` lists those that do), or the request comes from a web page that is not allowed.',
  '404': 'The resource does not exist in the workspace of the key.',
  '405':
    'The agent is defined by the program that serves it. The header `allow` has the possible methods.',
  '409': 'The request conflicts with the current state.',
  '412': 'Another worker holds the lease.',
  '413': 'The body is too large.',
  '408': 'The body stopped coming.',
  '415': 'The content type is not that of the body.',
  '429': 'Too many requests with this key. `retry-after` is the number of seconds to wait.',
  '500': 'Internal error.',
  '501': 'The server was started without this.',
  '503': 'The server is shutting down, or its store cannot be reached.',
};

/** OpenAPI 3.1 document of the server, generated from the schemas of requests and responses. */
export function toOpenApi(routes: readonly HttpRoute[]): JsonObject {
  const schemas = new OpenApiSchemas();
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    const path = paths[route.path];
    if (path !== undefined) path[route.method.toLowerCase()] = toOperation(route, schemas);
  }
  const error = { 'application/json': { schema: schemas.convert(errorResponse, 'response') } };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Petrichor',
      version: '1',
      description:
        'Agents as durable sessions. Unknown fields of requests are rejected. Responses may get more fields.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ bearer: [] }, { key: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          `Error${status}`,
          { description, headers: errorHeaders(status), content: error },
        ]),
      ),
      schemas: schemas.components(),
    },
  };
}

function toOperation(route: HttpRoute, schemas: OpenApiSchemas): JsonObject {
  const { path, summary, body, open, scopes, method, fileType = 'application/json' } = route;
  const parameters = [
    ...pathParameters(path),
    ...queryParameters(schemas.convert(route.query, 'request')),
    ...headerParameters(route),
  ];
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    ...(open ? { security: [] } : { 'x-key-scopes': [...scopes] }),
    ...omitUndefined({
      parameters: parameters.length > 0 ? parameters : undefined,
      requestBody:
        body === undefined
          ? undefined
          : {
              required: true,
              content: { [fileType]: { schema: schemas.convert(body, 'request') } },
            },
    }),
    responses: {
      '200': toSuccess(route, schemas),
      ...Object.fromEntries(
        listErrorStatuses(route).map((status) => [
          status,
          { $ref: `#/components/responses/Error${status}` },
        ]),
      ),
    },
  };
}

function toSuccess({ streams, response }: HttpRoute, schemas: OpenApiSchemas): JsonObject {
  const type = streams
    ? 'text/event-stream'
    : response.type === 'string'
      ? 'text/plain'
      : 'application/json';
  return {
    description: streams
      ? 'Server-sent events. Each `data` line is one JSON value of this schema; `id` is the cursor.'
      : 'Success.',
    content: { [type]: { schema: schemas.convert(response, 'response') } },
  };
}

/** The error statuses that a route can have. */
function listErrorStatuses({ method, path, open, errors }: HttpRoute): readonly string[] {
  const hasBody = method === 'POST' || method === 'PATCH';
  const statuses = [
    400,
    ...(open ? [] : [401, 429]),
    403,
    ...(path.includes('{') || hasBody ? [404] : []),
    ...(method === 'GET' ? [] : [409]),
    ...(hasBody ? [413, 415] : []),
    500,
    503,
    ...errors,
  ];
  return statuses.toSorted((one, other) => one - other).map(String);
}

function headerParameters({ method, streams, fileType }: HttpRoute): readonly JsonObject[] {
  const header = (name: string, description: string): JsonObject => ({
    name,
    in: 'header',
    description,
    required: false,
    schema: { type: 'string' },
  });
  return [
    ...((method === 'POST' || method === 'PATCH') && fileType === undefined
      ? [header('Idempotency-Key', 'Requests with the same key take effect once.')]
      : []),
    ...(streams
      ? [header('Last-Event-ID', 'Id of the last event received. The stream continues after it.')]
      : []),
  ];
}

function errorHeaders(status: string): JsonObject {
  return {
    'request-id': {
      description: 'Identifies the request in the log of the server.',
      schema: { type: 'string' },
    },
    ...(['429', '503'].includes(status) && {
      'retry-after': {
        description: 'How long to wait before a retry, in seconds.',
        schema: { type: 'integer' },
      },
    }),
  };
}

function pathParameters(path: string): readonly JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ properties = {}, required = [] }: JsonObject): readonly JsonObject[] {
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).map(([name, schema]): JsonObject => {
    const isList = isJsonObject(schema) && schema['type'] === 'array';
    return {
      name: isList ? `${name}[]` : name,
      in: 'query',
      required: Array.isArray(required) && required.includes(name),
      schema,
      ...(isList && { style: 'form', explode: true }),
    };
  });
}
