import { toJsonSchema } from '@valibot/to-json-schema';
import { isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { HttpRoute, Schema } from './route.ts';

const ERRORS: Readonly<Record<string, string>> = {
  '400': 'The request makes no sense here; the message names the field.',
  '401': 'No key, or one that is not valid.',
  '403':
    'The scope of the key does not allow this (`x-key-scopes` names those that do), or a web page asked.',
  '404': 'There is no such thing in the workspace of the key.',
  '409': 'What is there now does not allow it.',
  '413': 'The body is too large.',
  '415': 'The body is not declared as application/json.',
  '429': 'Too much with this key: `retry-after` says how many seconds to wait.',
  '500': 'Something went wrong here.',
  '503': 'The server is about to stop, or its store cannot be reached.',
};

/** What the server can be asked, in OpenAPI 3.1: made of the schemas that the requests are checked with. */
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
      description: 'Agents as durable sessions. Fields that are not named here are refused.',
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
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: convertSchema(body) } },
      },
    }),
    responses: {
      '200': {
        description: 'Done.',
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
    // A check has no word in JSON Schema: what it refuses, the answer names.
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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema is JSON; its type says more than that
  return rest as JsonObject;
}
