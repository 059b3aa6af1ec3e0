import { Validator } from '@cfworker/json-schema';
import type { Schema } from '@cfworker/json-schema';
import type { Server } from '../../src/server/index.ts';
import { readMessage } from './fuzz-server.ts';
import { resolveReferences } from './openapi-document.ts';
import type { OpenApiDocument } from './openapi-document.ts';

/** A server whose responses to routes of client protocols are checked. */
export interface CheckedProtocols extends Server {
  /** One sentence for each response that is not as the protocol's routes declare it. */
  readonly violations: readonly string[];
  /** The operations that were checked: `POST /mcp`. */
  readonly checked: ReadonlySet<string>;
}

interface ProtocolRoute {
  readonly name: string;
  readonly pattern: RegExp;
  readonly validator: Pick<Validator, 'validate'>;
}

/**
 * Checks each response to a route of a protocol. A success has the schema of its route, as JSON or as the events of a
 * stream. An error is JSON with an `error` that has a message. No status is 500 or above, except 501 for a part of the protocol that the server does not have.
 * @param isProtocolPath which paths of the document are checked
 */
export function checkProtocolResponses(
  server: Server,
  document: OpenApiDocument,
  isProtocolPath: (path: string) => boolean,
): CheckedProtocols {
  const violations: string[] = [];
  const checked = new Set<string>();
  const routes = Object.entries(document.paths)
    .filter(([path]) => isProtocolPath(path))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]): ProtocolRoute => ({
        name: `${method.toUpperCase()} ${path}`,
        pattern: new RegExp(
          `^${method.toUpperCase()} ${path.replaceAll('.', '[.]').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`,
        ),
        validator: new Validator(toSchema(operation.responses['200'], document), '2020-12'),
      })),
    )
    // A literal segment before a parameter.
    .toSorted((one, other) => one.name.split('{').length - other.name.split('{').length);
  return {
    ...server,
    violations,
    checked,
    fetch: async (request, connectionInfo) => {
      const response = await server.fetch(request, connectionInfo);
      const pathname = URL.canParse(request.url) ? new URL(request.url).pathname : '';
      const route = routes.find(({ pattern }) => pattern.test(`${request.method} ${pathname}`));
      if (route === undefined) return response;
      checked.add(route.name);
      const { status, headers, ok } = response;
      const report = (problem: string): void => {
        violations.push(`${route.name} ${status}: ${problem}`);
      };
      const check = (value: unknown): void => {
        const { valid, errors } = route.validator.validate(value);
        if (!valid) report(`${errors[0]?.error} ${JSON.stringify(value).slice(0, 200)}`);
      };
      if (status >= 500 && status !== 501) report('a server error');
      const type = headers.get('content-type')?.split(';')[0] ?? '';
      if (type === 'text/event-stream') return checkEvents(response, check);
      const text = await response.clone().text();
      if (text === '' && [202, 204].includes(status)) return response;
      if (!/^application\/(?:[\w.-]+\+)?json$/.test(type)) {
        report(`the content type "${type}"`);
        return response;
      }
      if (ok) check(JSON.parse(text));
      else if (readMessage(text) === undefined)
        report(`an error without a message: ${text.slice(0, 200)}`);
      return response;
    },
  };
}

/** Checks the JSON of each event as the reader takes it. */
function checkEvents(response: Response, check: (event: unknown) => void): Response {
  if (response.body === null) return response;
  const decoder = new TextDecoder();
  const checking = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      for (const [, data = ''] of decoder.decode(chunk).matchAll(/^data: (\{.*)$/gm))
        check(JSON.parse(data));
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(checking), response);
}

function toSchema(response: unknown, document: unknown): Schema {
  const { content = {} } = resolveReferences(response ?? {}, document) as {
    readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  return Object.values(content)[0]?.schema ?? {};
}
