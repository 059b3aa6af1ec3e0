import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import type { DocumentOperation, OpenApiDocument, OperationMethod } from './openapi-document.ts';
import { InvalidToolError } from '../schema/invalid-tool-error.ts';

/** An operation as a tool: its arguments, and where each of them goes. */
export interface RestOperation {
  readonly name: string;
  readonly description: string;
  readonly method: OperationMethod;
  readonly path: string;
  readonly baseUrl: string;
  readonly authScheme: JsonObject | undefined;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  readonly places: readonly ArgumentPlace[];
  /** The media type of the body, if there is one. */
  readonly bodyType: string | undefined;
}

/** Where an argument goes. `body` with an empty `target` is the whole body. */
export interface ArgumentPlace {
  readonly argument: string;
  readonly in: 'path' | 'query' | 'header' | 'body';
  readonly target: string;
}

const MAX_NAME = 60;

/** The name of an operation: its `operationId`, or else its path and method, in snake case. As in ADK. */
export function operationName({ path, method, operation }: DocumentOperation): string {
  const { operationId } = operation;
  const id = typeof operationId === 'string' ? operationId : `${path}_${method}`;
  return toSnakeCase(id).slice(0, MAX_NAME);
}

/**
 * Reads an operation of a document. The members of a body that is an object are arguments of their own.
 * @throws InvalidToolError if its body has no media type that can be sent
 */
export function toRestOperation(
  document: OpenApiDocument,
  source: DocumentOperation,
): RestOperation {
  const { path, method, operation, baseUrl, authScheme } = source;
  const { description, summary } = operation;
  const name = operationName(source);
  const collected = new Arguments(document);
  for (const parameter of source.parameters) {
    const { in: place, name: target } = parameter;
    if (typeof target !== 'string' || isCredential(parameter, authScheme)) continue;
    if (place === 'path' || place === 'query' || place === 'header')
      collected.add({ in: place, target }, parameter['schema'], {
        required: parameter['required'] === true || place === 'path',
        description: parameter['description'],
      });
  }
  const bodyType = addBody(document, operation, name, collected);
  const text = [description, summary].find((one) => typeof one === 'string' && one !== '');
  return {
    name,
    description: typeof text === 'string' ? text : `${method.toUpperCase()} ${path}`,
    method,
    path,
    baseUrl,
    authScheme,
    parameters: collected.toSchema(),
    places: collected.places,
    bodyType,
  };
}

/** Headers that the caller sets itself. A document must not declare most of them as parameters. */
const OWN_HEADERS = /^(?:accept|authorization|content-type|cookie|host)$/i;

/** A key in a parameter is no argument: the model must not write it. */
function isCredential(parameter: JsonObject, scheme: JsonObject | undefined): boolean {
  const { in: place, name } = parameter;
  if (place === 'header' && typeof name === 'string' && OWN_HEADERS.test(name)) return true;
  return scheme?.['type'] === 'apiKey' && scheme['in'] === place && scheme['name'] === name;
}

function addBody(
  document: OpenApiDocument,
  operation: JsonObject,
  name: string,
  collected: Arguments,
): string | undefined {
  const body = document.resolve(operation['requestBody'], `${name}.requestBody`);
  const content = isJsonObject(body['content']) ? body['content'] : {};
  const types = Object.keys(content);
  if (types.length === 0) return undefined;
  const type = types.find((one) => isSendable(one));
  if (type === undefined)
    throw new InvalidToolError(
      name,
      `its body is ${types.join(' or ')}, which cannot be sent. Leave it out with toolFilter.`,
    );
  const media = isJsonObject(content[type]) ? content[type] : {};
  const schema = document.resolve(media['schema'], `${name}.requestBody`);
  const { properties } = schema;
  const isRequired = body['required'] === true;
  if (isJsonObject(properties) && !isText(type)) {
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    for (const [target, member] of Object.entries(properties))
      collected.add({ in: 'body', target }, member, {
        required: isRequired && required.includes(target),
      });
  } else
    collected.add({ in: 'body', target: '' }, media['schema'], {
      required: isRequired,
      description: body['description'],
    });
  return type;
}

function isSendable(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json(?:;|$)/.test(type) || isForm(type) || isText(type);
}

/** True for the encoding of HTML forms. */
export function isForm(type: string): boolean {
  return type.startsWith('application/x-www-form-urlencoded');
}

/** True for plain text. */
export function isText(type: string): boolean {
  return type.startsWith('text/plain');
}

/** Collects the arguments of an operation under names that are unique. */
class Arguments {
  readonly places: ArgumentPlace[] = [];
  readonly #document: OpenApiDocument;
  readonly #properties: Record<string, JsonObject> = {};
  readonly #required: string[] = [];
  readonly #definitions: Record<string, Json> = {};

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  add(
    place: Omit<ArgumentPlace, 'argument'>,
    schema: Json | undefined,
    {
      required,
      description,
    }: { readonly required: boolean; readonly description?: Json | undefined },
  ): void {
    const base = toSnakeCase(place.target === '' ? 'body' : place.target);
    let argument = base;
    for (let n = 0; Object.hasOwn(this.#properties, argument); n++) argument = `${base}_${n}`;
    const own = this.#convert(isJsonObject(schema) ? schema : {});
    const described = typeof description === 'string' && own['description'] === undefined;
    this.#properties[argument] = described ? { ...own, description } : own;
    if (required) this.#required.push(argument);
    this.places.push({ ...place, argument });
  }

  toSchema(): JsonObject {
    const hasDefinitions = Object.keys(this.#definitions).length > 0;
    return {
      type: 'object',
      properties: this.#properties,
      ...(this.#required.length > 0 && { required: this.#required }),
      additionalProperties: false,
      ...(hasDefinitions && { $defs: this.#definitions }),
    };
  }

  /** A schema of OpenAPI as JSON Schema: named schemas move to `$defs`, and `nullable` becomes a type. */
  #convert(schema: JsonObject): JsonObject {
    const { $ref: ref } = schema;
    if (typeof ref === 'string') {
      const name = ref.split('/').at(-1) ?? ref;
      if (!Object.hasOwn(this.#definitions, name)) {
        this.#definitions[name] = {}; // a schema may refer to itself
        this.#definitions[name] = this.#convert(this.#document.resolve(schema, ref));
      }
      return { $ref: `#/$defs/${name}` };
    }
    const { nullable, type, example: _, xml: __, discriminator: ___, ...rest } = schema;
    const converted = Object.fromEntries(
      Object.entries(rest).map(([key, value]) => [key, this.#convertMember(value)]),
    );
    const isNullable = nullable === true && typeof type === 'string';
    return {
      ...(type !== undefined && { type: isNullable ? [type, 'null'] : type }),
      ...converted,
    };
  }

  #convertMember(value: Json): Json {
    if (Array.isArray(value)) return value.map((one) => this.#convertMember(one));
    return isJsonObject(value) ? this.#convert(value) : value;
  }
}

/** `getPetById` becomes `get_pet_by_id`. */
function toSnakeCase(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase();
}
