import { isJsonObject, InvalidInputError, type Json, type JsonObject } from '../../core/index.ts';
import { resolveRef } from '../../models/schema/dereference.ts';

/** The methods of operations, in the order of the specification. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/** The method of an operation. */
export type OperationMethod = (typeof METHODS)[number];

/** An operation of a document, with the members of its path. */
export interface DocumentOperation {
  readonly path: string;
  readonly method: OperationMethod;
  readonly operation: JsonObject;
  /** The parameters of the path and of the operation. The latter win. */
  readonly parameters: readonly JsonObject[];
  readonly baseUrl: string;
  /** The scheme with which a caller signs in, if the operation requires one. */
  readonly authScheme: JsonObject | undefined;
}

/**
 * An OpenAPI document of version 3.0 or 3.1, as data. References must lead to a place inside the document: nothing is
 * fetched for them.
 */
export class OpenApiDocument {
  readonly root: JsonObject;

  /** @throws InvalidInputError if the value is no such document */
  constructor(document: unknown) {
    if (!isJsonObject(document))
      throw new InvalidInputError('document', 'must be an OpenAPI document as an object.');
    const { openapi } = document;
    if (typeof openapi !== 'string' || !/^3\.[01]\./.test(openapi))
      throw new InvalidInputError(
        'document.openapi',
        `must be version 3.0 or 3.1; it is ${JSON.stringify(openapi) ?? 'missing'}. Convert the document first.`,
      );
    this.root = document;
  }

  /** The object, or the object to which its `$ref` leads. @throws InvalidInputError for a reference to anything else */
  resolve(value: Json | undefined, at: string): JsonObject {
    const object = isJsonObject(value) ? value : {};
    const { $ref: ref } = object;
    if (typeof ref !== 'string') return object;
    const target = resolveRef(this.root, ref);
    if (target === undefined || Object.hasOwn(target, '$ref'))
      throw new InvalidInputError(
        at,
        `refers to ${JSON.stringify(ref)}, which is not in the document. Bundle its files into one document first.`,
      );
    return target;
  }

  /** Lists the operations. @throws InvalidInputError for a reference that cannot be resolved */
  operations(): readonly DocumentOperation[] {
    const { paths } = this.root;
    return Object.entries(isJsonObject(paths) ? paths : {}).flatMap(([path, value]) => {
      const item = this.resolve(value, `document.paths[${JSON.stringify(path)}]`);
      return METHODS.flatMap((method): readonly DocumentOperation[] => {
        const operation = item[method];
        if (!isJsonObject(operation)) return [];
        return [
          {
            path,
            method,
            operation,
            parameters: this.#mergeParameters(item, operation, path),
            baseUrl: this.#readBaseUrl([operation, item, this.root]),
            authScheme: this.#readAuthScheme(operation),
          },
        ];
      });
    });
  }

  #mergeParameters(item: JsonObject, operation: JsonObject, path: string): readonly JsonObject[] {
    const merged = new Map<string, JsonObject>();
    for (const { parameters } of [item, operation])
      for (const one of Array.isArray(parameters) ? parameters : []) {
        const parameter = this.resolve(one, `document.paths[${JSON.stringify(path)}].parameters`);
        merged.set(JSON.stringify([parameter['in'], parameter['name']]), parameter);
      }
    return [...merged.values()];
  }

  /** The first server, with the defaults of its variables. */
  #readBaseUrl(holders: readonly JsonObject[]): string {
    const servers = holders.map(({ servers: list }) => list).find(Array.isArray) ?? [];
    const [server] = servers;
    if (!isJsonObject(server) || typeof server['url'] !== 'string') return '';
    const variables = isJsonObject(server['variables']) ? server['variables'] : {};
    return server['url']
      .replaceAll(/\{([^{}]+)\}/g, (placeholder, name: string) => {
        const variable = variables[name];
        const value = isJsonObject(variable) ? variable['default'] : undefined;
        return typeof value === 'string' ? value : placeholder;
      })
      .replace(/\/$/, '');
  }

  #readAuthScheme(operation: JsonObject): JsonObject | undefined {
    const required = operation['security'] ?? this.root['security'];
    const [first] = Array.isArray(required) ? required : [];
    const [name] = isJsonObject(first) ? Object.keys(first) : [];
    if (name === undefined) return undefined;
    const components = this.resolve(this.root['components'], 'document.components');
    const schemes = this.resolve(
      components['securitySchemes'],
      'document.components.securitySchemes',
    );
    return this.resolve(schemes[name], `document.components.securitySchemes.${name}`);
  }
}
