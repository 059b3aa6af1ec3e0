import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface FakeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface FakeAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A server on loopback whose responses a function creates. */
export async function fakeServer(
  answer: (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const {
      status,
      headers = {},
      body = '',
    } = await answer({
      method: request.method ?? '',
      url: new URL(request.url ?? '', 'http://fake'),
      headers: request.headers,
      body: Buffer.concat(chunks),
    });
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    response.writeHead(status, request.method === 'HEAD' ? headers : { ...length, ...headers });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
