import { readFileSync } from 'node:fs';
import { Validator } from '@cfworker/json-schema';
import type { Schema } from '@cfworker/json-schema';
import type { Server } from '../../src/server/index.ts';
import { resolveReferences } from './openapi-document.ts';

type Json = Readonly<Record<string, unknown>>;

const DOCUMENT = JSON.parse(
  readFileSync(new URL('../../scripts/client-types/openapi.json', import.meta.url), 'utf8'),
) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
};

/** A server whose responses are compared with the OpenAPI document. */
export interface CheckedServer extends Server {
  /** One sentence for each response that its schema does not describe. */
  readonly violations: readonly string[];
  /** How many responses were checked, by operation and status: `GET /v1/agents 200`. */
  readonly checked: ReadonlyMap<string, number>;
}

/**
 * Compares every response of a server with the schema of its route and status. Fields that the schema does not list are
 * violations, though the document lets later versions add them.
 */
export function checkResponses(server: Server, basePath: string = ''): CheckedServer {
  const violations: string[] = [];
  const checked = new Map<string, number>();
  const report = (subject: string, problem: string): void => {
    violations.push(`${subject}: ${problem}`);
  };
  return {
    ...server,
    violations,
    checked,
    fetch: async (request, connectionInfo) => {
      const { method, url } = request;
      const response = await server.fetch(request, connectionInfo);
      if (method === 'HEAD' || method === 'OPTIONS') return response;
      const pathname = URL.canParse(url) ? new URL(url).pathname : '';
      const route = findRoute(method, pathname.slice(basePath.length));
      const subject = `${route?.name ?? 'no route'} ${response.status}`;
      checked.set(subject, (checked.get(subject) ?? 0) + 1);
      const validators = route === undefined ? NO_ROUTE : getValidators(route.operation);
      const type = response.headers.get('content-type')?.split(';')[0] ?? 'none';
      const validator = validators.get(`${response.status} ${type}`);
      if (validator === undefined) {
        // Without a route the status can be any error.
        if (route !== undefined || response.ok) report(subject, `${type} is not described`);
        return response;
      }
      const check = (value: unknown): void => {
        const { valid, errors } = validator.validate(value);
        if (valid) return;
        const text = JSON.stringify(value).slice(0, 300);
        report(subject, `${errors.map(({ error }) => error).join(' ')} ${text}`);
      };
      if (type === 'text/event-stream') return checkStream(response, check);
      const text = await response.clone().text();
      check(type === 'application/json' ? JSON.parse(text) : text);
      return response;
    },
  };
}

/** Reads on only when the reader does, as the stream itself does. The server writes whole frames. */
function checkStream(response: Response, check: (event: unknown) => void): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        for (const [, data = ''] of new TextDecoder().decode(value).matchAll(/^data: (.*)$/gm))
          check(JSON.parse(data));
        controller.enqueue(value);
      },
      cancel: async (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}

interface DocumentRoute {
  readonly name: string;
  readonly operation: Json;
}

const ROUTES = Object.entries(DOCUMENT.paths)
  .flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replaceAll(/[.]/g, '[.]').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
      parameters: path.split('{').length,
      operation,
    })),
  )
  // `poll` before `{work_id}`.
  .toSorted((one, other) => one.parameters - other.parameters);

/** The names of all operations: `GET /v1/agents`. */
export const OPERATIONS: readonly string[] = ROUTES.map(({ name }) => name);

function findRoute(method: string, path: string): DocumentRoute | undefined {
  return ROUTES.find((one) => one.method === method && one.pattern.test(path));
}

type Validators = ReadonlyMap<string, Pick<Validator, 'validate'>>;

const validatorsByOperation = new Map<Json, Validators>();

function getValidators(operation: Json): Validators {
  const known = validatorsByOperation.get(operation);
  if (known !== undefined) return known;
  const responses = operation['responses'] as Readonly<Record<string, Json>>;
  const validators = new Map(
    Object.entries(responses).flatMap(([status, response]) => {
      const { content } = closeObjects(resolveReferences(response, DOCUMENT)) as {
        readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
      };
      return Object.entries(content).map(
        ([type, { schema }]) => [`${status} ${type}`, new Validator(schema, '2020-12')] as const,
      );
    }),
  );
  validatorsByOperation.set(operation, validators);
  return validators;
}

/** Rejects fields that a schema does not list. */
function closeObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeObjects);
  if (typeof value !== 'object' || value === null) return value;
  const closed = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, closeObjects(member)]),
  );
  return 'properties' in closed ? { additionalProperties: false, ...closed } : closed;
}

/** A request that no route matches gets an error of the same form as all others. */
const NO_ROUTE: Validators = new Map(
  [400, 403, 404].map((status) => [
    `${status} application/json`,
    new Validator(closeObjects(DOCUMENT.components.schemas['Error']) as Schema, '2020-12'),
  ]),
);
