import { omitUndefined } from '../../core/internal.ts';
import { toJsonSchema } from '@valibot/to-json-schema';
import { isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { HttpRoute, Schema } from './route.ts';

const ERRORS: Readonly<Record<string, string>> = {
  '400': 'The request is invalid. The message names the field.',
  '401': 'The API key is missing or invalid.',
  '403':
    'The scope of the key does not allow this (`x-key-scopes` lists those that do), or the request comes from a web page that is not allowed.',
  '404': 'The resource does not exist in the workspace of the key.',
  '409': 'The request conflicts with the current state.',
  '413': 'The body is too large.',
  '415': 'The content type is not application/json.',
  '429': 'Too many requests with this key. `retry-after` is the number of seconds to wait.',
  '500': 'Internal error.',
  '503': 'The server is shutting down, or its store cannot be reached.',
};

/** OpenAPI 3.1 document of the server, generated from the schemas that validate requests. */
export function toOpenApi(routes: readonly HttpRoute[]): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    const path = paths[route.path];
    if (path !== undefined) path[route.method.toLowerCase()] = toOperation(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Petrichor',
      version: '1',
      description: 'Agents as durable sessions. Unknown fields are rejected.',
    },
    security: [{ bearer: [] }, { key: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
      schemas: { Error: ERROR_SCHEMA },
    },
  };
}

const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    type: { const: 'error' },
    error: {
      type: 'object',
      properties: {
        type: { type: 'string' },
        message: { type: 'string' },
        details: { type: 'object' },
      },
      required: ['type', 'message'],
    },
    request_id: { type: 'string' },
  },
  required: ['type', 'error', 'request_id'],
};

function toOperation({
  path,
  summary,
  query,
  body,
  streams,
  open,
  scopes,
  method,
}: HttpRoute): JsonObject {
  const parameters = [...pathParameters(path), ...queryParameters(query)];
  const type = streams
    ? 'text/event-stream'
    : path === '/metrics'
      ? 'text/plain'
      : 'application/json';
  const error = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const errors = Object.entries(ERRORS).map(([status, description]): [string, Json] => [
    status,
    { description, content: error },
  ]);
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
              content: { 'application/json': { schema: convertSchema(body) } },
            },
    }),
    responses: {
      '200': {
        description: 'Success.',
        content: {
          [type]: { schema: { type: type === 'application/json' ? 'object' : 'string' } },
        },
      },
      ...Object.fromEntries(errors),
    },
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

function queryParameters(query: Schema): readonly JsonObject[] {
  const { properties = {}, required = [] } = convertSchema(query);
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

function convertSchema(schema: Schema): JsonObject {
  const converted = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    // JSON Schema cannot express custom checks; the error response names what they reject.
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      if (valibotSchema.type === 'object') return { ...jsonSchema, additionalProperties: false };
      if (valibotSchema.type !== 'custom') return undefined;
      const message = 'message' in valibotSchema ? String(valibotSchema.message) : '';
      return message.startsWith('is not supported')
        ? { enum: [null, false, []] }
        : { type: 'object' };
    },
  });
  const { $schema: _, ...rest } = converted;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema is JSON; its declared type is wider
  return rest as JsonObject;
}
