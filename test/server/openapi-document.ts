import { openManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { systemClock } from '../../src/net/index.ts';
import { createServer, Metrics } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';

/** The parts of a JSON Schema that tests read. */
export interface DocumentSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, DocumentSchema>>;
  readonly required?: readonly string[];
  readonly items?: DocumentSchema;
  readonly additionalProperties?: DocumentSchema | boolean;
  readonly anyOf?: readonly DocumentSchema[];
  readonly oneOf?: readonly DocumentSchema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export interface DocumentParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: DocumentSchema;
}

export interface DocumentOperation {
  readonly operationId: string;
  readonly parameters?: readonly DocumentParameter[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json'?: { readonly schema: DocumentSchema } };
  };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, unknown>> }>
  >;
}

/** The response of GET /openapi.json. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
}

/** The document that a server with all its routes serves. */
export async function readServedDocument(): Promise<OpenApiDocument> {
  const store = new MemoryStore();
  const runtime = await openManagedRuntime({ resolver: async () => new ScriptedModel([]), store });
  const server = await createServer({
    runtime,
    store,
    keys: 'off',
    metrics: new Metrics(systemClock),
  });
  const response = await server.fetch(new Request('http://localhost/openapi.json'));
  const document = (await response.json()) as OpenApiDocument;
  await server.close();
  await runtime.close();
  await store.close();
  return document;
}

/** The document of a running server, with every reference replaced by what it refers to. */
export async function fetchDocument(url: string): Promise<OpenApiDocument> {
  const document: unknown = await (await fetch(`${url}/openapi.json`)).json();
  return resolveReferences(document, document) as OpenApiDocument;
}

/**
 * Replaces every `$ref` in a value by the part of the document that it refers to. No schema of the document contains
 * itself.
 */
export function resolveReferences(value: unknown, document: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => resolveReferences(one, document));
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value)
    return resolveReferences(findReference(String(value.$ref), document), document);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, resolveReferences(member, document)]),
  );
}

function findReference(reference: string, document: unknown): unknown {
  let found = document;
  for (const name of reference.split('/').slice(1))
    found = (found as Readonly<Record<string, unknown>>)[name];
  return found;
}
