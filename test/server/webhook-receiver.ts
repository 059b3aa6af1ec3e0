import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly deliveries: readonly ReceivedDelivery[];
  /** Resolves when so many requests have come. */
  readonly came: (count: number) => Promise<void>;
}

/** Somebody's server that is told things, and answers what it is made to answer. */
export async function webhookReceiver(
  answer: (
    told: ReceivedDelivery,
    count: number,
  ) => { readonly status: number; readonly body?: string },
): Promise<WebhookReceiver> {
  const told: ReceivedDelivery[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const one = { headers, body: Buffer.concat(chunks).toString() };
      told.push(one);
      const { status, body = '' } = answer(one, told.length);
      response.writeHead(status).end(body);
      for (const { count, resolve } of waiting) if (told.length >= count) resolve();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/hook`,
    host,
    deliveries: told,
    came: async (count) =>
      new Promise((resolve) => {
        if (told.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
